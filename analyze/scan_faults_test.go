package analyze

import (
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	postcards = everyPacket + "mode: xd\n"
	// millisecond is that of a run.
	millisecond = int64(time.Millisecond)
)

// eventsOf returns the events of a kind, the earliest first.
func (v *virtualCollector) eventsOf(kind telemetry.EventKind) []telemetry.Event {
	list, _ := v.log.Events(func(e *telemetry.Event) bool { return e.Kind == kind }, 1000)
	slices.Reverse(list)
	return list
}

// around reports whether an event lasted from about one moment of the run to about another, give or take a second.
func (v *virtualCollector) around(e *telemetry.Event, fromNs, toNs int64) bool {
	if e.End == nil {
		return false
	}
	start, end := e.Start.UnixNano()-v.start-fromNs, e.End.UnixNano()-v.start-toNs
	return max(start, -start) <= 1000*millisecond && max(end, -end) <= 1000*millisecond
}

// each calls f with the records of the truth.
func (v *virtualCollector) each(f func(truth.Record)) {
	for _, r := range v.truth.List {
		f(r)
	}
}

// Where postcards tell of every packet, a link that loses some of them is found, and nothing else is taken for one:
// with the two kinds of postcards in turn, or with both. Of scenarios in which nothing is to be found a sixth has its
// turn: TestAccuracy has the others with another seed.
func TestGrayFailures(t *testing.T) {
	chosen, all := test.Seed(t)
	for m, mode := range []string{"xd", "mx"} {
		for i, c := range []struct {
			scenario string
			duration time.Duration
			share    float64 // that the link leaf2-spine1 loses
		}{
			{scenario: "gray-link", share: 0.02},
			{scenario: "demo", duration: 62 * time.Second, share: 0.03},
			{scenario: "steady", duration: 4 * time.Second},
			{scenario: "report-loss"},
			{scenario: "link-failure"},
			{scenario: "blackhole"},
			{scenario: "loop"},
			{scenario: "ddos"},
			{scenario: "incast"},
			{scenario: "microburst"},
			{scenario: "all-reduce"},
			{scenario: "polarisation"},
			{scenario: "slow-switch"},
			{scenario: "clock-skew"},
		} {
			if test.RaceDetector && c.scenario != "gray-link" {
				continue // races do not depend on the scenario
			}
			turns := uint64(2)
			switch {
			case c.share == 0: // TestAccuracy has these, too
				turns = 6
			case c.duration > 0:
				turns = 4
			}
			if !all && (uint64(i+m)+chosen)%turns > 0 {
				continue
			}
			t.Run(mode+"/"+c.scenario, func(t *testing.T) {
				v := emulation{duration: c.duration, shards: 2, nodes: everyPacket + "mode: " + mode + "\n"}.run(t,
					c.scenario)
				events := v.eventsOf(telemetry.EventGrayFailure)
				if c.share == 0 {
					for _, e := range events {
						t.Errorf("made up: %+v", e)
					}
					return
				}
				if len(events) != 1 {
					t.Fatalf("got %d events: %+v", len(events), events)
				}
				e := &events[0]
				var first, last int64
				var lost uint64
				v.each(func(r truth.Record) {
					if d, ok := r.(*truth.Drop); ok && d.Reason == "gray_link" {
						if first == 0 {
							first = d.TimeNs
						}
						last, lost = d.TimeNs, lost+1
					}
				})
				if e.Name != "leaf2" || *e.Port != 1 || e.ToName != "spine1" || *e.ToPort != 2 ||
					!v.around(e, first, last) {
					t.Errorf("got %s from %v to %v, want leaf2-spine1 from %v to %v", e.Text, e.Start, e.End,
						time.Duration(first), time.Duration(last))
				}
				// The first packets of a flow are not missed by anybody.
				if e.Count > lost || float64(e.Count) < 0.85*float64(lost) {
					t.Errorf("got %d packets lost, want %d", e.Count, lost)
				}
				for _, share := range e.Evidence {
					if math.Abs(share.Value-c.share) > 0.01 {
						t.Errorf("got %s of %.3f, want %.2f", share.Name, share.Value, c.share)
					}
				}
				if len(e.Evidence) != 2 {
					t.Errorf("the link loses packets both ways: got %+v", e.Evidence)
				}
			})
		}
	}
}

