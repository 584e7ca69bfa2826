package checksum

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// Wrong headers are told of a node that had right ones as a rule, with all of its tables; of one that never had, none.
func TestJudge(t *testing.T) {
	tables := []Table{New(), New()}
	right := telemetry.Report{
		Flags: telemetry.HasFlow, NodeID: 1, HasNodeID: true,
		Flow: telemetry.FlowKey{Src: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}), Protocol: 6},
	}
	wrong := right
	wrong.Flags |= telemetry.WrongChecksum
	never := wrong
	never.NodeID = 2
	histories := Histories{}
	scan := func() Sums {
		all := Sums{}
		for i := range tables {
			all.Add(tables[i].Take())
		}
		return histories.Judge(all)
	}
	for range leastHeaders {
		for i := range tables {
			tables[i].Look(&right)
			tables[i].Look(&never)
			tables[i].Wrong(&never, 1)
		}
	}
	if got := scan(); len(got) != 0 {
		t.Errorf("%v before it is known what is the rule", got)
	}
	tables[0].Wrong(&wrong, 7)
	tables[1].Wrong(&wrong, 5)
	tables[1].Wrong(&wrong, 9)
	tables[0].Wrong(&never, 9)
	got := scan()
	if n := got[Key{Node: 1}]; len(got) != 1 || n == nil || n.Wrong != 3 || n.First != 5 || n.Last != 9 {
		t.Errorf("found %v", got)
	}
	if got := scan(); len(got) != 0 {
		t.Errorf("%v again", got)
	}
}

func TestTableIsBounded(t *testing.T) {
	table := New()
	r := telemetry.Report{Flags: telemetry.WrongChecksum, HasNodeID: true}
	for r.NodeID = range uint32(maxHeaderNodes + 3) {
		table.Wrong(&r, 1)
	}
	if table.Total != maxHeaderNodes+3 || table.Overflow != 3 {
		t.Errorf("%d wrong, %d of nodes without room", table.Total, table.Overflow)
	}
}
