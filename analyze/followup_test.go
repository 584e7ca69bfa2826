package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// slowPacket makes the report of packet id with the stack of nodes, as it comes from a sink with the number 9; behind a
// follow-up packet the newest of them has a slow path.
func slowPacket(id uint64, flags telemetry.Flags, ttl uint8, nodes ...uint32) telemetry.Report {
	r := telemetry.Report{
		Flags: flags | telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded, TTL: ttl, PacketID: id, Bytes: 100,
		Flow:  telemetry.FlowKey{Src: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}), Protocol: 17, SrcPort: 5, DstPort: 6},
		Local: telemetry.Hop{Has: telemetry.HasNode, NodeID: 9},
	}
	for _, n := range nodes {
		h := telemetry.Hop{Has: telemetry.HasNode | telemetry.HasLatency, NodeID: n, LatencyNs: uint64(n)}
		r.Hops = append(r.Hops, h)
	}
	return r
}

// The records of follow-up packets come into the path of their packet, in whatever order reports arrive, and are no
// packets.
func TestFollowUps(t *testing.T) {
	const original, followUp = telemetry.SlowPaths, telemetry.FollowUp
	for name, test := range map[string]struct {
		reports             []telemetry.Report
		want                string
		packets, incomplete uint64
		uncertain           bool
	}{
		"behind the packet": {
			[]telemetry.Report{slowPacket(1, original, 60, 1, 3), slowPacket(1, followUp, 60, 1, 2)},
			"1 ?>?, 2 ?>?, 3 ?>?, 9 ?>?", 1, 0, false,
		},
		"in front of the packet": {
			[]telemetry.Report{slowPacket(1, followUp, 60, 1, 2), slowPacket(1, original, 60, 1, 3)},
			"1 ?>?, 2 ?>?, 3 ?>?, 9 ?>?", 1, 0, false,
		},
		"of the last node": {
			[]telemetry.Report{slowPacket(1, original, 60, 1, 2), slowPacket(1, followUp, 60, 1, 2, 3)},
			"1 ?>?, 2 ?>?, 3 ?>?, 9 ?>?", 1, 0, false,
		},
		"of two nodes apart": {
			[]telemetry.Report{
				slowPacket(1, original, 59, 1, 3),
				slowPacket(1, followUp, 59, 1, 3, 4), slowPacket(1, followUp, 59, 1, 2),
			},
			"1 ?>?, 2 ?>?, 3 ?>?, 4 ?>?, 9 ?>?", 1, 0, false,
		},
		"of two nodes side by side": {
			[]telemetry.Report{
				slowPacket(1, original, 60, 1), slowPacket(1, followUp, 60, 1, 2), slowPacket(1, followUp, 60, 1, 3),
			},
			"1 ?>?, 2 ?>?, 3 ?>?, 9 ?>?", 1, 0, true,
		},
		"lost": {
			[]telemetry.Report{
				slowPacket(1, original, 60, 1, 3), slowPacket(1, followUp, 60, 1, 2),
				slowPacket(2, original, 60, 1, 3),
			},
			"1 ?>?, 2 ?>?, 3 ?>?, 9 ?>?", 1, 1, false,
		},
		"of no packet that is known": {
			[]telemetry.Report{slowPacket(1, followUp, 60, 1, 2)}, "", 0, 0, false,
		},
		"there is none": {
			[]telemetry.Report{slowPacket(1, original, 61, 1, 3)}, "1 ?>?, 3 ?>?, 9 ?>?", 1, 0, false,
		},
	} {
		s := NewShard(DefaultConfig())
		now := second
		for _, r := range test.reports {
			s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, now)
			now += second / 1000
		}
		endWait(s, now)
		c := &Collector{Owners: []Owner{s}}
		paths, _ := c.Paths(10)
		got := ""
		if len(paths) > 0 {
			got = route(paths[0].Hops)
		}
		if got != test.want || len(paths) > 1 {
			t.Errorf("%s: got %d paths, %q, want %q", name, len(paths), got, test.want)
			continue
		}
		flows, _ := c.Flows(FlowFilter{Limit: 10})
		if want := test.packets + test.incomplete; len(flows) != 1 || flows[0].Packets != want ||
			flows[0].Reports != uint64(len(test.reports)) {
			t.Errorf("%s: got %+v, want %d packets", name, flows, want)
		}
		if len(paths) == 0 {
			continue
		}
		if p := &paths[0]; p.Packets != test.packets || p.Incomplete != test.incomplete ||
			p.Uncertain != test.uncertain {
			t.Errorf("%s: got %+v", name, p)
		}
		for _, l := range c.Links() {
			if test.uncertain || l.From == 1 && l.To == 3 && len(test.reports) > 1 {
				t.Errorf("%s: there is no such link: %+v", name, l)
			}
		}
	}
}

// Routers that told nothing are known by the TTL that the source tells the sink: no link leads past them.
func TestHiddenHopsOfStacks(t *testing.T) {
	const told = telemetry.HasFirstTTL
	for name, test := range map[string]struct {
		flags      telemetry.Flags
		first, ttl uint8
		nodes      []uint32
		want       string
		uncertain  bool
		links      int
		followUp   []uint32
	}{
		"none":          {told, 64, 61, []uint32{1, 2}, "1 ?>?, 2 ?>?, 9 ?>?", false, 2, nil},
		"one":           {told, 64, 61, []uint32{1}, "1 ?>?, missing(1) ?>?, 9 ?>?", false, 0, nil},
		"two, anywhere": {told, 9, 4, []uint32{1, 2}, "1 ?>?, 2 ?>?, missing(2) ?>?, 9 ?>?", true, 0, nil},
		"not told":      {0, 64, 50, []uint32{1, 2}, "1 ?>?, 2 ?>?, 9 ?>?", false, 2, nil},
		"not taken yet": {told, 64, 62, []uint32{1, 2}, "1 ?>?, 2 ?>?, 9 ?>?", false, 2, nil},
		"with a slow path": {
			told | telemetry.SlowPaths, 64, 60,
			[]uint32{1},
			"1 ?>?, 2 ?>?, missing(1) ?>?, 9 ?>?", true, 0,
			[]uint32{1, 2},
		},
	} {
		s := NewShard(DefaultConfig())
		now := second
		for range 2 {
			r := slowPacket(1, test.flags, test.ttl, test.nodes...)
			r.FirstTTL = test.first
			s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, now)
			if test.followUp != nil {
				r = slowPacket(1, telemetry.FollowUp, test.ttl, test.followUp...)
				s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, now)
			}
			endWait(s, now)
			now += 2 * second
		}
		c := &Collector{Owners: []Owner{s}}
		paths, _ := c.Paths(10)
		if len(paths) != 1 || route(paths[0].Hops) != test.want || paths[0].Uncertain != test.uncertain ||
			paths[0].Packets != 2 {
			t.Errorf("%s: got %+v, want %s", name, paths, test.want)
		}
		if links := c.Links(); len(links) != test.links {
			t.Errorf("%s: got links %+v, want %d", name, links, test.links)
		}
	}
}
