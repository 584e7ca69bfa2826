package network

import "github.com/prometheus/client_golang/prometheus"

// Every metric of the network. docs/reference/network-metrics.md is written from them: go test ./export/network
// -update.
var (
	nodePackets = desc("node_packets_total", "Packets that nodes told of.", "node")
	nodeLatency = desc("node_latency_seconds", "Time of packets in nodes.", "node")

	portPackets = desc("port_packets_total",
		"Packets that came in or left by a port of a node, by direction: in, out.",
		"node", "port", "port_name", "direction")
	portLatency = desc("port_latency_seconds",
		"Time in the node of packets that left by a port.", "node", "port", "port_name")

	queueDepth = desc("queue_depth", "Queue depths that packets met, in the unit of the queue.",
		"node", "port", "port_name", "queue", "unit")

	linkPackets = desc("link_packets_total", "Packets that took a link.", linkLabels...)
	linkDelay   = desc("link_delay_seconds",
		"Time of packets on a link, as far as the clocks of both ends are comparable.", linkLabels...)
	linkUtilization = desc("link_utilization_ratio",
		"Utilization of the egress port of a link as told last, where utilization_unit of its node is share:N.",
		linkLabels...)
	linkLoss = desc("link_loss_ratio",
		"Estimated share of its packets that a link loses without a reason, in the last minute.", linkLabels...)
	linkLossLower = desc("link_loss_lower_ratio", "The link loses no smaller share.", linkLabels...)

	drops = desc("drops_total", "Packets dropped, by egress port and reason; cause is the reason in the catalogue of drop reasons.",
		"node", "port", "port_name", "reason", "cause")

	incidents = desc("incidents", "Incidents that go on, by kind of their cause and severity.", "kind", "severity")
	attacks   = desc("attacks", "Attacks that go on, by kind and state; surges are none.", "kind", "state")

	unlisted = desc("unlisted_packets_total",
		"Packets that are in no counter of a node, port, link or drop reason because there are too many of these.", "of")
	lookedAt = desc("last_interval_timestamp_seconds", "Start of the latest interval that counters have, in seconds since 1970.")

	descs = []*prometheus.Desc{
		nodePackets, nodeLatency, portPackets, portLatency, queueDepth, linkPackets, linkDelay, linkUtilization,
		linkLoss, linkLossLower, drops, incidents, attacks, unlisted, lookedAt,
	}
)

var linkLabels = []string{"from", "from_port", "to", "to_port"}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_network_"+name, help, labels, nil)
}
