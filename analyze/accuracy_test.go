package analyze

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// accuracyModes are the kinds of telemetry for which accuracy is computed: a configuration of INT nodes; none: that of
// the scenario, with which nodes report flows that are new or changed, and every flow once a second.
var accuracyModes = []struct {
	name, nodes string
	seeds       int      // so many of accuracySeeds
	alone       []uint64 // seeds with which it is as accurate alone as it must be with all of them: these take turns
}{
	{"stacks", everyPacket, 10, []uint64{0, 1, 2, 3, 4}},
	{"postcards", postcards, 10, []uint64{0, 1, 3, 4}},
	{"postcards, MX", everyPacket + "mode: mx\n", 5, []uint64{0, 1, 2, 3, 4}},
	{"stacks, 1 in 10", "watch: [{report_all: true, sample: 10}]\n", 5, nil},
	{"by events", "", 5, nil},
}

// accuracySeeds are those with which everything is run: with each of them there is other traffic.
var accuracySeeds = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}

// otherNetworks are scenarios that nothing was tuned for: a ring, and a fat tree.
var otherNetworks = []string{`
name: ring
duration: 16s
topology: {ring: {nodes: 6, hosts: 2, host_link: {rate: 50M}, ring_link: {rate: 100M, delay: 50us}}}
traffic:
  - {poisson: {load: 3%, sizes: web_search, max_size: 100kB}, ip: mixed}
  - {constant: {from: h1, to: h5}, rate: 1M, packet: 500, port: 6001}
  - {constant: {from: h3, to: h8}, rate: 1M, packet: 500, port: 6002}
  - {constant: {from: h5, to: h1}, rate: 1M, packet: 500, port: 6003}
faults:
  - {at: 3s, for: 2s, slow_switch: {node: pop2, extra: 300us}}
  - {at: 6s, for: 2s, blackhole: {node: pop2, prefix: 10.0.3.0/24}}
  - {at: 9s, for: 3s, gray_link: {link: [pop2, pop3], drop: 3%}}
  - {at: 13s, for: 1s, loop: {nodes: [pop1, pop2], prefix: 10.0.3.0/24}}
`, `
name: tree
duration: 14s
routing: {reconvergence: 500ms}
topology:
  graph:
    switches: [{name: gw1}, {name: gw2}, {name: gw3}, {name: agg1}, {name: agg2}, {name: core}]
    links:
      - {between: [gw1, agg1], rate: 50M, delay: 1ms}
      - {between: [gw2, agg1], rate: 50M, delay: 1ms}
      - {between: [gw3, agg2], rate: 50M, delay: 1ms}
      - {between: [agg1, core], rate: 50M, delay: 1ms}
      - {between: [agg2, core], rate: 50M, delay: 1ms}
    hosts:
      - {name: a, at: gw1, link: {rate: 20M}}
      - {name: b, at: gw1, link: {rate: 20M}}
      - {name: c, at: gw2, link: {rate: 20M}}
      - {name: d, at: gw3, link: {rate: 20M}}
      - {name: e, at: core, link: {rate: 20M}}
      - {name: f, at: core, link: {rate: 20M}}
traffic:
  - {poisson: {load: 2%, sizes: web_search, max_size: 100kB}, ip: mixed}
  - {constant: {from: a, to: c}, rate: 500k, packet: 500, port: 6001}
  - {constant: {from: d, to: e}, rate: 500k, packet: 500, port: 6002}
  - {constant: {from: b, to: f}, rate: 500k, packet: 500, port: 6003}
  - {constant: {from: f, to: c}, rate: 500k, packet: 500, port: 6004}
  - {constant: {from: e, to: d}, rate: 500k, packet: 500, port: 6005}
faults:
  - {at: 4s, for: 4s, link_down: {link: [agg1, core]}}
  - {at: 10s, for: 2s, gray_link: {link: [agg2, core], drop: 3%}}
`, `
name: fat-tree
duration: 16s
topology: {fat_tree: {k: 4, host_link: {rate: 50M}, fabric_link: {rate: 50M, delay: 5us}}}
traffic:
  - {poisson: {load: 6%, sizes: web_search, max_size: 100kB}, ip: mixed}
  - {incast: {senders: [h3, h5, h7, h9, h11, h13], to: h1, bytes: 20kB, every: 2s, jitter: 1ms}, transport: udp,
	port: 9000}
faults:
  - {at: 3s, for: 3s, link_down: {link: [pod1-agg1, core1]}}
  - {at: 7s, for: 3s, gray_link: {link: [pod2-edge1, pod2-agg1], drop: 3%}}
  - {at: 11s, for: 2s, slow_switch: {node: core3, extra: 500us}}
  - {at: 14s, for: 1s, report_loss: {every: 7}}
`}

