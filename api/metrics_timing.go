package api

import "github.com/prometheus/client_golang/prometheus"

// collectTiming tells how well clocks, delays and baselines fit into their tables.
func (s *scrape) collectTiming(ch chan<- prometheus.Metric) {
	n := s.cfg.Collector.Timing.Counters()
	gauge(ch, clockPairsDesc, float64(n.Clocks.Pairs))
	counter(ch, clockSamplesDesc, n.Clocks.Samples-n.Clocks.Unusable-n.Clocks.Late-n.Clocks.Overflow, "used")
	counter(ch, clockSamplesDesc, n.Clocks.Unusable, "unusable")
	counter(ch, clockSamplesDesc, n.Clocks.Late, "late")
	counter(ch, clockSamplesDesc, n.Clocks.Overflow, "unplaced")
	gauge(ch, delaysDesc, float64(n.Links), "links")
	gauge(ch, delaysDesc, float64(n.Paths), "paths")
	counter(ch, delaysUnplacedDesc, n.Unplaced)
	counter(ch, packetsMissedDesc, n.Missed)
	gauge(ch, baselinesDesc, float64(n.Baselines.Keys))
	counter(ch, baselinesUnplacedDesc, n.Baselines.Overflow)
	gauge(ch, baselinesUnusualDesc, float64(n.Baselines.Anomalies))
}