// If reports of the nodes behind the link are lost as well, nobody can say whether packets are.
func TestLostReportsAreNoGrayFailure(t *testing.T) {
	v := emulation{shards: 1, nodes: postcards, change: func(s *scenario.Scenario) {
		s.Faults = append(s.Faults, scenario.Fault{ReportLoss: &scenario.ReportLoss{Every: 3}})
	}}.run(t, "gray-link")
	if events := v.eventsOf(telemetry.EventGrayFailure); len(events) > 0 {
		t.Errorf("got %+v", events)
	}
	if len(v.eventsOf(telemetry.EventReportLoss)) == 0 {
		t.Error("no reports were lost: that proves nothing")
	}
}

// A blackhole of which the switch says nothing shows by postcards: packets of some flows end in front of it, all of
// them.
func TestSilentBlackhole(t *testing.T) {
	v := emulation{
		shards: 2, nodes: postcards,
		change: func(s *scenario.Scenario) { s.Faults[0].Blackhole.Silent = true },
	}.run(t, "blackhole")
	if len(v.eventsOf(telemetry.EventGrayFailure)) > 0 || len(v.eventsOf(telemetry.EventDropStorm)) > 0 {
		t.Errorf("got:\n%s", v.events())
	}
	lost := map[string]uint64{} // by the switch that sent the packets there
	names := map[uint32]string{}
	behind := map[[2]uint32]uint32{} // the switch at the other end, by node and port
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Switch:
			names[r.Node] = r.Name
		case *truth.Link:
			behind[[2]uint32{r.NodeA, r.PortA}], behind[[2]uint32{r.NodeB, r.PortB}] = r.NodeB, r.NodeA
		case *truth.Drop:
			if r.Reason == "routing_miss" {
				lost[names[behind[[2]uint32{r.Node, r.In}]]]++
			}
		}
	})
	events := v.eventsOf(telemetry.EventBlackhole)
	for _, e := range events {
		if e.ToName != "spine2" || !v.around(&e, 2000*millisecond, 4000*millisecond) {
			t.Errorf("got %s, %v to %v", e.Text, e.Start, e.End)
		}
		// Whose first packets are lost has no path yet that they could be missing from.
		if n := lost[e.Name]; e.Count > n || float64(e.Count) < 0.9*float64(n) {
			t.Errorf("%s: got %d packets lost behind it, want up to %d", e.Name, e.Count, n)
		}
		delete(lost, e.Name)
	}
	for name, n := range lost {
		if n >= 2*loss.FewPackets {
			t.Errorf("missed: %d packets were lost behind %s", n, name)
		}
	}
}

// Switches that hash alike are found, each with the port that carries everything, and no other one is.
func TestPolarisation(t *testing.T) {
	if raceDetector {
		t.Skip("races do not depend on the scenario")
	}
	v := emulation{shards: 2, duration: 6 * time.Second, change: func(s *scenario.Scenario) {
		for i := range s.Traffic {
			s.Traffic[i].Stop = scenario.Duration(6 * time.Second)
		}
	}}.run(t, "polarisation")
	type place struct{ node, port uint32 }
	type group struct{ node, to uint32 }
	ports := map[group]map[uint32]uint64{} // packets after the fault; ports are those of all of the run
	v.each(func(r truth.Record) {
		p, ok := r.(*truth.Path)
		if !ok {
			return
		}
		for _, h := range p.Hops[:len(p.Hops)-1] {
			k := group{h.Node, p.Hops[len(p.Hops)-1].Node}
			if ports[k] == nil {
				ports[k] = map[uint32]uint64{}
			}
			ports[k][h.Out] += 0
			if p.FromNs >= 2000*millisecond {
				ports[k][h.Out] += p.Packets
			}
		}
	})
	carried := map[place]uint64{} // by ports that share with others
	total := map[uint32]uint64{}
	for k, by := range ports {
		if len(by) < 2 {
			continue
		}
		for port, n := range by {
			carried[place{k.node, port}] += n
			total[k.node] += n
		}
	}
	want := map[place]bool{}
	for k, n := range carried {
		if float64(n) > 0.9*float64(total[k.node]) {
			want[k] = true
		}
	}
	if len(want) != 8 {
		t.Fatalf("got %d places in the truth, want one at each of 8 switches in the middle: %v", len(want), want)
	}
	for _, e := range v.eventsOf(telemetry.EventECMPImbalance) {
		k := place{*e.Node, *e.Port}
		// In a second in which a link carries nothing either way, it may as well have been taken out of service.
		began := e.Start.UnixNano() - v.start
		if !want[k] || began != 2000*millisecond && began != 3000*millisecond || e.Evidence[0].Value < 0.9 {
			t.Errorf("got %s, from %v", e.Text, e.Start)
		}
		delete(want, k)
	}
	for k := range want {
		t.Errorf("missed: switch %d, port %d", k.node, k.port)
	}
}

