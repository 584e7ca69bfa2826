package api

import (
	"log/slog"
	"net/http"
	"runtime"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// newMetrics returns the handler of /metrics.
func newMetrics(cfg Config, checks *checks) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		checks,
	)
	if cfg.Analyzer != nil { // which counts reports and flows
		registry.MustRegister(&passedScrape{cfg.Analyzer, cfg.Version})
	} else {
		registry.MustRegister(&scrape{cfg: cfg}, &exporterScrape{
			collector: cfg.Collector, ledger: cfg.Ledger, now: cfg.Now,
			highest: map[exporterCounter]uint64{},
		})
	}
	if cfg.Alerts != nil {
		registry.MustRegister(&alertScrape{cfg.Alerts})
	}
	if cfg.InventorySources != nil {
		registry.MustRegister(&inventoryScrape{cfg.InventorySources})
	}
	return promhttp.HandlerFor(prometheus.Gatherers{registry, cfg.Metrics}, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError, // a faulty metric must not hide the others
		MaxRequestsInFlight: maxLists,
		EnableOpenMetrics:   true,
	})
}

// A scrape reads the metrics of listeners and analysis when Prometheus asks for them, which costs nothing in between.
type scrape struct{ cfg Config }

// Describe implements prometheus.Collector.
func (s *scrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range scrapeDescs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *scrape) Collect(ch chan<- prometheus.Metric) {
	gauge(ch, buildInfoDesc, 1, s.cfg.Version, runtime.Version())
	s.collectListeners(ch)

	n := s.cfg.Collector.Counters()
	counter(ch, reportsDesc, n.Reports)
	counter(ch, reportsWithoutFlowDesc, n.Flowless)
	gauge(ch, flowsDesc, float64(n.Flows))
	gauge(ch, flowsLimitDesc, float64(n.FlowLimit))
	counter(ch, flowsEvictedDesc, n.FlowsEvicted)
	counter(ch, flowsRejectedDesc, n.FlowsRejected)
	gauge(ch, pathsDesc, float64(n.Paths))
	counter(ch, pathsEvictedDesc, n.PathsEvicted)
	counter(ch, joinsCutDesc, n.JoinEarly)
	gauge(ch, dropPlacesDesc, float64(n.DropPlaces))
	counter(ch, dropsUnplacedDesc, n.DropsOverflow)
	counter(ch, judgementsPostponedDesc, n.JudgementsPostponed)
	counter(ch, judgementsLeftOutDesc, n.JudgementsLeftOut)
	counter(ch, wrongChecksumsDesc, n.WrongChecksums)
	counter(ch, wrongL4ChecksumsDesc, n.WrongL4Checksums)
	counter(ch, findingsUnplacedDesc, n.FindingsOverflow)
	counter(ch, samplesUnplacedDesc, n.SamplesOverflow)
	gauge(ch, sampledFlowsDesc, float64(n.SampledFlows))
	counter(ch, sampledUnplacedDesc, n.SampledOverflow)
	gauge(ch, countedPortsDesc, float64(n.CountedPorts))
	counter(ch, countersUnplacedDesc, n.CountersOverflow)
	counter(ch, countersPassedByDesc, n.CountersPassedBy)
	events := s.cfg.Events.Counters()
	gauge(ch, eventsOpenDesc, float64(events.Open))
	counter(ch, eventsDesc, events.Ended+uint64(events.Open))
	counter(ch, eventsUnplacedDesc, events.Overflow)
	gauge(ch, queuesDesc, float64(n.Queues))
	counter(ch, queuesUnplacedDesc, n.QueuesOverflow)
	s.collectAttacks(ch)
	s.collectMitigation(ch)
	bursts := s.cfg.Bursts.Totals()
	gauge(ch, burstsKeptDesc, float64(bursts.Kept))
	counter(ch, burstsDesc, bursts.Found)
	counter(ch, burstsForgottenDesc, bursts.Forgotten)
	counter(ch, burstSamplesLostDesc, bursts.SamplesLost)
	counter(ch, burstSamplesThinDesc, bursts.SamplesThinned)
	s.collectTiming(ch)
	counter(ch, eventsUnwatchedDesc, events.Unwatched)
	gauge(ch, exportersDesc, float64(n.Exporters))
	counter(ch, exportersOverflowDesc, n.ExportersOverflow)
	counter(ch, ledgerEarlyDesc, n.IntervalsEarly)
	complete := s.cfg.Collector.Completeness()
	gauge(ch, lossUnknownDesc, float64(complete.Unknown))
	if complete.Ratio != nil {
		gauge(ch, completenessDesc, *complete.Ratio)
	}
}

