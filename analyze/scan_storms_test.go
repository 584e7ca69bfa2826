package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// TestStormBegins: a drop storm begins with its first drop, and not with the second in which that is.
func TestStormBegins(t *testing.T) {
	shard := NewShard(DefaultConfig())
	log := eventlog.New(10)
	scanner := NewScanner(&Collector{Shards: []*Shard{shard}}, log)
	begin := 1000 * second
	drop := func(atNs int64) {
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{{
			Flags: telemetry.Dropped, Local: telemetry.Hop{
				Has: telemetry.HasNode | telemetry.HasEgressPort | telemetry.HasDrop, NodeID: 1, EgressPort: 2,
			},
		}}}, atNs)
	}
	scanner.Scan(begin)
	drop(begin + second/2) // long before
	scanner.Scan(begin + second)
	scanner.Scan(begin + 2*second)
	first := begin + 2*second + 7*second/10
	for i := range int64(100) {
		drop(first + i*1e6)
	}
	scanner.Scan(begin + 3*second)
	list, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventDropStorm }, 10)
	if len(list) != 1 || list[0].Start.UnixNano() != first {
		t.Errorf("got %+v, want one from %d on", list, first)
	}
}
