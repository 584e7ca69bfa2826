package api

import "github.com/prometheus/client_golang/prometheus"

// Every metric of Waybill. To add one: 1. a row here, 2. its name in scrapeDescs or exporterDescs, 3. a line in
// Collect,
// 4. a row in docs/reference/metrics.md.
var (
	buildInfoDesc = desc("build_info", "Always 1; the labels say which build runs.", "version", "goversion")

	datagramsDesc = desc("datagrams_total", "UDP datagrams read from the socket, by what became of them: "+
		"decoded (all of it was understood), damaged (a part of it), malformed (nothing), refused (its source may not send it).", "listener", "outcome")
	refusedUnlistedDesc = desc("refused_unlisted_total",
		"Refused datagrams of sources that found no room in the list of refused sources.", "listener")
	kernelDropsDesc = desc("kernel_drops_total", "UDP datagrams that the kernel dropped at the socket, "+
		"mostly because the receive buffer was full. Absent where the system does not count them.", "listener")
	receiveBufferDesc = desc("receive_buffer_bytes", "Receive buffers that the kernel granted, in bytes.",
		"listener")
	receiveBufferWantedDesc = desc("receive_buffer_wanted_bytes", "Receive buffers that were asked for, in bytes.",
		"listener")

	reportsDesc            = desc("reports_total", "Telemetry reports analyzed.")
	reportsWithoutFlowDesc = desc("reports_without_flow_total",
		"Telemetry reports analyzed that do not say which flow they are about.")
	flowsDesc        = desc("flows", "Flows in the flow table.")
	flowsLimitDesc   = desc("flows_limit", "Flows that the flow table has room for.")
	flowsEvictedDesc = desc("flows_evicted_total",
		"Flows evicted because the flow table was full.")
	flowsRejectedDesc = desc("flows_rejected_total",
		"Reports of flows that the full flow table did not take, because nothing was seen of them shortly before.")
	pathsDesc        = desc("paths", "Paths in the path tables of all shards; a path may be in several.")
	pathsEvictedDesc = desc("paths_evicted_total",
		"Paths evicted because a path table was full.")
	joinsCutDesc = desc("joins_cut_total",
		"Packets whose postcards were joined before their time was over because too many packets were waiting.")
	dropPlacesDesc    = desc("drop_places", "Places and reasons of drops in the drop tables of all shards.")
	dropsUnplacedDesc = desc("drops_unplaced_total",
		"Drop reports that are in no list because a drop table was full.")

	judgementsPostponedDesc = desc("judgements_postponed_total",
		"Times that the path of a flow was not compared with the policy yet because too many flows took new paths within a second.")
	judgementsLeftOutDesc = desc("judgements_left_out_total",
		"Reports that were not compared with the policy because the full flow table did not take their flow.")
	wrongChecksumsDesc = desc("wrong_checksums_total",
		"Reports of packets whose IPv4 header has a checksum that does not fit.")
	wrongL4ChecksumsDesc = desc("wrong_l4_checksums_total",
		"Reports of whole packets whose TCP or UDP checksum was looked at, one in eight, and does not fit.")
	findingsUnplacedDesc = desc("findings_unplaced_total",
		"Times that something wrong with a path or a report is in no event because a table was full.")
	samplesUnplacedDesc = desc("samples_unplaced_total",
		"Damaged and malformed datagrams for whose exporter and reason no sample could be kept because there are too many.")

	sampledFlowsDesc    = desc("sampled_flows", "Flows that sFlow, NetFlow and IPFIX tell of, in the tables of all shards.")
	sampledUnplacedDesc = desc("sampled_unplaced_total",
		"Samples and flow records that are in no flow because a table was full.")

	countedPortsDesc     = desc("counted_ports", "Ports of which devices tell counters by sFlow.")
	countersUnplacedDesc = desc("counters_unplaced_total",
		"Samples of counters of ports that are in no list because the table was full.")
	countersPassedByDesc = desc("counters_passed_by_total",
		"Samples of counters of ports that came again or too late, or of a second agent that counts at the same port.")

	eventsOpenDesc     = desc("events_open", "Events that go on.")
	eventsDesc         = desc("events_total", "Events that were found, also those that go on.")
	eventsUnplacedDesc = desc("events_unplaced_total",
		"Times that an event was found and is in no list because too many went on.")
	eventsUnwatchedDesc = desc("events_unwatched_total",
		"Links, groups of ports, new flows, and holes in TCP streams and their paths, that no event can be about because there was no room to watch them, added up over all scans.")

	queuesDesc         = desc("queues", "Queues in the queue tables of all shards; a queue may be in several.")
	queuesUnplacedDesc = desc("queues_unplaced_total",
		"Times that a packet told of a queue that is in no list because a queue table was full.")
	attacksDesc           = desc("attacks", "Attacks that go on, by state; surges are none.", "state")
	attackTargetsDesc     = desc("attack_targets", "Addresses and prefixes of which is known what is usual.")
	attackWatchedDesc     = desc("attack_targets_watched", "Targets whose sources are counted.")
	attackOverflowDesc    = desc("attack_unplaced_total", "Packets to or from addresses, and looks at them, for which attacks had no room.")
	attackUnwatchedDesc   = desc("attacks_unwatched_total", "Attacks whose sources were not counted from their beginning, as too many targets are watched.")
	attackRulesDesc       = desc("attack_rules_unresolved", "Rules of Transparent Security that drop packets, and of which nobody knows of which attack.")
	mitigationRulesDesc   = desc("mitigation_rules", "Rules against attacks, by who drops and their state: active, failed or withdrawing.", "by", "state")
	mitigationActionsDesc = desc("mitigation_actions_total", "What was done about attacks, by action, by who drops, and whether it failed.", "action", "by", "failed")
	burstsKeptDesc        = desc("bursts_kept", "Bursts of queues whose details are kept.")
	burstsDesc            = desc("bursts_total", "Bursts of queues that were found and are over.")
	burstsForgottenDesc   = desc("bursts_forgotten_total", "Bursts whose details were evicted by newer ones.")
	burstSamplesLostDesc  = desc("burst_samples_lost_total",
		"Times that a packet told of its queue and the search for bursts left it out: too late, without a possible time, or for want of room.")
	burstSamplesThinDesc = desc("burst_samples_thinned_total",
		"Packets of long bursts evicted by later ones of the same burst; the others stand for them.")
	clockPairsDesc   = desc("clock_pairs", "Pairs of neighbouring nodes whose clocks are compared.")
	clockSamplesDesc = desc("clock_samples_total",
		"Packets on links by which clocks were compared, by what became of them.", "outcome")
	delaysDesc         = desc("delays", "Links and paths whose delays are kept.", "of")
	delaysUnplacedDesc = desc("delays_unplaced_total",
		"Packets whose delay on a link or path is kept nowhere because there were too many.")
	packetsMissedDesc = desc("timing_packets_missed_total",
		"Packets that were to be looked at for clocks, delays and baselines, and found no room.")
	baselinesDesc         = desc("baselines", "Ports and links of which it is known or learned what latency is usual.")
	baselinesUnplacedDesc = desc("baselines_unplaced_total",
		"Latencies of ports and links for which there was no baseline because there were too many.")
	baselinesUnusualDesc = desc("baselines_unusual", "Ports and links whose latency is unusual.")

	exportersDesc         = desc("exporters", "Exporters in the exporter tables of all receivers.")
	exportersOverflowDesc = desc("exporters_overflow_total",
		"Datagrams of exporters that found no room in an exporter table; they are in no exporter's counters.")
	completenessDesc = desc("completeness_ratio",
		"Share of the reports that arrived since the process began, over all exporters whose sequence numbers count. Absent if there are none.")
	lossUnknownDesc = desc("loss_unknown_exporters",
		"Exporters whose loss is not known because their sequence numbers do not count.")
	ledgerEarlyDesc = desc("ledger_intervals_evicted_total",
		"Intervals of an exporter that left the ledger before their hour was over because there was no room.")
	datagramErrorsDesc = desc("datagram_errors_total",
		"Damaged and malformed datagrams by the first rule that they broke.", "reason")

	httpRefusedDesc = desc("http_refused_total",
		"HTTP requests that were refused before anything was looked up: url_too_long, wrong_host, "+
			"cross_origin, too_often, too_many, not_logged_in, not_allowed, body_too_large.", "reason")
	httpDefectsDesc = desc("http_defects_total",
		"HTTP requests that met a defect of the server, which its log tells.")
	httpConnectionsRefusedDesc = desc("http_connections_refused_total",
		"Connections that were closed because their client had too many.")
	httpFailedLoginsDesc = desc("http_failed_logins_total", "Tokens given that are not valid.")
	httpSessionsDesc     = desc("http_sessions", "Browsers that are logged in.")

	exporterReceivedDesc = exporterDesc("received_total", "Datagrams received from the exporter.")
	exporterLostDesc     = exporterDesc("lost_total",
		"Datagrams that its sequence numbers say are missing. Absent where they do not count. One that comes late is taken off the next losses.")
	exporterRecordsLostDesc = exporterDesc("records_lost_total",
		"Data records that its sequence numbers say are missing, where these count records. One that comes late is taken off the next losses.")
	exporterReorderedDesc = exporterDesc("reordered_total", "Datagrams that came after a later one.")
	exporterDuplicateDesc = exporterDesc("duplicate_total", "Datagrams with a sequence number that was there before.")
	exporterRestartedDesc = exporterDesc("restarted_total", "Times that its sequence numbers began anew.")
	exporterReportsDesc   = exporterDesc("reports_total",
		"Usable reports by what became of them since the process began: repeated, without_flow, kept_out, in_flows; "+
			"of those in flows: unfollowed, evicted, stored, store_dropped.", "outcome")
)

