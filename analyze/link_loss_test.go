package analyze

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// lossyNetworks are networks in which some links lose packets. In those with several ways there is TCP alone.
var lossyNetworks = []string{
	`{leaf_spine: {leaves: 4, spines: 3, hosts: 3, host_link: {rate: 100M}, fabric_link: {rate: 100M, delay: 5us}}}`,
	`{ring: {nodes: 5, hosts: 2, host_link: {rate: 100M}, ring_link: {rate: 200M, delay: 20us}}}`,
	`{fat_tree: {k: 4, host_link: {rate: 50M}, fabric_link: {rate: 50M, delay: 5us}}}`,
	`{graph: {
    switches: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}],
    links: [
      {between: [a, b], rate: 100M}, {between: [b, c], rate: 100M}, {between: [c, d], rate: 100M},
      {between: [d, a], rate: 100M}, {between: [a, e], rate: 100M}, {between: [c, e], rate: 100M},
      {between: [b, f], rate: 100M}, {between: [d, f], rate: 100M}, {between: [e, f], rate: 100M},
    ],
    hosts: [
      {name: h1, at: a, link: {rate: 50M}}, {name: h2, at: b, link: {rate: 50M}}, {name: h3, at: c, link: {rate: 50M}},
      {name: h4, at: d, link: {rate: 50M}}, {name: h5, at: e, link: {rate: 50M}}, {name: h6, at: f, link: {rate: 50M}},
      {name: h7, at: a, link: {rate: 50M}}, {name: h8, at: c, link: {rate: 50M}},
    ]}}`,
}

// numberedStacks is a configuration of nodes whose sources number the packets of a flow.
const numberedStacks = "mode: md\ncarrier: vxlan-gpe\ndestination: [sequence]\n"

// lossyScenario returns a network with three links that lose packets, one after the other.
func lossyScenario(t *testing.T, seed uint64, tunnel bool) *scenario.Scenario {
	t.Helper()
	carried := ""
	if tunnel {
		carried = ", tunnel: vxlan_gpe, vni: 4711"
	}
	r := rand.New(rand.NewPCG(seed, 7))
	text := fmt.Sprintf(`
name: lossy
seed: %d
duration: 26s
topology: %s
traffic:
  - {poisson: {load: %d%%, sizes: web_search, max_size: %dkB}, ip: mixed%s}
`, 100+seed, lossyNetworks[seed%uint64(len(lossyNetworks))], 2+r.IntN(3), 60+r.IntN(200), carried)
	s := scenarioOf(t, text)
	var links []scenario.Link // between switches: who loses packets on the way to a host, INT does not see
	for _, l := range s.Graph.Links {
		if !slices.ContainsFunc(s.Graph.Hosts, func(h scenario.Host) bool {
			return h.Name == l.Between[0] || h.Name == l.Between[1]
		}) {
			links = append(links, l)
		}
	}
	r.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	text += "faults:\n"
	for i, l := range links[:3] {
		text += fmt.Sprintf("  - {at: %ds, for: 7s, gray_link: {link: [%s, %s], drop: %.2f%%}}\n", 2+8*i, l.Between[0],
			l.Between[1], 0.3+2*r.Float64())
	}
	return scenarioOf(t, text)
}

// lossWindowNs and leastLost are of links that must be found: they lose so many packets within that time.
const lossWindowNs, leastLost = 10 * int64(time.Second), 20

// A lossyLink is what a link lost, in both directions.
type lossyLink struct {
	name     string
	at       []int64
	lost     [2]uint64
	must     bool // lost enough in one direction to be found
	reported bool
}

