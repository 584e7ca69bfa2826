package finding

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

const second = int64(1e9)

// taken counts what a table gives by kind.
func taken(t *Table, nowNs int64) map[telemetry.EventKind]uint64 {
	counts := map[telemetry.EventKind]uint64{}
	t.Take(nowNs, func(f *Finding) { counts[f.Kind] += f.Count - f.noted })
	return counts
}

// Stamps that cannot be so are found, and count nowhere; others stay.
func TestDistrust(t *testing.T) {
	table := New(3 * second)
	const wide = telemetry.HasNode | telemetry.HasIngressTime | telemetry.HasEgressTime | telemetry.HasWideTimes
	r := telemetry.Report{Hops: []telemetry.Hop{
		{Has: wide, NodeID: 1, IngressNs: 2_000_000_000, EgressNs: 2_000_000_500},
		{Has: wide, NodeID: 2, IngressNs: 2_000_000_500, EgressNs: 2_000_000_000},
		{
			Has: wide | telemetry.HasLatency, NodeID: 3, IngressNs: 2_000_000_000, EgressNs: 2_000_000_500,
			LatencyNs: 9e9,
		},
		{Has: wide, NodeID: 4},
	}}
	table.Distrust(&r, second)
	for i, want := range []telemetry.Fields{wide, telemetry.HasNode, telemetry.HasNode, telemetry.HasNode} {
		if r.Hops[i].Has != want {
			t.Errorf("node %d keeps %x, want %x", i+1, r.Hops[i].Has, want)
		}
	}
	if got := taken(&table, second)[telemetry.EventImplausible]; got != 3 {
		t.Errorf("%d findings, want 3", got)
	}
	if got := taken(&table, second); len(got) != 0 {
		t.Errorf("%v again", got)
	}
}

// A node that tells the same of a packet again changes nothing; one that tells another story is found.
func TestToldTwice(t *testing.T) {
	table := New(3 * second)
	hop := telemetry.Hop{
		Has: telemetry.HasNode | telemetry.HasIngressTime | telemetry.HasWideTimes | telemetry.HasEgressPort |
			telemetry.HasIngressPort,
		NodeID: 1, IngressNs: 5, IngressPort: 3, EgressPort: 4,
	}
	hops, r := []telemetry.Hop{{}, hop}, telemetry.Report{}
	if told, against := table.ToldTwice(hops, &r, &hop, second); !told || against != -1 {
		t.Errorf("the same story: %v, %d", told, against)
	}
	other := hop
	other.IngressPort = 9
	if told, against := table.ToldTwice(hops, &r, &other, second); !told || against != 1 {
		t.Errorf("another story: %v, %d", told, against)
	}
	other.EgressPort = 9 // a copy
	if told, _ := table.ToldTwice(hops, &r, &other, second); told {
		t.Error("a copy was taken for the packet")
	}
	if got := taken(&table, second)[telemetry.EventContradiction]; got != 1 {
		t.Errorf("%d findings, want 1", got)
	}
}

// Flows on paths that lack nodes have one verdict for each set of findings, and when the table is full it begins anew.
func TestVerdicts(t *testing.T) {
	table, flow, r := New(3*second), telemetry.FlowKey{}, telemetry.Report{}
	line := func(node uint32, missing uint8) []topology.HopKey {
		return []topology.HopKey{
			{Node: node, Has: telemetry.HasNode}, {Missing: missing}, {Node: node + 1, Has: telemetry.HasNode},
		}
	}
	whole := []topology.HopKey{{Node: 1, Has: telemetry.HasNode}}
	if v := table.Judge(nil, &flow, 0, whole, &r); v != NothingBad {
		t.Errorf("verdict %d on a path without a gap", v)
	}
	first := table.Judge(nil, &flow, 0, line(1, 1), &r)
	if again := table.Judge(nil, &flow, 0, line(1, 2), &r); first < FirstBad || again != first {
		t.Errorf("verdicts %d and %d on a gap at the same place", first, again)
	}
	table.Continue(first, &flow, 7, &r, true, second, second)
	table.Continue(first, &flow, 7, &r, false, second, 2*second)
	found := 0
	table.Take(2*second, func(f *Finding) {
		found++
		if f.Count != 1 || f.hidden != 2 || f.Since != second || f.Last != 2*second || f.Path != 7 {
			t.Errorf("found %+v", f)
		}
	})
	if found != 1 {
		t.Errorf("%d findings", found)
	}
	for node := range uint32(MaxFindings + 5) {
		table.Judge(nil, &flow, 0, line(2*node, 1), &r)
	}
	epoch := table.Epoch
	if table.Take(3*second, func(*Finding) {}); table.Overflow != 6 || table.Epoch == epoch {
		t.Errorf("%d findings had no place; epoch %d, then %d", table.Overflow, epoch, table.Epoch)
	}
}

// A gap in the TTLs tells of nodes without INT, but not where a loop had more hops than are kept of a packet.
func TestGaps(t *testing.T) {
	at := func(node uint32) topology.HopKey { return topology.HopKey{Node: node, Has: telemetry.HasNode} }
	gap := topology.HopKey{Missing: 3}
	drop := topology.HopKey{Node: 2, Has: telemetry.HasNode | telemetry.HasDrop}
	for _, row := range []struct {
		name  string
		route []topology.HopKey
		bad   bool
	}{
		{"nodes between two", []topology.HopKey{at(1), gap, at(2)}, true},
		{"nodes in front of a drop", []topology.HopKey{at(1), gap, drop}, true},
		{"a loop that ends with a drop", []topology.HopKey{at(1), at(2), at(1), at(2), at(1), gap, drop}, false},
	} {
		table := New(3 * second)
		v := table.Judge(nil, &telemetry.FlowKey{}, 0, row.route, &telemetry.Report{})
		if bad := v >= FirstBad; bad != row.bad {
			t.Errorf("%s: verdict %d", row.name, v)
		}
	}
}