// New flows are counted where they come in, each once; while they keep coming that is one event.
func TestNewFlows(t *testing.T) {
	if raceDetector {
		t.Skip("races do not depend on the scenario")
	}
	v := emulate(t, "steady", 4*time.Second, 3)
	want := map[string]uint64{}
	names := map[uint32]string{}
	seen := map[uint32]bool{}
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Switch:
			names[r.Node] = r.Name
		case *truth.Path:
			if !seen[r.Flow] {
				seen[r.Flow] = true
				want[names[r.Hops[0].Node]]++
			}
		}
	})
	got := map[string]uint64{}
	for _, e := range v.eventsOf(telemetry.EventNewFlow) {
		if got[e.Name] > 0 {
			t.Errorf("two events at %s", e.Name)
		}
		if e.Severity != telemetry.Info || e.Flow == nil || e.Start.UnixNano() > v.start+1000*millisecond ||
			e.End.UnixNano() < v.start+3000*millisecond {
			t.Errorf("got %+v", e)
		}
		got[e.Name] = e.Count
	}
	for name, n := range want {
		// Flows with the same addresses and ports, one after the other, are one for a collector.
		if got[name] > n || got[name] < n*98/100 {
			t.Errorf("%s: got %d new flows, want %d", name, got[name], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Many events of one kind do not push out a rare one.
func TestEventLogKeepsRareKinds(t *testing.T) {
	l := eventlog.New(10)
	fill := func(*telemetry.Event) {}
	l.Note(eventlog.Key{Kind: telemetry.EventDropStorm, Node: 1}, second, second, 1, fill)
	l.End(eventlog.Key{Kind: telemetry.EventDropStorm, Node: 1}, second)
	for i := range int64(100) {
		k := eventlog.Key{Kind: telemetry.EventNewFlow, Node: uint32(i)}
		l.Note(k, (2+i)*second, (2+i)*second, 1, fill)
		l.End(k, (2+i)*second)
	}
	list, total := l.Events(nil, 20)
	if total != 10 || list[0].Start.UnixNano() != 101*second || list[9].Kind != telemetry.EventDropStorm {
		t.Errorf("got %d: %+v", total, list)
	}
}

// Of an exporter that seldom reports nobody knows when its reports were lost, and the event says so.
func TestReportLossOfSeldom(t *testing.T) {
	for silence, want := range map[int64]string{
		second: "reports were lost on the way here",
		9 * second: "reports were lost on the way here; nobody knows when in 9s, from the report before to the one that " +
			"shows it",
	} {
		exporters, log := ledger.NewExporters(10), eventlog.New(10)
		s := NewScanner(&Collector{Exporters: []*ledger.Exporters{exporters}}, log)
		header := telemetry.Header{
			Source: netip.MustParseAddr("10.0.0.1"), Dialect: "d", Version: telemetry.Version20, HasSequence: true,
		}
		report := func(sequence uint32, atNs int64) {
			header.Sequence = sequence
			exporters.Observe([]telemetry.Header{header}, atNs)
		}
		begin := 1000 * second
		report(1, begin)
		for at := begin + second/2; at < begin+silence; at += scan.TickNs {
			s.Scan(at)
		}
		report(4, begin+silence)
		for at := begin + silence; at < begin+silence+4*second; at += scan.TickNs {
			s.Scan(at)
		}
		events, _ := log.Events(nil, 10)
		if len(events) != 1 || events[0].Text != want || events[0].Count != 2 {
			t.Errorf("got %+v, want %q", events, want)
		}
	}
}