// scrapeDescs are the metrics of scrape, exporterDescs those of exporterScrape.
var (
	scrapeDescs = []*prometheus.Desc{
		buildInfoDesc, datagramsDesc, refusedUnlistedDesc, kernelDropsDesc, receiveBufferDesc, receiveBufferWantedDesc,
		reportsDesc, reportsWithoutFlowDesc, flowsDesc,
		flowsLimitDesc, flowsEvictedDesc, flowsRejectedDesc, pathsDesc, pathsEvictedDesc, joinsCutDesc, dropPlacesDesc,
		dropsUnplacedDesc, eventsOpenDesc,
		judgementsPostponedDesc, judgementsLeftOutDesc, wrongChecksumsDesc, wrongL4ChecksumsDesc, findingsUnplacedDesc,
		samplesUnplacedDesc, sampledFlowsDesc, sampledUnplacedDesc, countedPortsDesc, countersUnplacedDesc,
		countersPassedByDesc,
		eventsDesc, eventsUnplacedDesc, queuesDesc, queuesUnplacedDesc, attacksDesc,
		attackTargetsDesc, attackWatchedDesc, attackOverflowDesc, attackUnwatchedDesc, attackRulesDesc,
		mitigationRulesDesc, mitigationActionsDesc,
		burstsKeptDesc, burstsDesc, burstsForgottenDesc,
		burstSamplesLostDesc,
		burstSamplesThinDesc, eventsUnwatchedDesc, exportersDesc, exportersOverflowDesc,
		clockPairsDesc, clockSamplesDesc, delaysDesc, delaysUnplacedDesc, packetsMissedDesc, baselinesDesc,
		baselinesUnplacedDesc, baselinesUnusualDesc, completenessDesc, lossUnknownDesc, ledgerEarlyDesc,
	}
	exporterDescs = []*prometheus.Desc{
		datagramErrorsDesc, exporterReceivedDesc, exporterLostDesc, exporterRecordsLostDesc,
		exporterReorderedDesc, exporterDuplicateDesc,
		exporterRestartedDesc, exporterReportsDesc,
	}
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_"+name, help, labels, nil)
}

func exporterDesc(name, help string, labels ...string) *prometheus.Desc {
	return desc("exporter_"+name, help, append([]string{"source", "node", "hw_id"}, labels...)...)
}
