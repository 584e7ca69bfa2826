package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// A search that nobody waits for any more ends, and does not look at all flows before.
func TestFlowsStop(t *testing.T) {
	s := NewShard(DefaultConfig())
	c := &Collector{Shards: []*Shard{s}}
	const flows = 20 * selectSize
	for i := range flows {
		var b telemetry.Batch
		b.Add(&telemetry.Report{Flow: telemetry.FlowKey{Protocol: 6, SrcPort: uint16(i), DstPort: 443}, Flags: telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded})
		s.Process(&b, int64(i))
	}
	looked, stop := 0, make(chan struct{})
	q := FlowFilter{Limit: 10, Stop: stop, Select: func(f *telemetry.Flow) bool {
		looked++
		return f.SrcPort%2 == 0
	}}
	if list, total := c.Flows(q); looked != flows || total != flows/2 || len(list) != 10 {
		t.Fatalf("looked at %d flows of %d, selected %d, listed %d", looked, flows, total, len(list))
	}
	looked = 0
	q.Select = func(*telemetry.Flow) bool {
		if looked++; looked == 1 {
			close(stop)
		}
		return true
	}
	if c.Flows(q); looked > selectSize {
		t.Errorf("looked at %d flows after it was stopped", looked)
	}
}
