package join

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

func report(id uint64) *telemetry.Report {
	return &telemetry.Report{Flow: telemetry.FlowKey{Protocol: 17, DstPort: 53}, PacketID: id}
}

func hop(node uint32, ttl uint8) telemetry.Hop {
	return telemetry.Hop{NodeID: node, TTL: ttl, Has: telemetry.HasNode | telemetry.HasTTL}
}

// A table with few buckets finds what a list of the packets in their order has, whatever comes and goes.
func TestTableIsAList(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	table := New(8, 1000)
	var want []uint64
	for range 10_000 {
		switch r := report(g.Uint64N(32)); {
		case slices.Contains(want, r.PacketID):
			p := table.Find(r, Hash(r.PacketID, 1), Postcards)
			if p == nil || p.ID != r.PacketID {
				t.Fatalf("packet %d is not found", r.PacketID)
			}
			table.Free(p)
			want = slices.DeleteFunc(want, func(id uint64) bool { return id == r.PacketID })
		case table.Full():
			table.Settle(table.Oldest())
			want = want[1:]
		default:
			if p := table.Find(r, Hash(r.PacketID, 1), Postcards); p != nil {
				t.Fatalf("packet %d is found", r.PacketID)
			}
			table.Use(r, Hash(r.PacketID, 1), Postcards, 7)
			want = append(want, r.PacketID)
		}
		if table.Full() != (len(want) == 8) {
			t.Fatalf("full with %d of 8 packets", len(want))
		}
		var got []uint64
		for p := range table.All() {
			got = append(got, p.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// Packets of one identity that wait for different things, and probes, are different packets.
func TestFindTellsPacketsApart(t *testing.T) {
	table := New(8, 1000)
	r := report(1)
	p := table.Use(r, Hash(r.PacketID, 1), Postcards, 7)
	probe, flow := report(1), report(1)
	probe.Flags |= telemetry.Discard
	flow.Flow.DstPort = 80
	hash := Hash(r.PacketID, 1)
	if table.Find(r, hash, Postcards) != p || table.Find(r, hash, Stack) != nil ||
		table.Find(probe, hash, Postcards) != nil || table.Find(flow, hash, Postcards) != nil {
		t.Error("another packet is found, or none")
	}
}

// Two packets look the same; one is dropped. Whatever order their postcards come in, no packet was dropped before it
// came somewhere, and each has its own.
func TestDropOfAnother(t *testing.T) {
	drop := func(node uint32, ttl uint8) telemetry.Hop {
		h := hop(node, ttl)
		h.Has |= telemetry.HasDrop
		return h
	}
	for name, list := range map[string][]telemetry.Hop{
		"dropped behind the first node": {hop(1, 63), hop(2, 62), drop(1, 64)},
		"the drop comes first":          {drop(1, 64), hop(1, 63), hop(2, 62)},
		"in between":                    {hop(1, 63), drop(1, 64), hop(2, 62)},
		"further on":                    {drop(2, 63), hop(2, 62), hop(1, 63), hop(1, 63)},
	} {
		table := New(8, 1000)
		r := report(1)
		hash := Hash(r.PacketID, 1)
		for i := range list {
			p, spoken, _, alike := table.FindPostcards(r, hash, &list[i])
			if spoken || alike != (i > 0) {
				t.Errorf("%s: node %d told before: %v, one waits: %v", name, list[i].NodeID, spoken, alike)
			}
			if p == nil {
				p = table.Use(r, hash, Postcards, 7)
				p.Alike = alike
			}
			p.AddPostcard(&list[i])
		}
		n := 0
		for p := range table.All() {
			n++
			if hops := slices.Clone(p.Hops()); OrderByTTL(hops) || !p.Alike {
				t.Errorf("%s: %v are of one packet, or nothing waits that looks like it (%v)", name, hops, !p.Alike)
			}
		}
		if n != 2 {
			t.Errorf("%s: %d packets, want 2", name, n)
		}
	}
}

// What stands still does not make time go by, and who is behind is waited for, but not for ever.
func TestWindow(t *testing.T) {
	table := New(8, 500e6)
	r := report(1)
	p := table.Use(r, Hash(r.PacketID, 1), Postcards, 7)
	for step, over := range []bool{false, false, false, true} {
		table.Pass(1e15)
		table.Pass(-1e15)
		table.Arrived(0)
		if (table.Over() == p) != over {
			t.Errorf("step %d: over %v, want %v", step, !over, over)
		}
	}
	table.Settle(p)
	p = table.Use(r, Hash(r.PacketID, 1), Postcards, 7)
	for range 36 { // 5.4 s
		table.Pass(150e6)
		table.Arrived(1e15)
	}
	if table.Over() != nil {
		t.Error("over before who is behind was waited for")
	}
	table.Pass(150e6)
	table.Arrived(1e15)
	if table.Over() != p {
		t.Error("waits for ever")
	}
	table.Settle(p)
	p = table.Use(r, Hash(r.PacketID, 1), Postcards, 7)
	if table.End(); table.Over() != p {
		t.Error("waits after the end")
	}
}

// A postcard of a packet that waits no more is late for a window, unless its node has spoken.
func TestIsLate(t *testing.T) {
	table := New(8, 500e6)
	r, first, second, third := report(1), hop(1, 64), hop(2, 63), hop(3, 62)
	p := table.Use(r, Hash(r.PacketID, 1), Postcards, 7)
	p.AddPostcard(&first)
	if table.IsLate(Hash(r.PacketID, 1), &second) {
		t.Error("late while its packet waits")
	}
	table.Settle(p)
	if table.IsLate(Hash(r.PacketID, 1), &first) {
		t.Error("a node that spoke is late")
	}
	if !table.IsLate(Hash(r.PacketID, 1), &second) || table.IsLate(Hash(r.PacketID, 1), &second) {
		t.Error("a node that did not speak is not late, or twice")
	}
	for range 4 {
		table.Pass(150e6)
	}
	if table.IsLate(Hash(r.PacketID, 1), &third) {
		t.Error("late for ever")
	}
}

// A packet that looks like one that waits no more is another one if that was dropped in front of it, or if it was
// dropped in front of all that is known of that.
func TestIsNotLate(t *testing.T) {
	drop := func(node uint32, ttl uint8) telemetry.Hop {
		h := hop(node, ttl)
		h.Has |= telemetry.HasDrop
		return h
	}
	for _, c := range []struct {
		settled []telemetry.Hop
		hop     telemetry.Hop
		late    bool
	}{
		{[]telemetry.Hop{drop(4, 64)}, hop(4, 63), false}, // the same, sent again
		{[]telemetry.Hop{hop(1, 64), drop(2, 63)}, hop(3, 62), false},
		{[]telemetry.Hop{drop(2, 63)}, hop(1, 64), true},
		{[]telemetry.Hop{drop(2, 63)}, hop(1, 63), true}, // dropped as it came
		{[]telemetry.Hop{hop(1, 64), drop(3, 62)}, hop(2, 63), true},
		{[]telemetry.Hop{drop(2, 63)}, drop(3, 63), false},
		{[]telemetry.Hop{hop(4, 63)}, drop(4, 64), false},
		{[]telemetry.Hop{hop(1, 64), hop(2, 63)}, drop(3, 63), true},
		{[]telemetry.Hop{hop(2, 63)}, hop(1, 64), true},
		{[]telemetry.Hop{hop(2, 63)}, hop(3, 62), true},
	} {
		table := New(8, 500e6)
		r := report(1)
		p := table.Use(r, Hash(r.PacketID, 1), Postcards, 7)
		for i := range c.settled {
			p.AddPostcard(&c.settled[i])
		}
		for range 70 { // more than ten seconds
			table.Pass(longestStepNs)
		}
		table.Settle(p)
		table.Pass(longestStepNs)
		if got := table.IsLate(Hash(r.PacketID, 1), &c.hop); got != c.late {
			t.Errorf("%v behind %v: late %v, want %v", c.hop, c.settled, got, c.late)
		}
	}
}

func TestOrder(t *testing.T) {
	drop := hop(3, 63)
	drop.Has |= telemetry.HasDrop
	for _, c := range []struct {
		hops      []telemetry.Hop
		want      []uint32
		uncertain bool
	}{
		{[]telemetry.Hop{hop(2, 63), hop(3, 62), hop(1, 64)}, []uint32{1, 2, 3}, false},
		{[]telemetry.Hop{hop(2, 63), hop(3, 63), hop(1, 64)}, []uint32{1, 2, 3}, true},
		{[]telemetry.Hop{drop, hop(2, 63), hop(1, 64)}, []uint32{1, 2, 3}, false},
		{[]telemetry.Hop{drop, hop(2, 62), hop(1, 64)}, []uint32{1, 2, 3}, true}, // it had come less far
	} {
		uncertain := OrderByTTL(c.hops)
		for i := range c.hops {
			if c.hops[i].NodeID != c.want[i] || uncertain != c.uncertain {
				t.Fatalf("got %v, uncertain %v, want %v, %v", c.hops, uncertain, c.want, c.uncertain)
			}
		}
	}
}

// Of a loop with more hops than are kept, the drop that ends it is.
func TestMaxHops(t *testing.T) {
	table := New(1, 1000)
	p := table.Use(report(1), 1, Postcards, 7)
	for ttl := range uint8(2 * MaxHops) {
		h := hop(1, 64-ttl)
		p.AddPostcard(&h)
	}
	end := hop(2, 0)
	end.Has |= telemetry.HasDrop
	p.AddPostcard(&end)
	if got := p.Hops(); len(got) != MaxHops || got[MaxHops-1].NodeID != 2 || got[MaxHops-2].TTL != 64-MaxHops+2 {
		t.Errorf("got %v", got)
	}
	p.AddRecord(&end, 3)
	p.Add(&end)
	stack := slices.Repeat([]telemetry.Hop{hop(3, 0)}, 2*MaxHops)
	if p.AddStack(stack, &end); len(p.Hops()) != MaxHops {
		t.Errorf("got %v", p.Hops())
	}
}

func TestTableNoAllocs(t *testing.T) {
	table := New(8, 1000)
	r, h, id := report(0), hop(1, 64), uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		id++
		r.PacketID = id
		hash := Hash(r.PacketID, 1)
		if table.Find(r, hash, Postcards) == nil && !table.IsLate(hash, &h) {
			if table.Full() {
				table.Settle(table.Oldest())
			}
			table.Use(r, hash, Postcards, 7).AddPostcard(&h)
		}
		OrderByTTL(table.Oldest().Hops())
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
