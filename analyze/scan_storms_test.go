package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// TestStormBegins: a drop storm begins with its first drop, and not with the second in which that is, nor with a few
// drops long before, by whichever port these came. Drops after it change nothing.
func TestStormBegins(t *testing.T) {
	shard := NewShard(DefaultConfig())
	log := eventlog.New(10)
	scanner := NewScanner(&Collector{Shards: []*Shard{shard}}, log)
	begin := 1000 * second
	drop := func(atNs int64, in uint32) {
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{{
			Flags: telemetry.Dropped, Local: telemetry.Hop{
				Has:    telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasDrop,
				NodeID: 1, IngressPort: in, EgressPort: 2,
			},
		}}}, atNs)
	}
	scanner.Scan(begin)
	drop(begin+second/2, 5) // long before
	scanner.Scan(begin + second)
	scanner.Scan(begin + 2*second)
	drop(begin+2*second+second/10, 5) // of other bursts
	drop(begin+2*second+second/10, 6)
	first := begin + 2*second + 4*second/10
	for i := range int64(100) {
		drop(first+i*1e6, 5)
	}
	drop(begin+2*second+9*second/10, 5)
	drop(begin+2*second+9*second/10, 6)
	scanner.Scan(begin + 3*second)
	list, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventDropStorm }, 10)
	if len(list) != 1 || list[0].Start.UnixNano() != first {
		t.Errorf("got %+v, want one from %d on", list, first)
	}
}
