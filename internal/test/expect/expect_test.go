package expect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/fabric/truth"
)

const (
	left  = "1:4>2 2:1>2 3:1>4"
	round = "1:4>3 3:3>4"
)

// long and short are the ways of a packet, with the reports that its switches send.
func long(reports ...string) []hop {
	return []hop{{1, 4, 2, reports[0], false}, {2, 1, 2, reports[1], false}, {3, 1, 4, reports[2], false}}
}

func short(reports ...string) []hop {
	return []hop{{1, 4, 3, reports[0], false}, {3, 3, 4, reports[1], false}}
}

// had spells out the paths of answers: packets, incomplete ones and flows.
func had(a *Answers) string {
	var list []string
	for i := range a.Paths {
		p := &a.Paths[i]
		list = append(list, fmt.Sprintf("%s = %d+%d (%d)", route(p.Hops), p.Packets, p.Incomplete, p.Flows))
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}

func TestStacks(t *testing.T) {
	s := newSmall()
	s.flow(1, "10.0.1.1", 10)
	s.packet(1, long("", "", "sent")...)
	s.packet(1, short("", "sent")...)
	s.packet(1, long("", "", "lost")...)
	s.packet(1, long("", "", "sent")...)
	s.packet(1, hop{1, 4, 2, "", false}, hop{2, 1, 2, "sent", true})
	s.packet(1, hop{1, 4, 2, "", false}, hop{2, 1, 2, "lost", true})
	s.packet(1, long("", "", "lost")...)
	o := options(MD)
	o.Overhead = func(_ *truth.Flow, written int) int { return 10 * written }
	a := s.read(t).Answers(o)
	if got, want := had(a), left+" = 2+0 (0); 1:4>2 2:1>2! = 1+0 (1); "+round+" = 1+0 (0)"; got != want {
		t.Errorf("paths:\ngot  %s\nwant %s", got, want)
	}
	f := &a.Flows[0]
	if f.Packets != 4 || f.Reports != 4 || f.Drops != 1 || f.PathChanges != 2 || f.DSCP != 10 || f.Bytes != 3*100+90 {
		t.Errorf("flow: %+v", f)
	}
	if len(f.Paths) != 2 || route(f.Paths[1].Hops) != left || f.Paths[1].Packets != 2 {
		t.Errorf("kept paths: %+v", f.Paths)
	}
	for i := range a.Paths {
		if p := &a.Paths[i]; route(p.Hops) == left {
			// Latency of switch n is n*100 ns; a packet enters switch 1 at 10000*n ns, and leaves switch 3 2300 ns
			// later.
			if spread(p.Hops[1].LatencyNs) != "2 from 200 to 200, mean 200" ||
				spread(p.Residence) != "2 from 600 to 600, mean 600" ||
				spread(p.EndToEnd) != "2 from 2300 to 2300, mean 2300" || p.Hops[0].Queue.Mean != 2.5 ||
				p.Hops[0].Queue.Max != 4 {
				t.Errorf("path: %+v", p)
			}
		}
	}
	if len(a.Drops) != 1 || a.Drops[0].Packets != 1 || a.Drops[0].Reason != 51 {
		t.Errorf("drops: %+v", a.Drops)
	}
	if len(a.Exporters) != 2 || a.Unseen != 2 {
		t.Errorf("exporters: %+v, %d unseen", a.Exporters, a.Unseen)
	}
	for _, x := range a.Exporters {
		// of switch 2 the last report is lost, of switch 3 one in between too
		if want := uint64(*x.Node - 2); *x.Lost != want {
			t.Errorf("exporter %d: lost %d, want %d", *x.Node, *x.Lost, want)
		}
	}
	links := map[string]uint64{}
	for i := range a.Links {
		links[linkName(&a.Links[i])] = a.Links[i].Packets
	}
	if fmt.Sprint(links) != "map[1:2 > 2:1:3 1:3 > 3:3:1 2:2 > 3:1:2]" {
		t.Errorf("links: %v", links)
	}
}

func TestMaxHops(t *testing.T) {
	s := newSmall()
	s.flow(1, "10.0.1.1", 0)
	s.packet(1, long("", "", "sent")...)
	o := options(MD)
	o.MaxHops = 1
	if got, want := had(s.read(t).Answers(o)), "1:4>2 ?:?>? 3:1>4 = 1+0 (1)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPostcards(t *testing.T) {
	s := newSmall()
	s.flow(1, "10.0.1.1", 0)
	s.flow(2, "10.0.1.2", 0)
	s.packet(1, long("sent", "lost", "sent")...) // nobody knows yet where it passed
	s.packet(1, long("sent", "sent", "sent")...) // no path change: more came
	s.packet(1, long("sent", "lost", "sent")...)
	s.packet(1, long("sent", "sent", "lost")...)
	s.packet(1, long("lost", "lost", "sent")...)
	s.packet(1, short("sent", "sent")...) // no gap: another path
	s.packet(2, hop{1, 4, 2, "sent", false}, hop{2, 1, 2, "sent", true})
	a := s.read(t).Answers(options(XD))
	want := left + " = 1+3 (0); 1:4>2 2:1>2! = 1+0 (1); 1:4>2 ?1 3:1>4 = 1+0 (0); " + round + " = 1+0 (1)"
	if got := had(a); got != want {
		t.Errorf("paths:\ngot  %s\nwant %s", got, want)
	}
	if f := &a.Flows[0]; f.Packets != 6 || f.Reports != 12 || f.PathChanges != 1 {
		t.Errorf("flow: %+v", f)
	}
}

// Two packets that look alike: the second begins where a switch speaks again.
func TestAlike(t *testing.T) {
	s := newSmall()
	s.flow(1, "10.0.1.1", 0)
	s.packet(1, long("sent", "sent", "sent")...)
	s.packet(1, long("sent", "sent", "sent")...)
	o := options(XD)
	o.Identity = make([]uint64, 6)
	a := s.read(t).Answers(o)
	if got, want := had(a), left+" = 2+0 (1)"; got != want || len(a.FlowRules) != 1 {
		t.Errorf("got %s with rules %v, want %s", got, a.FlowRules, want)
	}
}

func TestSilent(t *testing.T) {
	s := newSmall()
	s.flow(1, "10.0.1.1", 0)
	s.packet(1, hop{1, 4, 2, "", true})
	read := s.read(t)
	read.Drops[0].Seen = false
	if got := read.Silent(); len(got) != 1 ||
		got[0] != (Silent{Place: "queue", Reason: "traffic_manager", Node: 1, Packets: 1}) {
		t.Errorf("got %+v", got)
	}
}

// Whatever an answer says wrongly, the comparison finds it and names it.
func TestPlantedDifferences(t *testing.T) {
	s := newSmall()
	s.flow(1, "10.0.1.1", 10)
	s.packet(1, long("", "", "sent")...)
	s.packet(1, short("", "sent")...)
	s.packet(1, hop{1, 4, 2, "", false}, hop{2, 1, 2, "sent", true})
	want := s.read(t).Answers(options(MD))
	one := uint32(1)
	for what, plant := range map[string]func(a *Answers){
		"flow":               func(a *Answers) { a.Flows = nil },
		"again":              func(a *Answers) { a.Flows = append(a.Flows, a.Flows[0]) },
		": outer":            func(a *Answers) { a.Flows[0].Outer = &a.Flows[0].Endpoints },
		": dscp":             func(a *Answers) { a.Flows[0].DSCP++ },
		": reports":          func(a *Answers) { a.Flows[0].Reports++ },
		": packets":          func(a *Answers) { a.Flows[0].Packets++ },
		": bytes":            func(a *Answers) { a.Flows[0].Bytes++ },
		": drops":            func(a *Answers) { a.Flows[0].Drops++ },
		": path changes":     func(a *Answers) { a.Flows[0].PathChanges++ },
		": residence":        func(a *Answers) { a.Flows[0].Residence.Max++ },
		": end to end":       func(a *Answers) { a.Flows[0].EndToEnd = nil },
		": path 0":           func(a *Answers) { slices.Reverse(a.Flows[0].Paths) },
		"hop 1 latency":      func(a *Answers) { a.Flows[0].Paths[1].Hops[0].LatencyNs.Min-- },
		"hop 2 queue":        func(a *Answers) { a.Flows[0].Paths[1].Hops[1].Queue.Max++ },
		" on ":               func(a *Answers) { a.Flows[0].Paths[1].Packets++ },
		"path ":              func(a *Answers) { a.Paths = a.Paths[1:] },
		"path 1:":            func(a *Answers) { a.Paths[0].Hops[0].IngressPort = &one },
		": incomplete":       func(a *Answers) { a.Paths[0].Incomplete++ },
		": uncertain":        func(a *Answers) { a.Paths[0].Uncertain = true },
		": clock errors":     func(a *Answers) { a.Paths[0].ClockErrors++ },
		": flows":            func(a *Answers) { a.Paths[0].Flows++ },
		"hop 1 name":         func(a *Answers) { a.Paths[0].Hops[0].Name = "x" },
		"hop 1 last queue":   func(a *Answers) { a.Paths[0].Hops[0].Queue.ID++ },
		"mean":               func(a *Answers) { a.Paths[0].Hops[0].LatencyNs.Mean += 1e-9 },
		"node 1: packets":    func(a *Answers) { a.Nodes[0].Packets++ },
		"node 1: name":       func(a *Answers) { a.Nodes[0].Name = "" },
		"node 2: drops":      func(a *Answers) { a.Nodes[1].Drops++ },
		"node 1: ports":      func(a *Answers) { a.Nodes[0].Ports = a.Nodes[0].Ports[1:] },
		"node 1: latency":    func(a *Answers) { a.Nodes[0].LatencyNs.Count++ },
		"node 1: queue max":  func(a *Answers) { a.Nodes[0].QueueMax = nil },
		"link ":              func(a *Answers) { a.Links = a.Links[1:] },
		"names":              func(a *Answers) { a.Links[0].ToName = "" },
		" > ":                func(a *Answers) { a.Links[0].Packets-- },
		"drop 2:1>2":         func(a *Answers) { a.Drops[0].Packets++ },
		"reason 52":          func(a *Answers) { a.Drops[0].Reason++ },
		": last flow":        func(a *Answers) { a.Drops[0].LastFlow = nil },
		"lost":               func(a *Answers) { *a.Exporters[0].Lost++ },
		": received":         func(a *Answers) { a.Exporters[0].Reports++ },
		"malformed, damaged": func(a *Answers) { a.Exporters[0].Damaged = map[string]uint64{"x": 1} },
		"reordered":          func(a *Answers) { a.Exporters[0].Restarted++ },
		": version":          func(a *Answers) { a.Exporters[0].Version = "1.0" },
	} {
		got := copied(t, want)
		if r := Compare(want, got); len(r.Differences) != 0 || r.Facts == 0 {
			t.Fatalf("%s: answers differ from themselves:\n%s", what, r.Table(10))
		}
		plant(got)
		r := Compare(want, got)
		if !slices.ContainsFunc(r.Differences,
			func(d Difference) bool { return strings.Contains(d.What+d.Serve, what) }) {
			t.Errorf("%s: not found; differences:\n%s", what, r.Table(10))
		}
	}
}

// copied returns answers as a client of the API reads them.
func copied(t *testing.T, a *Answers) *Answers {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var b Answers
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	return &b
}

// A rule leaves out the order of packets and nothing else.
func TestRules(t *testing.T) {
	s := newSmall()
	s.flow(1, "10.0.1.1", 0)
	s.packet(1, hop{1, 4, 2, "sent", true}) // no stack: it waits for others
	s.packet(1, long("", "", "sent")...)
	want := s.read(t).Answers(options(MD))
	got := copied(t, want)
	got.Flows[0].PathChanges++
	slices.Reverse(got.Flows[0].Paths)
	if r := Compare(want, got); len(r.Differences) != 0 || r.Left[RuleLateDrop] != 3 {
		t.Errorf("left out: %v; differences:\n%s", r.Left, r.Table(10))
	}
	got.Flows[0].Paths[0].Packets++
	if r := Compare(want, got); len(r.Differences) != 1 {
		t.Errorf("differences:\n%s", r.Table(10))
	}
	o := options(MD)
	o.Unordered = true
	want = s.read(t).Answers(o)
	got = copied(t, want)
	got.Drops[0].LastFlow = nil
	if r := Compare(want, got); len(r.Differences) != 0 || r.Left[RuleWorkers] != 3 {
		t.Errorf("left out: %v; differences:\n%s", r.Left, r.Table(10))
	}
}