// leastAccuracy is what recall and precision must be at least, in per cent, by kind of telemetry. What is not here must
// be 100. Below 1 recall says that this telemetry cannot show it. Packets that look alike, of which one cuts the
// postcards of the other short, cost a burst and a path change of 41 to 4445.
var leastAccuracy = map[string]map[telemetry.EventKind][2]float64{
	"stacks": {telemetry.EventGrayFailure: {80, 100}, telemetry.EventMicroburst: {100, 99}},
	"postcards": {
		telemetry.EventMicroburst: {99.7, 99}, telemetry.EventPathChange: {97, 100},
	},
	"postcards, MX": {
		telemetry.EventMicroburst: {99.7, 99}, telemetry.EventPathChange: {97, 100},
	},
	"stacks, 1 in 10": {
		telemetry.EventGrayFailure: {0, 0}, telemetry.EventMicroburst: {95, 99}, telemetry.EventPathChange: {45, 90},
		telemetry.EventLinkLost: {90, 75}, telemetry.EventECMPImbalance: {95, 100},
	},
	"by events": {
		telemetry.EventGrayFailure: {0, 0}, telemetry.EventMicroburst: {99, 99}, telemetry.EventPathChange: {100, 85},
		telemetry.EventLinkLost: {100, 75},
	},
}

// An occasion is what an event should tell of: it is found if there is an event of the kind about one of the subjects
// at that time, and an event is right if there is such an occasion.
type occasion struct {
	kind         telemetry.EventKind
	subjects     []string
	fromNs, toNs int64
	unsure       bool   // it need not be found
	drops        int    // or other moments of which it is made
	link         string // that failed

	found          bool
	startNs, endNs int64             // how far the nearest event is from the truth
	culprits       map[string]uint64 // bytes of flows
	named          map[string]bool
}

// slackNs is how long before or after an occasion an event about it may be: a scan.
const slackNs = scan.ScanNs

func (i *occasion) matches(kind telemetry.EventKind, subject string, fromNs, toNs int64) bool {
	slack := slackNs
	if isBurst(kind) {
		slack = 0
	}
	return (i.kind == kind || isBurst(i.kind) && isBurst(kind)) && slices.Contains(i.subjects, subject) &&
		fromNs <= i.toNs+slack && toNs >= i.fromNs-slack
}

func isBurst(k telemetry.EventKind) bool {
	return k == telemetry.EventMicroburst || k == telemetry.EventIncast
}

// An accuracy is how right events of a kind are.
type accuracy struct {
	occasions, found, events, right int
	startNs, endNs                  int64  // the farthest from the truth
	culprits, named                 uint64 // bytes of culprits of bursts, and of those that were named
}

// accuracies are how right events are, by their kind.
type accuracies map[telemetry.EventKind]*accuracy

// of returns the accuracy of a kind, or a new one.
func (s accuracies) of(kind telemetry.EventKind) *accuracy {
	if s[kind] == nil {
		s[kind] = &accuracy{}
	}
	return s[kind]
}

func (s accuracies) add(o accuracies) {
	for kind, b := range o {
		a := s.of(kind)
		a.occasions, a.found, a.events, a.right = a.occasions+b.occasions, a.found+b.found, a.events+b.events,
			a.right+b.right
		a.startNs, a.endNs = max(a.startNs, b.startNs), max(a.endNs, b.endNs)
		a.culprits, a.named = a.culprits+b.culprits, a.named+b.named
	}
}

