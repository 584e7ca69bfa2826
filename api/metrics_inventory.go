package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/telemetry"
)

var (
	inventorySourcesDesc = desc("inventory_sources",
		"Devices and servers that are asked for the inventory, by the state of their last answer: waiting, answering or failing.",
		"origin", "state")
	inventoryOldestDesc = desc("inventory_oldest_answer_timestamp_seconds",
		"When the source answered whose last answer is the oldest, of those that ever did.", "origin")
	inventoryLeftOutDesc = desc("inventory_left_out",
		"Values of the last answers that break a rule, or for which there was no room.", "origin")
)

// An inventoryScrape reads the metrics of the inventory's sources when Prometheus asks for them. There may be thousands
// of sources: they are counted by what they are asked with; waybill inventory tells of each.
type inventoryScrape struct {
	sources func() []telemetry.InventorySource
}

// Describe implements prometheus.Collector.
func (s *inventoryScrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{inventorySourcesDesc, inventoryOldestDesc, inventoryLeftOutDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *inventoryScrape) Collect(ch chan<- prometheus.Metric) {
	type sums struct {
		states  map[telemetry.SourceState]int
		oldest  time.Time
		leftOut int
	}
	all := map[telemetry.InventoryOrigin]*sums{}
	for _, source := range s.sources() {
		of := all[source.Origin]
		if of == nil {
			of = &sums{states: map[telemetry.SourceState]int{
				telemetry.SourceWaiting: 0, telemetry.SourceAnswering: 0, telemetry.SourceFailing: 0,
			}}
			all[source.Origin] = of
		}
		of.states[source.State]++
		of.leftOut += source.LeftOut
		if last := source.Last; !last.IsZero() && (of.oldest.IsZero() || last.Before(of.oldest)) {
			of.oldest = last
		}
	}
	for origin, of := range all {
		for state, n := range of.states {
			gauge(ch, inventorySourcesDesc, float64(n), string(origin), string(state))
		}
		gauge(ch, inventoryLeftOutDesc, float64(of.leftOut), string(origin))
		if !of.oldest.IsZero() {
			gauge(ch, inventoryOldestDesc, float64(of.oldest.UnixMilli())/1000, string(origin))
		}
	}
}
