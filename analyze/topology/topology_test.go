package topology

import (
	"fmt"
	"slices"
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

// What a device counts stands beside what packets show, whose times it does not change; nodes and ports that only
// counters tell of are there if that is asked for.
func TestCounted(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	for _, add := range []bool{false, true} {
		b := NewBuilder(nil, nil)
		b.Node(1, at(10), at(20)).Port(5, at(10), at(20)).Received = 7
		for _, port := range [][2]uint32{{1, 5}, {1, 6}, {2, 8}, {2, 9}} {
			b.Counted(port[0], port[1], &telemetry.PortCounters{
				Speed: 1e9, First: at(int64(port[1])), Last: at(90 + int64(port[1])),
			}, add)
		}
		var told telemetry.Topology
		b.Finish(&told)
		var got []string
		for _, n := range told.Nodes {
			got = append(got, fmt.Sprintf("node %d from %d to %d", n.ID, n.First.Unix(), n.Last.Unix()))
			for _, p := range n.Ports {
				got = append(got, fmt.Sprintf("port %d from %d to %d, %d packets, %d bit/s, counted until %d",
					p.Port, p.First.Unix(), p.Last.Unix(), p.Received, p.Speed, p.Counters.Last.Unix()))
			}
		}
		want := []string{"node 1 from 10 to 20", "port 5 from 10 to 20, 7 packets, 1000000000 bit/s, counted until 95"}
		if add {
			want = append(want, "port 6 from 6 to 96, 0 packets, 1000000000 bit/s, counted until 96",
				"node 2 from 8 to 99", "port 8 from 8 to 98, 0 packets, 1000000000 bit/s, counted until 98",
				"port 9 from 9 to 99, 0 packets, 1000000000 bit/s, counted until 99")
		}
		if !slices.Equal(got, want) {
			t.Errorf("add %v:\n got %q\nwant %q", add, got, want)
		}
	}
}