// accuracyKinds are the kinds of events that the truth of a run tells of, in the order of the table.
var accuracyKinds = []telemetry.EventKind{
	telemetry.EventMicroburst, telemetry.EventPathChange, telemetry.EventLinkLost, telemetry.EventLoop,
	telemetry.EventBlackhole,
	telemetry.EventGrayFailure, telemetry.EventDropStorm, telemetry.EventLatencyAnomaly, telemetry.EventECMPImbalance,
	telemetry.EventClockJump, telemetry.EventReportLoss,
}

// Precision and recall of events over all scenarios and some networks more, compared with the truth, as
// docs/explanation/accuracy.md has them: with the seed and the kind of telemetry that TEST_SEED chooses, or with all.
func TestAccuracy(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	files, err := filepath.Glob(filepath.Join(test.Root(), "scenarios/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	chosen, all := test.Seed(t)
	for i, mode := range accuracyModes {
		seeds := accuracySeeds[:mode.seeds]
		if !all {
			if mode.alone == nil || chosen%3 != uint64(i) {
				continue
			}
			seeds = mode.alone[chosen/3%uint64(len(mode.alone)):][:1] // so that each meets each kind of telemetry
		}
		t.Run(mode.name, func(t *testing.T) {
			scores := accuracies{}
			for _, kind := range accuracyKinds {
				scores[kind] = &accuracy{}
			}
			var incidents incidentScore
			var merging sync.Mutex
			score := func(t *testing.T, s *scenario.Scenario, seed uint64) {
				t.Run(fmt.Sprint(s.Name, " ", seed), func(t *testing.T) {
					t.Parallel()
					one, broke := scoreRun(t, s, seed, mode.nodes)
					merging.Lock()
					defer merging.Unlock()
					scores.add(one)
					incidents.add(broke)
				})
			}
			t.Run("runs", func(t *testing.T) {
				for _, seed := range seeds {
					for _, file := range files {
						s, err := scenario.Load(file)
						if err != nil {
							t.Fatal(err)
						}
						score(t, s, seed)
					}
					for _, text := range otherNetworks {
						score(t, scenarioOf(t, text), seed)
					}
				}
			})
			var table strings.Builder
			fmt.Fprintf(&table, "\n%s\n| Events | True | Recall | Precision | Start within | End within |\n", mode.name)
			for _, kind := range accuracyKinds {
				a := scores[kind]
				recall, precision := percent(a.found, a.occasions), percent(a.right, a.events)
				fmt.Fprintf(&table, "| `%s` | %d | %.1f %% | %.1f %% of %d | %.2f ms | %.2f ms |\n", kind, a.occasions,
					recall, precision, a.events, float64(a.startNs)/1e6, float64(a.endNs)/1e6)
				least, ok := leastAccuracy[mode.name][kind]
				if !ok {
					least = [2]float64{100, 100}
				}
				if recall < least[0] || precision < least[1] {
					t.Errorf("%s: %d of %d found, %d of %d are right", kind, a.found, a.occasions, a.right, a.events)
				}
			}
			recall, precision := percent(incidents.found, incidents.faults), percent(incidents.right, incidents.told)
			fmt.Fprintf(&table, "| incidents | %d | %.1f %% | %.1f %% of %d | %.2f ms | %.2f ms |\n", incidents.faults,
				recall, precision, incidents.told, float64(incidents.startNs)/1e6, float64(incidents.endNs)/1e6)
			fmt.Fprintf(&table, "%.2f ms from when faults are made; %d of %d extents are exact, %d of %d lower bounds hold\n",
				float64(incidents.madeNs)/1e6, incidents.exact, incidents.known, incidents.below, incidents.bounds)
			// Drops that are too few for an event are in no extent.
			if mode.alone != nil {
				if recall < 95 || precision < 95 || incidents.startNs > scan.ScanNs ||
					incidents.endNs > scan.ScanNs*5/4 {
					t.Errorf("incidents: %d of %d found, %d of %d are right, from %v and to %v", incidents.found,
						incidents.faults, incidents.right, incidents.told, time.Duration(incidents.startNs),
						time.Duration(incidents.endNs))
				}
			}
			if incidents.exact < incidents.known || incidents.below < incidents.bounds {
				t.Errorf("of incidents, %d of %d extents are exact, and %d of %d lower bounds hold",
					incidents.exact, incidents.known, incidents.below, incidents.bounds)
			}
			bursts := scores[telemetry.EventMicroburst]
			named := percent(int(bursts.named), int(bursts.culprits))
			fmt.Fprintf(&table, "culprits named, by bytes: %.2f %%\n", named)
			if least := map[string]float64{
				"stacks": 99.9, "postcards": 99.8,
				"postcards, MX": 99.8,
			}[mode.name]; named < max(least, 90) {
				t.Errorf("%.2f %% of the bytes of culprits are named", named)
			}
			t.Log(table.String())
		})
	}
}

// percent returns how many of all those are, in per cent; 0 of 0 are all.
func percent(n, all int) float64 {
	if all == 0 {
		return 100
	}
	return 100 * float64(n) / float64(all)
}

// scoreRun runs a scenario and returns how right its events are.
func scoreRun(t *testing.T, s *scenario.Scenario, seed uint64, nodes string) (accuracies, incidentScore) {
	t.Helper()
	scores := accuracies{}
	if nodes != "" {
		s.INT.Text = []byte(nodes)
	}
	s.Duration = min(s.Duration, scenario.Duration(62*time.Second)) // a minute of demo, and a bit of the next
	switch s.Name {
	case "steady":
		s.Duration = scenario.Duration(4 * time.Second)
	case "polarisation":
		// postcards are joined half a second later, and two scans must show it
		s.Duration = scenario.Duration(6 * time.Second)
		for i := range s.Traffic {
			s.Traffic[i].Stop = s.Duration
		}
	}
	e := emulation{shards: 2}
	if seed > 0 {
		e.seed = 1000 + seed
	}
	v := e.runScenario(t, s)
	occasions := occasionsOf(v)
	list, _ := v.log.Events(nil, 100_000)
	slices.Reverse(list)
	broke := scoreIncidents(t, v, list)
	for n := range list {
		g := &list[n]
		kind := g.Kind
		if isBurst(kind) {
			kind = telemetry.EventMicroburst
		}
		if !slices.Contains(accuracyKinds, kind) {
			continue
		}
		a := scores.of(kind)
		a.events++
		from, to := g.Start.UnixNano()-v.start, int64(1<<62)
		if g.End != nil {
			to = g.End.UnixNano() - v.start
		}
		right := false
		for i := range occasions {
			w := &occasions[i]
			if !w.matches(g.Kind, subjectOf(g), from, to) {
				continue
			}
			right = true
			startNs, endNs := max(from-w.fromNs, w.fromNs-from), int64(0)
			if g.End != nil {
				endNs = max(to-w.toNs, w.toNs-to)
			}
			if !w.found || startNs < w.startNs {
				w.found, w.startNs, w.endNs = true, startNs, endNs
			}
			if d, ok := v.bursts.Burst(g.ID); ok {
				for _, c := range d.Culprits {
					if c.Flow != nil {
						w.named[fmt.Sprintln(c.Flow.Src, c.Flow.SrcPort, c.Flow.Dst, c.Flow.DstPort)] = true
					}
				}
			}
		}
		if right {
			a.right++
		} else if !isBurst(g.Kind) {
			t.Logf("made up, %.2f-%.2f: %s %s", float64(from)/1e9, float64(to)/1e9, g.Kind, g.Text)
		}
	}
	for i := range occasions {
		w := &occasions[i]
		a := scores.of(w.kind)
		if w.unsure {
			continue
		}
		a.occasions++
		for flow, bytes := range w.culprits {
			a.culprits += bytes
			if w.named[flow] {
				a.named += bytes
			}
		}
		if w.found {
			a.found++
			a.startNs, a.endNs = max(a.startNs, w.startNs), max(a.endNs, w.endNs)
		} else if !isBurst(w.kind) {
			t.Logf("missed, %.2f-%.2f: %s %v", float64(w.fromNs)/1e9, float64(w.toNs)/1e9, w.kind, w.subjects)
		}
	}
	return scores, broke
}

// subjectOf returns what an event is about, as occasions have it.
func subjectOf(e *telemetry.Event) string {
	number := func(p *uint32) uint32 {
		if p == nil {
			return 0
		}
		return *p
	}
	node, port, to := number(e.Node), number(e.Port), number(e.ToNode)
	switch e.Kind {
	case telemetry.EventMicroburst, telemetry.EventIncast:
		return fmt.Sprint(node, port, *e.Queue)
	case telemetry.EventPathChange:
		return fmt.Sprint(node, port, e.Evidence[0].Value)
	case telemetry.EventLinkLost:
		return fmt.Sprint(node, to)
	case telemetry.EventGrayFailure:
		return fmt.Sprint(min(node, to), max(node, to))
	case telemetry.EventDropStorm:
		return fmt.Sprint(node, port, *e.Reason)
	case telemetry.EventECMPImbalance:
		return fmt.Sprint(node, port)
	case telemetry.EventBlackhole:
		if e.ToNode != nil { // it says nothing, the node before it does
			node = to
		}
	}
	return fmt.Sprint(node)
}

// occasionsOf returns what happened in a run.
func occasionsOf(v *virtualCollector) (list []occasion) {
	links := map[string][2]uint32{}
	clocks := map[uint32]func(int64) int64{} // by which switches report
	flows := map[uint32]string{}
	open := map[int]*occasion{}
	ports := map[[2]uint32]string{} // their link, by node and port
	cut := map[string]bool{}        // links whose failure a packet met
	type place struct {
		kind    telemetry.EventKind
		subject string
	}
	moments := map[place][]int64{}
	paths := map[uint32][]*truth.Path{}
	var bursts []*truth.Burst
	var endNs int64
	var polarised [2]int64
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Switch:
			clocks[r.Node] = func(ns int64) int64 { return ns + r.OffsetNs + ns/1e3*r.DriftPPB/1e6 }
		case *truth.Link:
			links[r.Name] = [2]uint32{r.NodeA, r.NodeB}
			ports[[2]uint32{r.NodeA, r.PortA}], ports[[2]uint32{r.NodeB, r.PortB}] = r.Name, r.Name
		case *truth.Flow:
			flows[r.Flow] = truthEnds(r)
		case *truth.Path:
			paths[r.Flow] = append(paths[r.Flow], r)
		case *truth.Burst:
			bursts = append(bursts, r)
		case *truth.Drop:
			if r.Seen {
				k := place{telemetry.EventDropStorm, fmt.Sprint(r.Node, r.Out, r.Code)}
				moments[k] = append(moments[k], r.TimeNs)
			}
			if r.Reason == "port_down" || r.Reason == "link_down" {
				cut[ports[[2]uint32{r.Node, r.Out}]] = true
			}
			if r.Reason == "routing_miss" {
				k := place{telemetry.EventBlackhole, fmt.Sprint(r.Node)}
				moments[k] = append(moments[k], r.TimeNs)
			}
			if r.Reason == "gray_link" {
				l := links[r.Link]
				k := place{telemetry.EventGrayFailure, fmt.Sprint(min(l[0], l[1]), max(l[0], l[1]))}
				moments[k] = append(moments[k], r.TimeNs)
			}
		case *truth.Report:
			if r.Lost {
				k := place{telemetry.EventReportLoss, fmt.Sprint(r.Node)}
				moments[k] = append(moments[k], r.TimeNs)
			}
		case *truth.End:
			endNs = r.TimeNs
		case *truth.Fault:
			if r.Phase == "end" {
				if i := open[r.Fault]; i != nil {
					i.toNs = r.TimeNs
				}
				if r.Kind == "link_down" {
					if i := open[^r.Fault]; i != nil {
						i.toNs = r.TimeNs
					}
				}
				return
			}
			if r.Phase != "start" {
				return
			}
			i := &occasion{fromNs: r.TimeNs, toNs: 1 << 62}
			switch r.Kind {
			case "link_down":
				l := links[r.Link]
				i.kind, i.subjects, i.link = telemetry.EventLinkLost, []string{fmt.Sprint(l[0], l[1])}, r.Link
				open[^r.Fault] = &occasion{
					kind: i.kind, subjects: []string{fmt.Sprint(l[1], l[0])}, link: r.Link,
					fromNs: i.fromNs, toNs: i.toNs,
				}
			case "loop":
				i.kind = telemetry.EventLoop
				for _, n := range r.Nodes {
					i.subjects = append(i.subjects, fmt.Sprint(n))
				}
			case "slow_switch":
				i.kind, i.subjects = telemetry.EventLatencyAnomaly, []string{fmt.Sprint(r.Nodes[0])}
			case "clock":
				i.kind, i.subjects, i.toNs = telemetry.EventClockJump, []string{fmt.Sprint(r.Nodes[0])}, r.TimeNs
			case "polarisation":
				polarised = [2]int64{r.TimeNs, 1 << 62}
				return
			default:
				return
			}
			open[r.Fault] = i
		}
	})
	for _, i := range open {
		i.toNs = min(i.toNs, endNs)
		i.unsure = i.link != "" && !cut[i.link] // nobody used the link when it failed: it is silent as before
		list = append(list, *i)
	}
	for _, b := range bursts {
		i := occasion{
			kind: telemetry.EventMicroburst, subjects: []string{fmt.Sprint(b.Node, b.Port, b.Queue)},
			fromNs: clocks[b.Node](b.StartNs), toNs: clocks[b.Node](b.EndNs), culprits: map[string]uint64{},
			named: map[string]bool{},
		}
		i.unsure = b.Open // what the end of the run cuts off may not come to light
		for _, f := range b.Flows {
			if burst.IsCulprit(f.Bytes, b.Flows[0].Bytes, b.Bytes) {
				i.culprits[flows[f.Flow]] += f.Bytes
			}
		}
		list = append(list, i)
	}
	for k, at := range moments {
		slices.Sort(at)
		least := map[telemetry.EventKind]int{
			telemetry.EventDropStorm: drop.StormRate,
			telemetry.EventBlackhole: scan.BlackholeDrops,
		}[k.kind]
		runs := runsOf(k.kind, k.subject, at, least)
		list = append(list, runs...)
		if k.kind != telemetry.EventBlackhole {
			continue
		}
		for _, i := range runsOf(k.kind, k.subject, at, 1) { // of a few packets a second it is told if these go on
			i.unsure = true
			if !slices.ContainsFunc(runs, func(o occasion) bool { return o.toNs == i.toNs }) && i.drops >= least {
				list = append(list, i)
			}
		}
	}
	changes, unsure := changesOf(paths, flows)
	for k, at := range changes {
		slices.Sort(at)
		list = append(list, runsOf(telemetry.EventPathChange, k, at, 1)...)
	}
	for k, at := range unsure {
		slices.Sort(at)
		for _, i := range runsOf(telemetry.EventPathChange, k, at, 1) {
			i.unsure = true
			list = append(list, i)
		}
	}
	if polarised[0] > 0 {
		for _, p := range unevenPorts(paths, polarised[0]) {
			list = append(list,
				occasion{kind: telemetry.EventECMPImbalance, subjects: []string{p}, fromNs: polarised[0], toNs: endNs})
		}
	}
	return list
}

