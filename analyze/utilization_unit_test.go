package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// TestUtilizationUnits: what a node tells the use of its ports in is what is configured, or else what the dialect of
// its reports has; it is unknown where neither says anything, or two dialects say two things.
func TestUtilizationUnits(t *testing.T) {
	const known = codepoint.HundredthsOfPercent
	s := NewShard(DefaultConfig())
	c := &Collector{Owners: []Owner{s}}
	now := second
	send := func(srcPort uint16, units ...telemetry.UtilizationUnit) { // of nodes 1, 2, ...
		r := telemetry.Report{
			Version: telemetry.Version20, Flags: telemetry.Tracked | telemetry.Embedded | telemetry.HasFlow,
			Flow: telemetry.FlowKey{Protocol: 17, SrcPort: srcPort}, Bytes: 100,
		}
		for i, unit := range units {
			r.Hops = append(r.Hops, telemetry.Hop{
				Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort |
					telemetry.InUtilizationUnit(unit),
				NodeID: uint32(i + 1), IngressPort: 1, EgressPort: uint32(srcPort), TxUtil: 50,
			})
		}
		b := telemetry.Batch{}
		b.Add(&r)
		now++
		s.Process(&b, now)
	}
	send(2, known, known, 0, 0, 0)
	send(3, known, 0, 0, 0, 0)
	c.Configure(Configured{UtilizationUnits: map[uint32]telemetry.UtilizationUnit{4: 255}})
	want := map[uint32]string{1: "share:10000", 2: "unknown", 3: "unknown", 4: "share:255"}
	links := c.Links()
	for _, l := range links {
		if l.Utilization == nil || l.Utilization.Unit != want[l.From] {
			t.Errorf("link from %d: %+v, want in %s", l.From, l.Utilization, want[l.From])
		}
	}
	ports := 0
	topology := c.Topology()
	for _, n := range topology.Nodes {
		for _, p := range n.Ports {
			if p.Utilization != nil && n.ID < 5 {
				if ports++; p.Utilization.Unit != want[n.ID] {
					t.Errorf("port %d of node %d: in %s, want %s", p.Port, n.ID, p.Utilization.Unit, want[n.ID])
				}
			}
		}
	}
	if len(links) != 8 || ports != 8 {
		t.Errorf("%d links and %d ports, want 8", len(links), ports)
	}
}
