package analyze

import (
	"maps"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Paths part where packets leave a node by another port, and not where they only come in by another one.
func TestParting(t *testing.T) {
	const ports = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
	at := func(node, in, out uint32, has telemetry.Fields) pathHop {
		return pathHop{HopKey: topology.HopKey{Node: node, In: in, Out: out, Has: has}}
	}
	for _, test := range []struct {
		name     string
		from, to []pathHop
		want     scan.ChangeKey
		ok       bool
	}{
		{
			"another way out",
			[]pathHop{at(1, 3, 1, ports), at(5, 1, 2, ports)},
			[]pathHop{at(1, 3, 2, ports), at(6, 1, 2, ports)},
			scan.ChangeKey{Node: 1, Port: 1, ToNode: 5, NewPort: 2},
			true,
		},
		{
			"in a loop",
			[]pathHop{at(1, 3, 1, ports), at(5, 1, 1, ports)},
			[]pathHop{at(1, 1, 1, ports), at(5, 1, 1, ports)},
			scan.ChangeKey{},
			false,
		},
		{
			"another link between the same nodes",
			[]pathHop{at(1, 0, 0, telemetry.HasNode), at(2, 1, 4, ports)},
			[]pathHop{at(1, 0, 0, telemetry.HasNode), at(2, 2, 4, ports)},
			scan.ChangeKey{Node: 1, ToNode: 2},
			true,
		},
		{
			"with and without ports",
			[]pathHop{at(1, 3, 1, ports), at(5, 1, 2, ports)},
			[]pathHop{at(1, 0, 0, telemetry.HasNode)},
			scan.ChangeKey{},
			false,
		},
		{
			"in elsewhere",
			[]pathHop{at(1, 3, 1, ports), at(5, 1, 2, ports)},
			[]pathHop{at(2, 3, 1, ports), at(5, 2, 2, ports)},
			scan.ChangeKey{},
			false,
		},
	} {
		if k, ok := parting(test.from, test.to); k != test.want || ok != test.ok {
			t.Errorf("%s: got %+v %v, want %+v %v", test.name, k, ok, test.want, test.ok)
		}
	}
}

// Flows of several shards that turn in the same way are one event, from the first of them to the last.
func TestChangesOfShards(t *testing.T) {
	log := eventlog.New(10)
	c := &Collector{}
	k := scan.ChangeKey{Node: 1, Port: 2, ToNode: 3, NewPort: 4}
	for _, n := range []scan.Change{
		{Flows: 1, First: 7 * second, Last: 8 * second, Path: 8},
		{Flows: 2, First: 5 * second, Last: 6 * second, Path: 6},
		{Flows: 1, First: 9 * second, Last: 9 * second, Path: 9},
	} {
		shard := NewShard(Config{MaxFlows: 10, MaxPaths: 10, MaxDrops: 10, MaxQueues: 10, JoinPlaces: 16})
		shard.changes.changes[k] = &n
		c.Owners = append(c.Owners, shard)
	}
	s := NewScanner(c, log)
	for _, ns := range []int64{8 * second, 9 * second, 10 * second} {
		s.Scan(ns)
	}
	list, _ := log.Events(nil, 10)
	if len(list) != 1 || list[0].Start.UnixNano() != 5*second || list[0].Count != 4 ||
		list[0].Path != topology.PathID(9) {
		t.Errorf("got %+v", list)
	}
}

// A flow that goes to and fro is one flow of the event, however often it does; the link that it left and takes again is
// no link that others still take. It is a failure if the port says so.
func TestFlappingFlow(t *testing.T) {
	const ports = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
	portDown := telemetry.ReasonTable(0) // the table in which 200 is that
	for portDown.Name(200) != "port_down" {
		portDown++
	}
	log := eventlog.New(10)
	shard := NewShard(Config{MaxFlows: 10, MaxPaths: 10, MaxDrops: 10, MaxQueues: 10, JoinPlaces: 16})
	s := NewScanner(&Collector{Owners: []Owner{shard}}, log)
	packet := func(ns int64, flow uint16, port uint32, flags telemetry.Flags) {
		r := telemetry.Report{
			Flags: telemetry.HasFlow | telemetry.Embedded | flags,
			Flow:  telemetry.FlowKey{Protocol: 17, SrcPort: flow, DstPort: 80},
			Hops: []telemetry.Hop{
				{Has: ports, NodeID: 1, IngressPort: 9, EgressPort: port},
				{Has: ports, NodeID: 10 + port, IngressPort: 1, EgressPort: 2},
				{Has: ports, NodeID: 2, IngressPort: port, EgressPort: 9},
			},
		}
		if flags != 0 {
			r.Hops, r.Local = nil,
				telemetry.Hop{Has: ports | telemetry.HasDrop, NodeID: 1, EgressPort: port, DropReason: 200}
			r.DropReasons = portDown
		}
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, ns)
	}
	run := func(fromNs int64, others, down bool) string {
		for i := range int64(200) { // it turns 20 times a second
			ns := fromNs + i*second/20
			packet(ns, 1, uint32(i%2)+1, 0)
			if others {
				packet(ns, 2, 1, 0)
				packet(ns, 3, 2, 0)
			}
			if down && i%2 == 0 {
				packet(ns, 4, 1, telemetry.Dropped)
			}
			if i%20 == 19 {
				s.Scan(ns + 1e6)
			}
		}
		for i := range int64(6) {
			s.Scan(fromNs + (11+i)*second)
		}
		list, _ := log.Events(func(e *telemetry.Event) bool {
			return e.Kind == telemetry.EventPathChange && e.Start.UnixNano() >= fromNs && *e.Port == 1
		}, 10)
		if len(list) != 1 {
			t.Fatalf("got %+v", list)
		}
		if list[0].Count != 1 {
			t.Errorf("got %d flows, want 1", list[0].Count)
		}
		_, why, _ := strings.Cut(list[0].Text, "; ")
		return why
	}
	s.Scan(second)
	for i, c := range []struct {
		others, down bool
		want         string
	}{
		{false, false, "the old link carries the same flows again: they go to and fro"},
		{true, false, "the old link still carries others: a reroute"},
		{false, true, "the old link is down: a failure"},
	} {
		if got := run(int64(10+100*i)*second, c.others, c.down); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// Of packets that look alike the next one cuts short what is told of the one before, which is finished before others of
// its flow that came into the network earlier. That makes these no stragglers: if they change their path it is seen.
func TestChangeAfterPart(t *testing.T) {
	packet, changes := startChanges(t)
	packet(second, 9000, 1, 0)
	packet(second+500*millisecond, 5000, 3, 3)
	packet(second+510*millisecond, 7000, 3, 4)
	packet(second+511*millisecond, 6500, 3, 3) // this is one
	changes(1)
}

// If the first packet by the new path is put together before any by the old one, those that come behind it show that
// the flow changed its path: once, however many there are. One that is cut short shows nothing.
func TestChangeBeforeFirst(t *testing.T) {
	packet, changes := startChanges(t)
	packet(second, 9000, 3, 4)
	packet(second+100*millisecond, 8000, 2, 4)
	changes(0)
	packet(second+500*millisecond, 5000, 3, 3)
	packet(second+501*millisecond, 5500, 3, 3)
	packet(second+600*millisecond, 9900, 3, 4)
	changes(1)
	packet(second+700*millisecond, 9990, 3, 3) // back
	changes(2)
}

// startChanges starts a shard. packet gives it a packet of one flow with that stamp at the first node, by a port of the
// second; changes compares how many changes of its path are told.
func startChanges(t *testing.T) (packet func(ns int64, stamp uint64, hops int, port uint32), changes func(uint64)) {
	shard := NewShard(Config{MaxFlows: 10, MaxPaths: 10, MaxDrops: 10, MaxQueues: 10, JoinPlaces: 16})
	packet = func(ns int64, stamp uint64, hops int, port uint32) {
		const has = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasIngressTime |
			telemetry.HasWideTimes
		r := telemetry.Report{
			Flags: telemetry.HasFlow | telemetry.Embedded, Flow: telemetry.FlowKey{Protocol: 17, DstPort: 80},
			Hops: []telemetry.Hop{
				{Has: has, NodeID: 1, IngressPort: 4, EgressPort: 2, IngressNs: stamp},
				{Has: has, NodeID: 2, IngressPort: 2, EgressPort: port, IngressNs: stamp + 100},
				{Has: has, NodeID: 2 + port, IngressPort: 1, EgressPort: 9, IngressNs: stamp + 200},
			}[:hops],
		}
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, ns)
	}
	return packet, func(want uint64) {
		t.Helper()
		flows, _ := (&Collector{Owners: []Owner{shard}}).Flows(FlowFilter{Limit: 1})
		noted := uint64(0)
		for _, c := range shard.changes.changes {
			noted += c.Flows
		}
		if flows[0].PathChanges != want || noted != want {
			t.Errorf("got %d changes of the path, %d by places, want %d", flows[0].PathChanges, noted, want)
		}
	}
}

// postcardsOf gives a shard those of a packet, of hops from first on, each with the TTL of its place.
func postcardsOf(s *Shard, ns int64, packet uint64, first int, hops ...telemetry.Hop) {
	b := telemetry.Batch{}
	for i, h := range hops {
		if h.NodeID == 0 {
			continue // nobody knows what it told
		}
		h.Has |= telemetry.HasNode
		if h.IngressPort > 0 {
			h.Has |= telemetry.HasIngressPort | telemetry.HasEgressPort
		}
		b.Add(&telemetry.Report{
			Flags: telemetry.Tracked | telemetry.HasFlow, TTL: uint8(63 - first - i), PacketID: packet,
			Flow: telemetry.FlowKey{Protocol: 17, DstPort: 80}, Local: h, NodeID: h.NodeID, HasNodeID: true,
		})
	}
	s.Process(&b, ns)
}

// Where postcards are lost, packets of one way show different parts of it: that is no change, as long as nothing that
// they tell contradicts that.
func TestPartsOfOneWay(t *testing.T) {
	hop := func(node, in, out uint32) telemetry.Hop {
		return telemetry.Hop{NodeID: node, IngressPort: in, EgressPort: out}
	}
	one, two, three, four := hop(1, 9, 1), hop(2, 1, 2), hop(3, 1, 2), hop(4, 1, 9)
	lost := telemetry.Hop{}
	type seen struct {
		first int
		hops  []telemetry.Hop
	}
	way := func(first int, hops ...telemetry.Hop) seen { return seen{first, hops} }
	for name, c := range map[string]struct {
		packets []seen
		changes uint64
	}{
		"beginning and end":  {[]seen{way(0, one, two), way(0, one, lost, three)}, 0},
		"overlapping":        {[]seen{way(0, one, two), way(1, two, three, four)}, 0},
		"one behind another": {[]seen{way(0, one), way(2, three), way(0, one, two, three, four)}, 0},
		"by another port":    {[]seen{way(0, one, two), way(0, hop(1, 9, 2), lost, three)}, 1},
		"another node":       {[]seen{way(0, one, two), way(0, one, hop(5, 1, 2), three)}, 1},
		"nearer":             {[]seen{way(0, one, lost, three, four), way(0, one, three)}, 1},
		"in elsewhere, without ports": {
			[]seen{way(0, hop(1, 0, 0), hop(2, 0, 0)), way(0, hop(3, 0, 0), hop(2, 0, 0))}, 1,
		},
	} {
		s := NewShard(DefaultConfig())
		for i, p := range c.packets {
			postcardsOf(s, second, uint64(i), p.first, p.hops...)
			endWait(s, second)
		}
		if flows, _ := (&Collector{Owners: []Owner{s}}).Flows(FlowFilter{Limit: 1}); flows[0].PathChanges != c.changes {
			t.Errorf("%s: %d changes of %+v", name, flows[0].PathChanges, flows[0].Paths)
		}
	}
}

// What postcards show happened when the first of a packet came, and not when they have waited for each other.
func TestPostcardsTellWhenTheyCame(t *testing.T) {
	s := NewShard(DefaultConfig())
	c := &Collector{Owners: []Owner{s}}
	log := eventlog.New(10)
	scanner := NewScanner(c, log)
	hop := func(node, in, out uint32) telemetry.Hop {
		return telemetry.Hop{NodeID: node, IngressPort: in, EgressPort: out}
	}
	const came, turned, last = 10*second + 3, 11*second + 7, 12*second + 9
	sent := []struct {
		ns   int64
		hops []telemetry.Hop
	}{
		{came, []telemetry.Hop{hop(1, 9, 1), hop(2, 1, 9)}},
		{turned, []telemetry.Hop{hop(1, 9, 2), hop(3, 1, 9)}},
		{last, []telemetry.Hop{hop(1, 9, 2), hop(3, 1, 2), hop(1, 3, 2), hop(3, 1, 9)}},
	}
	for ns, next := 9*second, 0; ns < 20*second; ns += second / 10 {
		for ; next < len(sent) && sent[next].ns < ns; next++ {
			postcardsOf(s, sent[next].ns, uint64(next), 0, sent[next].hops...)
		}
		s.Tick(ns)
		scanner.Scan(ns)
	}
	list, _ := log.Events(nil, 10)
	told := map[telemetry.EventKind]int64{}
	for i := range list {
		told[list[i].Kind] = list[i].Start.UnixNano()
		if list[i].End == nil || !list[i].End.Equal(list[i].Start) {
			t.Errorf("%v from %v to %v", list[i].Kind, list[i].Start, list[i].End)
		}
	}
	want := map[telemetry.EventKind]int64{
		telemetry.EventNewFlow: came, telemetry.EventPathChange: turned, telemetry.EventLoop: last,
	}
	if !maps.Equal(told, want) {
		t.Errorf("events begin at %v, want %v", told, want)
	}
	for _, p := range c.Links() {
		if from := p.First.UnixNano(); from != came && from != turned && from != last {
			t.Errorf("link %v: first packet at %v", p.FromPort, from)
		}
	}
}
