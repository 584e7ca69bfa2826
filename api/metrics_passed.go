package api

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	queryAnalyzerUpDesc = desc("query_analyzer_up", "1 while the analyzer answers a server with role query.")
	queryPassedDesc     = desc("query_passed_total", "Requests that a server with role query passed on to the analyzer.")
	queryUnansweredDesc = desc("query_unanswered_total", "Those of them to which no answer came.")
)

// A passedScrape reads the metrics of a server with role query when Prometheus asks for them.
type passedScrape struct {
	analyzer *Analyzer
	version  string
}

// Describe implements prometheus.Collector.
func (s *passedScrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{buildInfoDesc, queryAnalyzerUpDesc, queryPassedDesc, queryUnansweredDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *passedScrape) Collect(ch chan<- prometheus.Metric) {
	gauge(ch, buildInfoDesc, 1, s.version, runtime.Version())
	up := 1.0
	if _, why := s.analyzer.Away(); why != nil {
		up = 0
	}
	gauge(ch, queryAnalyzerUpDesc, up)
	passed, unanswered := s.analyzer.Totals()
	counter(ch, queryPassedDesc, passed)
	counter(ch, queryUnansweredDesc, unanswered)
}
