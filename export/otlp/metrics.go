package otlp

import (
	"strings"

	dto "github.com/prometheus/client_model/go"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/waybill-int/waybill/export"
)

// metricsOf returns metrics with the names that Prometheus has for them.
func metricsOf(s *export.Scrape) (list []*metrics.Metric) {
	since, at := uint64(s.Since.UnixNano()), uint64(s.At.UnixNano())
	for _, f := range s.Families {
		m := &metrics.Metric{Name: f.GetName(), Description: f.GetHelp(), Unit: unitOf(f.GetName())}
		var numbers []*metrics.NumberDataPoint
		var histograms []*metrics.ExponentialHistogramDataPoint
		for _, x := range f.Metric {
			labels := labelsOf(x)
			point := &metrics.NumberDataPoint{Attributes: labels, StartTimeUnixNano: since, TimeUnixNano: at}
			switch {
			case x.Counter != nil:
				point.Value = &metrics.NumberDataPoint_AsDouble{AsDouble: x.Counter.GetValue()}
				numbers = append(numbers, point)
			case x.Gauge != nil:
				point.StartTimeUnixNano = 0
				point.Value = &metrics.NumberDataPoint_AsDouble{AsDouble: x.Gauge.GetValue()}
				numbers = append(numbers, point)
			case x.Histogram != nil:
				h := histogramOf(x.Histogram)
				h.Attributes, h.StartTimeUnixNano, h.TimeUnixNano = labels, since, at
				histograms = append(histograms, h)
			}
		}
		const total = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			m.Data = &metrics.Metric_Sum{Sum: &metrics.Sum{
				DataPoints: numbers, AggregationTemporality: total, IsMonotonic: true,
			}}
		case dto.MetricType_GAUGE:
			m.Data = &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: numbers}}
		case dto.MetricType_HISTOGRAM:
			m.Data = &metrics.Metric_ExponentialHistogram{ExponentialHistogram: &metrics.ExponentialHistogram{
				DataPoints: histograms, AggregationTemporality: total,
			}}
		default:
			continue // the metrics of the network are of these types
		}
		list = append(list, m)
	}
	return list
}

func labelsOf(m *dto.Metric) (list []*common.KeyValue) {
	for _, l := range m.Label {
		list = append(list, text(l.GetName(), l.GetValue()))
	}
	return list
}

// unitOf is the unit that a name of Prometheus ends with, in the words of UCUM.
func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	units := map[string]string{"_seconds": "s", "_bytes": "By", "_ratio": "1", "_packets": "{packet}"}
	for suffix, unit := range units {
		if strings.HasSuffix(name, suffix) {
			return unit
		}
	}
	return ""
}

// histogramOf turns a native histogram of Prometheus into an exponential one. Both have the same bases; bucket i of
// Prometheus is the one below base^i, that of OTLP the one above it.
func histogramOf(h *dto.Histogram) *metrics.ExponentialHistogramDataPoint {
	sum := h.GetSampleSum()
	p := &metrics.ExponentialHistogramDataPoint{
		Count: h.GetSampleCount(), Sum: &sum, Scale: h.GetSchema(), ZeroCount: h.GetZeroCount(),
		ZeroThreshold: h.GetZeroThreshold(), Positive: &metrics.ExponentialHistogramDataPoint_Buckets{},
	}
	at, n, next := int32(0), int64(0), 0
	for i, span := range h.PositiveSpan {
		at += span.GetOffset()
		if i == 0 {
			p.Positive.Offset = at - 1
		} else {
			for range span.GetOffset() {
				p.Positive.BucketCounts = append(p.Positive.BucketCounts, 0)
			}
		}
		for range span.GetLength() {
			n += h.PositiveDelta[next]
			next++
			at++
			p.Positive.BucketCounts = append(p.Positive.BucketCounts, uint64(n))
		}
	}
	return p
}
