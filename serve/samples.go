package serve

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/collect/flowsample"
)

// sampleMetrics are the decoders of what tells of flows, whose counters are metrics, by the scheme of their format.
type sampleMetrics map[string][]flowsample.Decoder

func (m *sampleMetrics) add(f *flowsample.Format, d flowsample.Decoder) {
	if *m == nil {
		*m = sampleMetrics{}
	}
	(*m)[f.Scheme] = append((*m)[f.Scheme], d)
}

var samplesDesc = prometheus.NewDesc("waybill_flow_samples_total",
	"Samples, flow records and notifications by what became of them, and those that devices say they did not send.",
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
	for scheme, all := range m {
		sum := map[flowsample.Outcome]uint64{}
		for _, d := range all {
			for outcome, n := range d.Counts() {
				sum[outcome] += n
			}
		}
		for outcome, n := range sum {
			ch <- prometheus.MustNewConstMetric(samplesDesc, prometheus.CounterValue, float64(n), scheme,
				outcome.String())
		}
	}
}
