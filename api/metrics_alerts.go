package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/telemetry"
)

var (
	alertsDesc         = desc("alerts", "Alerts by state: pending or firing. Silenced ones are firing too.", "state")
	alertsSilencedDesc = desc("alerts_silenced", "Firing alerts that a silence keeps from being delivered.")
	alertsUnplacedDesc = desc("alerts_unplaced_total",
		"Times that an event was an alert and is in no list because there were too many.")
	alertEventsMissedDesc = desc("alert_events_missed_total",
		"Events that ended and were forgotten before alert rules could look at them.")
	alertSaveErrorsDesc = desc("alert_save_errors_total",
		"Times that alerts, silences and queues could not be written to the data directory.")
	alertDeliveriesDesc = desc("alert_deliveries_total",
		"Messages to an output by outcome: delivered, rejected (it will never take it), "+
			"expired (tried for a day), crowded_out (the queue was full); retried counts attempts.", "output",
		"outcome")
	alertQueueDesc = desc("alert_queue_messages", "Messages that wait for an output.", "output")
)

// An alertScrape reads the metrics of alerts when Prometheus asks for them.
type alertScrape struct{ engine *alert.Engine }

// Describe implements prometheus.Collector.
func (s *alertScrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		alertsDesc, alertsSilencedDesc, alertsUnplacedDesc, alertEventsMissedDesc, alertSaveErrorsDesc,
		alertDeliveriesDesc, alertQueueDesc,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *alertScrape) Collect(ch chan<- prometheus.Metric) {
	n := s.engine.Counters()
	gauge(ch, alertsDesc, float64(n.Pending), string(telemetry.AlertPending))
	gauge(ch, alertsDesc, float64(n.Firing), string(telemetry.AlertFiring))
	gauge(ch, alertsSilencedDesc, float64(n.Silenced))
	counter(ch, alertsUnplacedDesc, n.Unplaced)
	counter(ch, alertEventsMissedDesc, n.Missed)
	counter(ch, alertSaveErrorsDesc, n.SaveErrors)
	for _, o := range n.Outputs {
		for outcome, count := range o.Outcomes {
			counter(ch, alertDeliveriesDesc, count, o.Name, alert.Outcome(outcome).String())
		}
		gauge(ch, alertQueueDesc, float64(o.Waiting), o.Name)
	}
}
