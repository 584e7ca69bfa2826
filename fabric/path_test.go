package fabric

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
)

const manyFlows = `
duration: 1s
topology:
  fat_tree: {k: 4}
traffic:
  - {poisson: {load: 0.5%, sizes: 5kB}, ip: mixed}
truth: {sample_packets: 1}
`

// pathsOf groups the paths of a truth by flow.
func pathsOf(list []truth.Record) map[uint32][]*truth.Path {
	paths := map[uint32][]*truth.Path{}
	for _, p := range of[*truth.Path](list) {
		paths[p.Flow] = append(paths[p.Flow], p)
	}
	return paths
}

// ECMP keeps a flow on one path, and uses all paths.
func TestECMP(t *testing.T) {
	list, f := ran(t, manyFlows, Options{}, 300*time.Millisecond)
	cores := map[uint32]int{}
	for flow, paths := range pathsOf(list) {
		if len(paths) != 1 {
			t.Fatalf("flow %d has %d paths", flow, len(paths))
		}
		if hops := paths[0].Hops; len(hops) == 5 {
			cores[hops[2].Node]++
		} else if len(hops) != 1 && len(hops) != 3 {
			t.Errorf("flow %d: path %+v", flow, hops)
		}
	}
	total := 0
	for _, n := range cores {
		total += n
	}
	if len(cores) != 4 || total < 200 {
		t.Fatalf("flows by core: %v", cores)
	}
	for node, n := range cores {
		if share := float64(n) / float64(total); share < 0.15 || share > 0.35 {
			t.Errorf("core %d has %.2f of %d flows", node, share, total)
		}
	}
	if s := f.Stats(); s.Lost() != 0 {
		t.Errorf("%d packets lost", s.Lost())
	}
}

// With one hash everywhere, aggregation switches see only flows that hashed alike before: half of the cores stay idle.
func TestPolarisation(t *testing.T) {
	list, _ := ran(t, manyFlows+"faults: [{polarisation: {}}]\n", Options{}, 300*time.Millisecond)
	used := map[[2]uint32]bool{} // links from aggregation to core
	for _, paths := range pathsOf(list) {
		if hops := paths[0].Hops; len(hops) == 5 {
			used[[2]uint32{hops[1].Node, hops[1].Out}] = true
		}
	}
	if len(used) != 8 { // of 16
		t.Errorf("flows use %d links to cores: %v", len(used), used)
	}
}

// The path of a flow, the hops of its packets and its links agree.
func TestPathsAndHops(t *testing.T) {
	list, f := ran(t, manyFlows, Options{}, 200*time.Millisecond)
	type key struct {
		node, out uint32
	}
	next := map[key]truth.PathHop{} // what is behind a port
	for _, l := range f.links {
		next[key{l.a.node.id, l.a.id}] = truth.PathHop{Node: l.b.node.id, In: l.b.id}
		next[key{l.b.node.id, l.b.id}] = truth.PathHop{Node: l.a.node.id, In: l.a.id}
	}
	paths := pathsOf(list)
	for _, p := range paths {
		hops := p[0].Hops
		for i := 1; i < len(hops); i++ {
			if n := next[key{hops[i-1].Node, hops[i-1].Out}]; n.Node != hops[i].Node || n.In != hops[i].In {
				t.Fatalf("path %+v: hop %d does not follow", hops, i)
			}
		}
	}
	done := 0
	for _, h := range of[*truth.Hop](list) {
		if h.LatencyNs != h.OutNs-h.InNs || h.LatencyNs < 800 || h.InClock != f.epochNs+uint64(h.InNs) {
			t.Fatalf("times of %+v", *h)
		}
		if p := paths[h.Flow]; p != nil {
			if hop := p[0].Hops[h.Hop]; hop != (truth.PathHop{Node: h.Node, In: h.In, Out: h.Out, Queue: h.Queue}) {
				t.Fatalf("hop %+v is not on path %+v", *h, p[0].Hops)
			}
			done++
		}
	}
	if done < 1000 {
		t.Errorf("%d hops", done)
	}
}

const twoSpines = `
duration: 1s
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts: 2, host_link: {rate: 100M}, fabric_link: {rate: 100M}}
traffic:
  - {constant: {from: h1, to: h3}, rate: 10M, packet: 500}
truth: {sample_packets: 1}
`

// A flow moves to the other spine when its link goes down, after the time that routes need, and packets are lost until
// then.
func TestLinkDownMovesFlow(t *testing.T) {
	first := func(list []truth.Record) uint32 { return pathsOf(list)[1][0].Hops[1].Node }
	list, _ := ran(t, twoSpines, Options{}, 10*time.Millisecond)
	spine := map[uint32]string{3: "spine1", 4: "spine2"}[first(list)]

	list, f := ran(t, twoSpines+"faults: [{at: 200ms, for: 300ms, link_down: {link: [leaf1, "+spine+"]}}]\n", Options{},
		time.Second)
	paths := pathsOf(list)[1]
	if len(paths) != 3 || paths[0].Hops[1].Node == paths[1].Hops[1].Node ||
		!slices.Equal(paths[0].Hops, paths[2].Hops) {
		t.Fatalf("paths %v", paths)
	}
	const gap = 430e3 // between two packets, and more
	if p := paths[0]; p.UntilNs < 200e6-gap-100e3 || p.UntilNs > 200e6 {
		t.Errorf("the first path lasts until %d", p.UntilNs)
	}
	if p := paths[1]; p.FromNs < 250e6-gap || p.FromNs > 250e6+gap || p.UntilNs < 550e6-gap || p.UntilNs > 550e6 {
		t.Errorf("the second path is from %d to %d", p.FromNs, p.UntilNs)
	}
	drops := of[*truth.Drop](list)
	s := f.Stats()
	if lost := s.Lost(); lost < 115 || lost > 125 || lost != s.Dropped[ReasonPortDown]+s.Dropped[ReasonLinkDown] ||
		len(drops) != int(lost) {
		t.Errorf("%d packets were lost in 50 ms", lost) // 2323/s
	}
	for _, d := range drops {
		if d.TimeNs < 200e6 || d.TimeNs > 250e6+gap || d.Node != 1 || d.Place != "egress" && d.Place != "link" {
			t.Errorf("%+v", *d)
		}
	}
	faults := of[*truth.Fault](list)
	phases := []string{}
	for _, r := range faults {
		phases = append(phases, r.Phase)
		if r.Link != "leaf1-"+spine || r.Kind != "link_down" {
			t.Errorf("%+v", *r)
		}
	}
	if strings.Join(phases, " ") != "start converged end converged" || faults[1].TimeNs != 250e6 {
		t.Errorf("phases %v", phases)
	}
}

// Each packet that arrives is on a path of its flow, also one that comes late, and one that went in a loop.
func TestEveryPacketOnAPath(t *testing.T) {
	for _, name := range []string{"loop", "link-failure"} {
		text, err := os.ReadFile("../scenarios/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		list, _ := ran(t, string(text), Options{}, 4*time.Second)
		paths, looped := pathsOf(list), uint64(0)
		for _, fl := range of[*truth.Flow](list) {
			n := uint64(0)
			for _, p := range paths[fl.Flow] {
				n += p.Packets
				if len(p.Hops) > 5 {
					looped += p.Packets
				}
			}
			if n != fl.PacketsDelivered {
				t.Errorf("%s: flow %d: %d packets on paths, %d delivered", name, fl.Flow, n, fl.PacketsDelivered)
			}
		}
		if name == "loop" && looped == 0 {
			t.Error("no packet came out of the loop: that proves little")
		}
	}
}