// runsOf returns the occasions that moments make: without a pause of scan.QuietNs, and at least so many within a
// second.
func runsOf(kind telemetry.EventKind, subject string, at []int64, least int) (list []occasion) {
	for len(at) > 0 {
		n := 1
		for n < len(at) && at[n]-at[n-1] <= scan.QuietNs {
			n++
		}
		least := max(1, least)
		for i := range n - least + 1 {
			if at[i+least-1]-at[i] < int64(time.Second) {
				list = append(list,
					occasion{kind: kind, subjects: []string{subject}, fromNs: at[i], toNs: at[n-1], drops: n - i})
				break
			}
		}
		at = at[n:]
	}
	return list
}

// changesOf returns when flows changed their path, by the switch where the paths part, the old and the new port. Those
// in open may have been or not: packets that left a host at the same moment arrived by different paths, and one may
// have overtaken the other.
func changesOf(paths map[uint32][]*truth.Path, flows map[uint32]string) (changes, open map[string][]int64) {
	changes, open = map[string][]int64{}, map[string][]int64{}
	byEnds := map[string][]*truth.Path{}
	for flow, list := range paths {
		ends := flows[flow]
		for i, p := range list {
			earlier := func(o *truth.Path) bool { return o.FromNs < p.FromNs }
			if !slices.ContainsFunc(list[i+1:], earlier) {
				byEnds[ends] = append(byEnds[ends], p)
				continue
			}
			// It stands before paths that began earlier: of a packet that came behind those of a later path. Whether
			// that is a change of the path depends on who looks.
			for _, o := range list {
				for _, k := range partingsOf(o, p) {
					open[k] = append(open[k], p.FromNs)
				}
			}
		}
	}
	for _, list := range byEnds {
		// What a loop let go took no other path from then on.
		list = slices.DeleteFunc(list, truthLoops)
		slices.SortStableFunc(list, func(a, b *truth.Path) int { return cmp.Compare(a.FromNs, b.FromNs) })
		for i := 0; i < len(list); {
			n := i + 1 // of the same moment
			for n < len(list) && list[n].FromNs == list[i].FromNs {
				n++
			}
			around := list[max(i-1, 0):min(n+1, len(list))]
			for _, a := range around {
				for _, b := range around {
					k, parts := partingOf(a, b)
					if parts && n-i > 1 {
						open[k] = append(open[k], list[i].FromNs)
					}
				}
			}
			if k, parts := partingOf(list[max(i-1, 0)], list[i]); parts && n-i == 1 &&
				(i < 2 || list[i-2].FromNs != list[i-1].FromNs) {
				changes[k] = append(changes[k], list[i].FromNs)
			}
			i = n
		}
	}
	return changes, open
}

