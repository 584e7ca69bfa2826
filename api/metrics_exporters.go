package api

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/telemetry"
)

// An exporterScrape reads the metrics of exporters when Prometheus asks for them. The number of exporters is bounded by
// analyze, so that of the time series is too.
//
// A datagram that comes late lowers the losses, but a counter that sinks is taken for one that began anew: rate() would
// count everything once more. So a counter stays at the highest value that it had.
type exporterScrape struct {
	collector *analyze.Collector
	ledger    *ledger.Ledger
	now       func() time.Time

	mu      sync.Mutex
	highest map[exporterCounter]uint64
}

// An exporterID are the labels of an exporter. Exporters that differ in what is no label are added up.
type exporterID struct{ source, node, hwID string }

type exporterCounter struct {
	exporterID
	desc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (s *exporterScrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range exporterDescs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *exporterScrape) Collect(ch chan<- prometheus.Metric) {
	sums := map[exporterCounter]uint64{}
	errors := map[string]uint64{}
	list := s.collector.ExporterList()
	for i := range list {
		e := &list[i]
		id := exporterID{e.Source.String(), label(e.Node), label(e.HWID)}
		sums[exporterCounter{id, exporterReceivedDesc}] += e.Received
		sums[exporterCounter{id, exporterReorderedDesc}] += e.Reordered
		sums[exporterCounter{id, exporterDuplicateDesc}] += e.Duplicate
		sums[exporterCounter{id, exporterRestartedDesc}] += e.Restarted
		if e.Lost != nil {
			sums[exporterCounter{id, exporterLostDesc}] += *e.Lost
		}
		if e.RecordsLost != nil {
			sums[exporterCounter{id, exporterRecordsLostDesc}] += *e.RecordsLost
		}
		addReasons(errors, e)
	}
	s.collectReports(ch)
	for reason, n := range errors {
		counter(ch, datagramErrorsDesc, n, reason)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, n := range sums {
		s.highest[c] = max(s.highest[c], n)
		counter(ch, c.desc, s.highest[c], c.source, c.node, c.hwID)
	}
}

// collectReports tells what became of reports.
func (s *exporterScrape) collectReports(ch chan<- prometheus.Metric) {
	sums := map[exporterID]map[string]uint64{}
	for _, x := range s.ledger.Loss(ledger.Query{}, s.now().UnixNano()).Exporters {
		id := exporterID{x.Source.String(), label(x.Node), label(x.HWID)}
		if sums[id] == nil {
			sums[id] = map[string]uint64{}
		}
		sum, f := sums[id], x.Fate
		sum["repeated"] += f.Repeated
		sum["without_flow"] += f.Flowless
		sum["kept_out"] += f.KeptOut
		sum["in_flows"] += f.InFlows
		sum["unfollowed"] += f.Unfollowed
		sum["evicted"] += f.Evicted
		if f.Stored != nil {
			sum["stored"] += *f.Stored
			sum["store_dropped"] += *f.StoreDropped
		}
	}
	for id, outcomes := range sums {
		for outcome, n := range outcomes {
			counter(ch, exporterReportsDesc, n, id.source, id.node, id.hwID, outcome)
		}
	}
}

func addReasons(errors map[string]uint64, e *telemetry.Exporter) {
	for reason, n := range e.Damaged {
		errors[reason] += n
	}
	for reason, n := range e.Malformed {
		errors[reason] += n
	}
}
