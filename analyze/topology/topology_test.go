package topology

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A line of three nodes, with what their hops tell: 1 by port 12 to port 21 of 2, by port 23 to 3, which does not tell
// its ports.
var line = []telemetry.Hop{
	{Has: hopFields &^ telemetry.HasDrop, NodeID: 1, IngressPort: 10, EgressPort: 12, TTL: 64},
	{Has: hopFields &^ telemetry.HasDrop, NodeID: 2, IngressPort: 21, EgressPort: 23, TTL: 63},
	{Has: telemetry.HasNode, NodeID: 3, IngressPort: 99, TTL: 62},
}

func TestHopKeyHasWhatIsTold(t *testing.T) {
	for i := range line {
		k := HopKeyOf(&line[i])
		for j := range line {
			if k.IsAt(&line[j]) != (i == j) {
				t.Errorf("hop %d, key of hop %d: IsAt says %v", j, i, i != j)
			}
		}
		other := line[i]
		other.QueueOccupancy, other.LatencyNs = 7, 9
		other.Has |= telemetry.HasQueue | telemetry.HasLatency
		if !k.IsAt(&other) {
			t.Errorf("hop %d: what packets met there makes it another", i)
		}
	}
	if k := HopKeyOf(&line[2]); k.In != 0 {
		t.Errorf("port %d, which the node did not tell", k.In)
	}
}

func TestLinks(t *testing.T) {
	a, b, c := HopKeyOf(&line[0]), HopKeyOf(&line[1]), HopKeyOf(&line[2])
	k, ok := LinkOf(&a, &b)
	back, both := k.Reverse()
	if !ok || k.From != 1 || k.FromPort != 12 || k.To != 2 || k.ToPort != 21 || !both || back.From != 2 ||
		back.FromPort != 21 || back.To != 1 || back.ToPort != 12 {
		t.Errorf("link %+v, %v; reverse %+v, %v", k, ok, back, both)
	}
	if k, _ := LinkOf(&b, &c); k.ToPort != 0 || k.Has != telemetry.HasEgressPort {
		t.Errorf("link %+v to a node that tells no port", k)
	}
	if _, ok := LinkOf(&HopKey{Missing: 1}, &b); ok {
		t.Error("a link from a node that nobody knows")
	}
	dropped := b
	dropped.Has |= telemetry.HasDrop
	if _, ok := LinkOf(&b, &dropped); ok {
		t.Error("a link from a node to the drop in itself")
	}
}

func TestInnerPorts(t *testing.T) {
	in := Inner{}
	in.Learn(line)
	a, b := HopKeyOf(&line[0]), HopKeyOf(&line[1])
	if in.Begins(&a) || !in.Ends(&a) || !in.Begins(&b) || !in.Ends(&b) || len(in) != 3 {
		t.Errorf("inner ports %v", in)
	}
	apart := []telemetry.Hop{line[0], line[1]}
	apart[0].Has |= telemetry.HasTTL
	apart[1].TTL = 60
	if in = (Inner{}); len(in) != 0 {
		t.Error(in)
	}
	if in.Learn(apart); len(in) != 0 {
		t.Errorf("ports %v of nodes that have others between them", in)
	}
	for i := range uint32(3 * MaxLinks) {
		in.Add(LinkKey{From: i, Has: telemetry.HasEgressPort})
	}
	if len(in) != 2*MaxLinks {
		t.Errorf("%d ports, more than are kept", len(in))
	}
}

// Where a host was at the same time as elsewhere counts against it; where it was before does not, since it moved.
func TestHosts(t *testing.T) {
	h := NewHosts()
	flow := telemetry.FlowKey{Src: telemetry.Addr{Hi: 1, Lo: 1}, Dst: telemetry.Addr{Hi: 1, Lo: 2}}
	h.Inner[PortKey{1, 12, true}] = true
	h.See(SourceOf(&flow), PortKey{1, 10, true}, Seen{Packets: 9, First: 0, Last: 10})
	h.See(SourceOf(&flow), PortKey{1, 10, true}, Seen{Packets: 90, First: 5, Last: 20})
	h.See(SourceOf(&flow), PortKey{2, 20, true}, Seen{Packets: 4, First: 30, Last: 40})
	h.See(SourceOf(&flow), PortKey{1, 12, true}, Seen{Packets: 1000, First: 0, Last: 40})
	hosts := h.Answer(map[uint32]string{1: "leaf1"})
	if len(hosts) != 1 || len(hosts[0].Places) != 2 {
		t.Fatalf("hosts %+v", hosts)
	}
	now, before := hosts[0].Places[0], hosts[0].Places[1]
	if now.Node != 2 || now.Packets != 4 || now.Confidence != 0.8 {
		t.Errorf("the place now is %+v", now)
	}
	if before.Name != "leaf1" || *before.Port != 10 || before.Packets != 99 || before.Confidence != 0.99 ||
		!before.Last.Equal(time.Unix(0, 20)) {
		t.Errorf("the place before is %+v", before)
	}
}