// partingOf returns where two paths part, and by which ports.
func partingOf(a, b *truth.Path) (k string, parts bool) {
	for h := range min(len(a.Hops), len(b.Hops)) {
		x, y := a.Hops[h], b.Hops[h]
		if x.Node != y.Node || x.In != y.In {
			return k, false
		}
		if x.Out != y.Out {
			return fmt.Sprint(x.Node, x.Out, float64(y.Out)), true
		}
	}
	return k, false
}

// partingsOf returns where two paths part, both ways.
func partingsOf(a, b *truth.Path) (list []string) {
	for _, pair := range [][2]*truth.Path{{a, b}, {b, a}} {
		if k, parts := partingOf(pair[0], pair[1]); parts {
			list = append(list, k)
		}
	}
	return list
}

// truthLoops reports whether a path comes to a switch twice.
func truthLoops(p *truth.Path) bool {
	seen := map[uint32]bool{}
	for _, h := range p.Hops {
		if seen[h.Node] {
			return true
		}
		seen[h.Node] = true
	}
	return false
}

// unevenPorts returns the ports that carried more than nine tenths of what they share with others, since then.
func unevenPorts(paths map[uint32][]*truth.Path, sinceNs int64) (uneven []string) {
	type port struct{ node, out, to uint32 }
	carried := map[port]uint64{}
	for _, list := range paths {
		for _, p := range list {
			for _, h := range p.Hops[:len(p.Hops)-1] {
				k := port{h.Node, h.Out, p.Hops[len(p.Hops)-1].Node}
				carried[k] += 0
				if p.FromNs >= sinceNs {
					carried[k] += p.Packets
				}
			}
		}
	}
	shared, total := map[port]uint64{}, map[uint32]uint64{}
	for k, n := range carried {
		for o := range carried {
			if o.node == k.node && o.to == k.to && o.out != k.out {
				shared[port{k.node, k.out, 0}] += n
				total[k.node] += n
				break
			}
		}
	}
	for k, n := range shared {
		if float64(n) > 0.9*float64(total[k.node]) {
			uneven = append(uneven, fmt.Sprint(k.node, k.out))
		}
	}
	slices.Sort(uneven)
	return uneven
}
