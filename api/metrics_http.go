package api

import "github.com/prometheus/client_golang/prometheus"

// Describe implements prometheus.Collector.
func (c *checks) Describe(ch chan<- *prometheus.Desc) {
	ch <- httpRefusedDesc
	ch <- httpFailedLoginsDesc
	ch <- httpSessionsDesc
	ch <- httpConnectionsRefusedDesc
	ch <- httpDefectsDesc
}

// Collect implements prometheus.Collector.
func (c *checks) Collect(ch chan<- prometheus.Metric) {
	for why, reason := range refusals {
		counter(ch, httpRefusedDesc, c.refused[why].Load(), reason)
	}
	counter(ch, httpConnectionsRefusedDesc, c.cfg.RefusedConnections())
	counter(ch, httpDefectsDesc, c.defects.Load())
	counter(ch, httpFailedLoginsDesc, c.failedLogins.Load())
	sessions := 0
	if c.guard.Sessions != nil {
		sessions = c.guard.Sessions.Len()
	}
	gauge(ch, httpSessionsDesc, float64(sessions))
}