// collectMitigation counts rules and actions against attacks.
func (s *scrape) collectMitigation(ch chan<- prometheus.Metric) {
	if s.cfg.Mitigation == nil {
		return
	}
	rules := map[[2]string]int{}
	for _, r := range s.cfg.Mitigation.Rules("") {
		rules[[2]string{r.By, r.State}]++
	}
	for of, n := range rules {
		gauge(ch, mitigationRulesDesc, float64(n), of[0], of[1])
	}
	for of, n := range s.cfg.Mitigation.Counts() {
		counter(ch, mitigationActionsDesc, n, of.Action, of.By, strconv.FormatBool(of.Failed))
	}
}

// collectAttacks counts attacks by state, and tells how far the search for them has room.
func (s *scrape) collectAttacks(ch chan<- prometheus.Metric) {
	byState := map[telemetry.AttackState]int{
		telemetry.AttackSuspected: 0, telemetry.AttackActive: 0, telemetry.AttackMitigated: 0,
	}
	s.cfg.Events.Events(func(e *telemetry.Event) bool {
		if isAttack(e) && e.End == nil && e.Attack.Kind != telemetry.AttackSurge {
			byState[e.Attack.State]++
		}
		return false
	}, 0)
	for state, n := range byState {
		gauge(ch, attacksDesc, float64(n), state.String())
	}
	if s.cfg.Attacks == nil {
		return
	}
	t := s.cfg.Attacks()
	gauge(ch, attackTargetsDesc, float64(t.Targets))
	gauge(ch, attackWatchedDesc, float64(t.Watched))
	counter(ch, attackOverflowDesc, t.Overflow)
	counter(ch, attackUnwatchedDesc, t.Unwatched)
	gauge(ch, attackRulesDesc, float64(t.Rules))
}

// collectListeners adds up the sockets that share an address.
func (s *scrape) collectListeners(ch chan<- prometheus.Metric) {
	sums := map[string]*types.Listener{}
	for _, l := range s.cfg.Listeners() {
		sum := sums[l.Address]
		if sum == nil {
			sums[l.Address] = &l
			continue
		}
		sum.Decoded += l.Decoded
		sum.Damaged += l.Damaged
		sum.Malformed += l.Malformed
		sum.Refused += l.Refused
		sum.RefusedUnlisted += l.RefusedUnlisted
		sum.ReceiveBufferWanted += l.ReceiveBufferWanted
		sum.ReceiveBuffer += l.ReceiveBuffer
		if sum.KernelDrops != nil && l.KernelDrops != nil {
			both := *sum.KernelDrops + *l.KernelDrops
			sum.KernelDrops = &both
		}
	}
	for address, l := range sums {
		counter(ch, datagramsDesc, l.Decoded, address, "decoded")
		counter(ch, datagramsDesc, l.Damaged, address, "damaged")
		counter(ch, datagramsDesc, l.Malformed, address, "malformed")
		counter(ch, datagramsDesc, l.Refused, address, "refused")
		counter(ch, refusedUnlistedDesc, l.RefusedUnlisted, address)
		if l.KernelDrops != nil {
			counter(ch, kernelDropsDesc, *l.KernelDrops, address)
		}
		gauge(ch, receiveBufferDesc, float64(l.ReceiveBuffer), address)
		gauge(ch, receiveBufferWantedDesc, float64(l.ReceiveBufferWanted), address)
	}
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, n uint64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// label returns the number as a label; what is not known is empty.
func label[T uint8 | uint32](n *T) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*n), 10)
}
