package serve

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/collect/flowsample"
)

// sampleMetrics are the counters of what was in sFlow, by protocol.
type sampleMetrics map[collect.Format][]*flowsample.Stats

func (m *sampleMetrics) add(f collect.Format, s *flowsample.Stats) {
	if *m == nil {
		*m = sampleMetrics{}
	}
	(*m)[f] = append((*m)[f], s)
}

var samplesDesc = prometheus.NewDesc("waybill_flow_samples_total",
	"Samples and notifications of sFlow by what became of them, and those that devices say they did not send.",
	[]string{"protocol", "outcome"}, nil)

// metrics returns those of samples.
func (m sampleMetrics) metrics() prometheus.Gatherer {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	return registry
}

// Describe implements prometheus.Collector.
func (m sampleMetrics) Describe(ch chan<- *prometheus.Desc) { ch <- samplesDesc }

// Collect implements prometheus.Collector.
func (m sampleMetrics) Collect(ch chan<- prometheus.Metric) {
	for format, all := range m {
		sum := map[flowsample.Outcome]uint64{}
		for _, s := range all {
			for outcome, n := range s.Counts() {
				sum[outcome] += n
			}
		}
		for outcome, n := range sum {
			ch <- prometheus.MustNewConstMetric(samplesDesc, prometheus.CounterValue, float64(n), string(format),
				outcome.String())
		}
	}
}
