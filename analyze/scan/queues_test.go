package scan

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/telemetry"
)

// nothing is known of a network.
type nothing struct{}

func (nothing) Names() map[uint32]string                       { return nil }
func (nothing) Inventory() *telemetry.Inventory                { return nil }
func (nothing) Sampling() map[uint32]telemetry.SampleRate      { return nil }
func (nothing) QueueUnits() map[uint32]telemetry.QueueUnit     { return nil }
func (nothing) SampleRates() func(uint32) telemetry.SampleRate { return nil }
func (nothing) ExporterList() []telemetry.Exporter             { return nil }

// TestBurstIDsDiffer: bursts of a queue that are found together have ids and times of their own.
func TestBurstIDsDiffer(t *testing.T) {
	kept := burst.NewLog(1 << 20)
	source := Source{Timing: timing.New(), Losses: &loss.Estimates{}, Known: nothing{}}
	scanner := New(source, eventlog.New(100))
	scanner.KeepBursts(burst.DefaultConfig(), kept)
	const now = int64(1e18)
	for i := range uint64(5) { // by a clock that counts from the start of the node, found in the same moment
		b := burst.Burst{Node: 1, Port: 1, StartNs: 1e9 * i, EndNs: 1e9*i + 1e8, PeakNs: 1e9 * i}
		scanner.burst(&b, now)
	}
	list, _ := kept.Bursts(nil, burst.ByLast, 10)
	ids := map[string]bool{}
	for i := range list {
		ids[list[i].ID] = true
		if i > 0 && list[i-1].Start.Sub(list[i].Start) != time.Second {
			t.Errorf("%v behind %v, want a second", list[i-1].Start, list[i].Start)
		}
	}
	if len(ids) != 5 {
		t.Errorf("got %d ids of 5 bursts", len(ids))
	}
}
