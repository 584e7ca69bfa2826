package drop

import (
	"encoding/json"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// at is a packet that a node dropped for a reason.
func at(node uint32, reason uint8, dst telemetry.Addr) *telemetry.Report {
	r := &telemetry.Report{Flags: telemetry.Dropped | telemetry.HasFlow, Flow: telemetry.FlowKey{Dst: dst}}
	r.Local.NodeID, r.Local.Has, r.Local.DropReason = node, telemetry.HasNode|telemetry.HasDrop, reason
	return r
}

// A table is bounded, and counts what does not fit.
func TestTableIsBounded(t *testing.T) {
	table, to := New(3), telemetry.Addr{Hi: 0xfd00_0000_0003_0001, Lo: 9}
	for node := range uint32(5) {
		table.Packet(at(node, 1, to), 1e9)
		table.Packet(at(node, 1, to), 2e9)
	}
	sums := Sums{}
	sums.AddTable(&table)
	sums.AddTable(&table) // as of two shards
	list := sums.Answer(map[uint32]string{2: "leaf2"}, func(d *telemetry.Drop) bool { return *d.Node == 2 })
	if len(table.Drops) != 3 || table.Overflow != 4 || len(list) != 1 {
		t.Fatalf("%d places, %d packets without one; answer %+v", len(table.Drops), table.Overflow, list)
	}
	if d := list[0]; d.Name != "leaf2" || d.Packets != 4 || len(d.To) != 1 || d.To[0].Packets != 4 ||
		d.To[0].Prefix.String() != "fd00:0:3::/48" {
		t.Errorf("answer %+v", d)
	}
}

// A counter of a rule that goes on counts what is new, and one that began anew all that it has.
func TestSummaries(t *testing.T) {
	table := New(1)
	r := at(1, 2, telemetry.Addr{})
	r.Flags |= telemetry.DropTotal
	for _, step := range []struct {
		total uint32
		more  uint64
	}{{100, 100}, {130, 30}, {130, 0}, {20, 20}} {
		r.DropCount = step.total
		if got := table.Summary(r, 1e9); got != step.more {
			t.Errorf("%d in all: %d more, want %d", step.total, got, step.more)
		}
	}
}

// The counter of a rule goes on over a restart, also over one in which the rule dropped nothing, and one that is not
// known counts all that it has: it may be new. What was saved takes no more room than a table has.
func TestCountersOverRestart(t *testing.T) {
	r := at(1, 2, telemetry.Addr{})
	r.Flags |= telemetry.DropTotal
	r.DropKey, r.DropCount = 7, 1000
	table, other := New(2), New(2)
	table.Summary(r, 1e9)
	for i := range 3 {
		counters := Counters{}
		counters.Add(table.Counters())
		counters.Add(other.Counters()) // a shard to which the rule does not report
		text, err := json.Marshal(counters.List())
		if err != nil {
			t.Fatal(err)
		}
		var saved []Counter
		if err := json.Unmarshal(text, &saved); err != nil {
			t.Fatal(err)
		}
		table, other = New(2), New(2)
		table.Restore(saved)
		other.Restore(saved)
		if i > 0 { // the first of these processes heard nothing of it
			r.DropCount += 30
			if got := table.Summary(r, 2e9); got != 30 {
				t.Errorf("%d more, want 30", got)
			}
		}
	}
	r.DropKey = 8
	if got := table.Summary(r, 2e9); got != 1060 {
		t.Errorf("of a rule that is new: %d more, want 1060", got)
	}
	table.Restore(make([]Counter, 5))
	if len(table.before) > 2 {
		t.Errorf("%d counters, want at most 2", len(table.before))
	}
}

// The flow that a storm names is of the part with the most packets, in whatever order its parts come.
func TestStormNames(t *testing.T) {
	few := Packets{N: 1, flow: telemetry.FlowKey{SrcPort: 1}, hasFlow: true}
	most := Packets{N: 3, flow: telemetry.FlowKey{SrcPort: 2}, hasFlow: true}
	asMany := Packets{N: 3, flow: telemetry.FlowKey{SrcPort: 3}, hasFlow: true}
	for _, order := range [][]*Packets{{&few, &most, &asMany}, {&asMany, &most, &few}, {&most, &few, &asMany}} {
		var s Storm
		for _, p := range order {
			s.Add(p)
		}
		if s.Drops != 7 || s.Flow.SrcPort != 2 || !s.HasFlow {
			t.Errorf("got %+v", s)
		}
	}
}
