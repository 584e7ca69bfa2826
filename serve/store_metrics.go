package serve

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/store"
)

var (
	storeRecordsDesc = storeDesc("records_total",
		"Records by table and by what became of them: written (they are on disk), dropped (the queue was full), lost (they were written, and are gone from a file).", "table", "outcome")
	storeQueuedDesc     = storeDesc("queued_records", "Records that wait to be written.")
	storeStoppedDesc    = storeDesc("stopped", "1 while nothing can be written; the log says why.")
	storeNeglectedDesc  = storeDesc("neglected", "1 while nothing can be rolled up and removed; the log says why.")
	storeBytesDesc      = storeDesc("bytes", "Size of the files of the store, in bytes.")
	storePartitionsDesc = storeDesc("partitions", "Files of the store.")
	storeDroppedDesc    = storeDesc("partitions_dropped_total",
		"Files that were removed because they were too old or all together too large.")
	storeUngivenDesc = storeDesc("ungiven_packets_total",
		"Packets that are in no record because there were too many flows, paths or hosts at once, or a flood kept their flow out.", "of")
	storeNotedDesc = storeDesc("journal_timestamp_seconds",
		"What was counted until then, in seconds since 1970, is on disk and outlives a crash.")
	storeNotesFailedDesc = storeDesc("journal_failures_total",
		"Notes of what was counted so far that could not be written.")
	storeUngivenBurstsDesc = storeDesc("ungiven_bursts_total",
		"Bursts that are in no record because too many were found at once.")
)

func storeDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_store_"+name, help, labels, nil)
}

// storeMetrics reads the counters of a keeper when Prometheus asks for them.
type storeMetrics struct{ *keeper }

// Describe implements prometheus.Collector.
func (m *storeMetrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, ch) }

// Collect implements prometheus.Collector.
func (m *storeMetrics) Collect(ch chan<- prometheus.Metric) {
	metric := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	w := m.writer.Stats()
	for t := range store.NumTables {
		metric(storeRecordsDesc, prometheus.CounterValue, float64(w.Written[t]), t.String(), "written")
		metric(storeRecordsDesc, prometheus.CounterValue, float64(w.Dropped[t]), t.String(), "dropped")
	}
	metric(storeQueuedDesc, prometheus.GaugeValue, float64(w.Queued))
	stopped := 0.0
	if w.Stopped != "" {
		stopped = 1
	}
	metric(storeStoppedDesc, prometheus.GaugeValue, stopped)
	neglected := 0.0
	if w.Neglected != "" {
		neglected = 1
	}
	metric(storeNeglectedDesc, prometheus.GaugeValue, neglected)
	if s, err := m.store.Stats(); err == nil {
		for t := range store.NumTables {
			var lost uint64
			for _, l := range s.Lost {
				lost += l.Records[t]
			}
			metric(storeRecordsDesc, prometheus.CounterValue, float64(lost), t.String(), "lost")
		}
		metric(storeBytesDesc, prometheus.GaugeValue, float64(s.Bytes))
		metric(storePartitionsDesc, prometheus.GaugeValue, float64(s.Partitions))
		metric(storeDroppedDesc, prometheus.CounterValue, float64(s.Dropped))
	}
	metric(storeNotedDesc, prometheus.GaugeValue, float64(m.notes.notedNs.Load())/1e9)
	metric(storeNotesFailedDesc, prometheus.CounterValue, float64(m.notes.failures.Load()))
	n := m.intervals.Ungiven()
	metric(storeUngivenDesc, prometheus.CounterValue, float64(n.Flows), "flows")
	metric(storeUngivenDesc, prometheus.CounterValue, float64(n.Paths), "paths")
	metric(storeUngivenDesc, prometheus.CounterValue, float64(n.Hosts), "hosts")
	metric(storeUngivenBurstsDesc, prometheus.CounterValue, float64(n.Bursts))
}
