package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// flowsThat are those that a function selects.
type flowsThat func(*telemetry.Flow) bool

func (f flowsThat) Compile() (func(*telemetry.FlowKey) bool, func(*telemetry.Flow) bool) {
	return nil, f
}

// A search that nobody waits for any more ends, and does not look at all flows before.
func TestFlowsStop(t *testing.T) {
	s := NewShard(DefaultConfig())
	c := &Collector{Owners: []Owner{s}}
	const flows = 20 * selectSize
	for i := range flows {
		var b telemetry.Batch
		b.Add(&telemetry.Report{
			Flow:  telemetry.FlowKey{Protocol: 6, SrcPort: uint16(i), DstPort: 443},
			Flags: telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded,
		})
		s.Process(&b, int64(i))
	}
	looked, stop := 0, make(chan struct{})
	q := FlowFilter{Limit: 10, Stop: stop, Which: flowsThat(func(f *telemetry.Flow) bool {
		looked++
		return f.SrcPort%2 == 0
	})}
	if list, total := c.Flows(q); looked != flows || total != flows/2 || len(list) != 10 {
		t.Fatalf("looked at %d flows of %d, selected %d, listed %d", looked, flows, total, len(list))
	}
	looked = 0
	q.Which = flowsThat(func(*telemetry.Flow) bool {
		if looked++; looked == 1 {
			close(stop)
		}
		return true
	})
	if c.Flows(q); looked > selectSize {
		t.Errorf("looked at %d flows after it was stopped", looked)
	}
}

// The pages of a list fit together, also if the order says nothing of its flows: each flow is on one of them.
func TestFlowsPages(t *testing.T) {
	shards := []Owner{NewShard(DefaultConfig()), NewShard(DefaultConfig())}
	c := &Collector{Owners: shards}
	const flows = 500
	for i := range flows {
		var b telemetry.Batch
		port := uint16(i * 7919 % flows) // in no order
		b.Add(&telemetry.Report{
			Flow:  telemetry.FlowKey{Protocol: 6, SrcPort: port, DstPort: 443},
			Flags: telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded,
		})
		shards[i%len(shards)].(*Shard).Process(&b, 1)
	}
	for _, limit := range []int{1, 7, 100, flows} {
		pages := map[uint16]int{}
		for offset := 0; offset < flows; offset += limit {
			list, total := c.Flows(FlowFilter{Limit: limit, Offset: offset, Order: ByPackets})
			if total != flows {
				t.Fatalf("total %d, want %d", total, flows)
			}
			for _, f := range list {
				pages[f.SrcPort]++
			}
		}
		for port, n := range pages {
			if n != 1 {
				t.Errorf("limit %d: flow %d is on %d pages", limit, port, n)
			}
		}
		if len(pages) != flows {
			t.Errorf("limit %d: %d flows on all pages, want %d", limit, len(pages), flows)
		}
	}
}