// Links that lose packets are found, each by the event that says so, and no others are. Every other kind of
// telemetry has its turn, with two seeds.
func TestLossOfLinks(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	chosen, all := test.Seed(t)
	for m, mode := range []struct {
		name, nodes string
		least       float64
		numbered    bool // sources number packets
	}{
		{"stacks", everyPacket, 90, false},
		{"stacks with numbers", numberedStacks + everyPacket, 95, true},
		{"stacks with numbers, reported on change", numberedStacks, 0, true}, // nothing need be found
		{"postcards", postcards, 95, false},
		{"postcards, MX", everyPacket + "mode: mx\n", 95, false},
	} {
		if !all && (uint64(m)+chosen)%2 > 0 {
			continue
		}
		var merging sync.Mutex
		var must, found, events, right, estimates, within int
		t.Run(mode.name, func(t *testing.T) {
			for seed := range uint64(10) {
				if !all && (seed+uint64(m)+chosen)%5 != 0 {
					continue
				}
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					t.Parallel()
					s := lossyScenario(t, seed, mode.numbered)
					s.INT.Text = []byte(mode.nodes)
					v := emulation{shards: 2}.runScenario(t, s)
					links := lossyLinksOf(v)
					merging.Lock()
					defer merging.Unlock()
					n, in := estimatesRight(t, v, links)
					estimates, within = estimates+n, within+in
					for _, e := range v.eventsOf(telemetry.EventGrayFailure) {
						events++
						l := links[[2]uint32{min(*e.Node, *e.ToNode), max(*e.Node, *e.ToNode)}]
						if l == nil {
							t.Errorf("made up: %s", e.Text)
							continue
						}
						right++
						l.reported = true
					}
					for _, l := range links {
						if l.must {
							must++
							if l.reported {
								found++
							} else {
								t.Logf("missed: %s, %d and %d packets", l.name, l.lost[0], l.lost[1])
							}
						}
					}
				})
			}
		})
		t.Logf("%s: %d of %d found, %d of %d right, %d of %d estimates", mode.name, found, must, right, events, within,
			estimates)
		if percent(within, estimates) < 90 {
			t.Errorf("%s: the share that links lose is within %d of %d intervals", mode.name, within, estimates)
		}
		// Of the few links of a turn one may be missed.
		if percent(found, must) < mode.least && (all || must-found > 1) || right < events {
			t.Errorf("%s: %d of %d found, %d of %d right", mode.name, found, must, right, events)
		}
	}
}

// lossyLinksOf returns the links that lost packets without a reason, by their ends.
func lossyLinksOf(v *virtualCollector) map[[2]uint32]*lossyLink {
	ends := map[string][2]uint32{}
	links := map[[2]uint32]*lossyLink{}
	names := map[uint32]string{}
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Switch:
			names[r.Node] = r.Name
		case *truth.Link:
			ends[r.Name] = [2]uint32{r.NodeA, r.NodeB}
		case *truth.Drop:
			if r.Reason != "gray_link" {
				return
			}
			a, b := ends[r.Link][0], ends[r.Link][1]
			if a == 0 || b == 0 {
				return // of a host
			}
			k := [2]uint32{min(a, b), max(a, b)}
			if links[k] == nil {
				links[k] = &lossyLink{name: strings.Join([]string{names[k[0]], names[k[1]]}, "-")}
			}
			l := links[k]
			l.at = append(l.at, r.TimeNs)
			if r.Node == k[0] {
				l.lost[0]++
			} else {
				l.lost[1]++
			}
		}
	})
	for _, l := range links {
		slices.SortFunc(l.at, cmp.Compare)
		for i := leastLost - 1; i < len(l.at); i++ {
			l.must = l.must || l.at[i]-l.at[i-leastLost+1] <= lossWindowNs
		}
	}
	return links
}

// estimatesRight returns of how many links the loss was estimated, and of how many of these the true share is within
// the interval.
func estimatesRight(t *testing.T, v *virtualCollector, links map[[2]uint32]*lossyLink) (all, right int) {
	t.Helper()
	sent := map[[2]uint32]uint64{}
	v.each(func(r truth.Record) {
		if p, ok := r.(*truth.Path); ok {
			for i := range p.Hops[1:] {
				sent[[2]uint32{p.Hops[i].Node, p.Hops[i+1].Node}] += p.Packets
			}
		}
	})
	for _, l := range v.Links() {
		e := l.Loss
		switch {
		case e == nil:
			t.Errorf("%s-%s: nothing is said", l.FromName, l.ToName)
			continue
		case e.Share == nil:
			if e.Unknown == "" {
				t.Errorf("%s-%s: unknown without a reason", l.FromName, l.ToName)
			}
			continue
		}
		lost := uint64(0)
		if truth := links[[2]uint32{min(l.From, l.To), max(l.From, l.To)}]; truth != nil {
			if lost = truth.lost[0]; l.From > l.To {
				lost = truth.lost[1]
			}
		}
		share := float64(lost) / float64(max(sent[[2]uint32{l.From, l.To}]+lost, 1))
		all++
		if share >= *e.Lower && share <= *e.Upper {
			right++
		} else {
			t.Logf("%s-%s lost %d, %.5f: %.5f to %.5f by %s, %d of %d", l.FromName, l.ToName, lost, share, *e.Lower,
				*e.Upper, e.Method, e.Lost, e.Sent)
		}
		if lost == 0 && *e.Lower > 0 {
			t.Errorf("%s-%s lost nothing: got %+v", l.FromName, l.ToName, e)
		}
	}
	return all, right
}
