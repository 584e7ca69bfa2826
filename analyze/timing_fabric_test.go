package analyze

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A trueDelay is what packets of a link or a path needed, by a clock that is right.
type trueDelay struct {
	packets  uint64
	min, max float64
}

func (d *trueDelay) add(ns float64) {
	if d.packets == 0 || ns < d.min {
		d.min = ns
	}
	d.max = max(d.max, ns)
	d.packets++
}

// A delayTrial knows the clocks of a fabric, and takes the errors out of what its reports say.
type delayTrial struct {
	*testing.T
	clocks map[uint32]*skewedClock
	links  map[topology.LinkKey]*trueDelay
	second map[topology.LinkKey]map[int64]*trueDelay // the same by second
	paths  map[string]*trueDelay
}

// right returns what a clock that is right would have shown instead of a stamp.
func (d *delayTrial) right(node uint32, stamp uint64, start int64) float64 {
	ns := int64(stamp) - start
	return float64(ns) - d.clocks[node].errorNs(ns-int64(d.clocks[node].errorNs(ns)))
}

// look takes what a shard has set aside for the next scan.
func (d *delayTrial) look(v *virtualCollector) {
	if d.clocks == nil {
		d.clocks = map[uint32]*skewedClock{}
		for _, r := range v.truth.List {
			switch r := r.(type) {
			case *truth.Switch:
				d.clocks[r.Node] = &skewedClock{offsetNs: float64(r.OffsetNs), driftPPB: float64(r.DriftPPB)}
				if v.Names()[r.Node] == "spine1" { // scenarios/clock-skew.yaml
					d.clocks[r.Node].fromNs, d.clocks[r.Node].stepNs, d.clocks[r.Node].moreDriftPPB = 2e9, 3e6, 200e3
				}
			}
		}
	}
	for _, shard := range v.Owners {
		for packet, hops := range shard.(*Shard).transits.All() {
			for i := 1; i < len(hops); i++ {
				a, b := topology.HopKeyOf(&hops[i-1]), topology.HopKeyOf(&hops[i])
				k, _ := topology.LinkOf(&a, &b)
				ns := d.right(b.Node, hops[i].IngressNs, v.start) - d.right(a.Node, hops[i-1].EgressNs, v.start)
				trueOf(d.links, k).add(ns)
				if d.second[k] == nil {
					d.second[k] = map[int64]*trueDelay{}
				}
				trueOf(d.second[k], packet.AtNs/1e9).add(ns)
			}
			first, last := &hops[0], &hops[len(hops)-1]
			trueOf(d.paths, topology.PathID(packet.Path)).add(
				d.right(last.NodeID, last.EgressNs, v.start) - d.right(first.NodeID, first.IngressNs, v.start))
		}
	}
}

func trueOf[K comparable](all map[K]*trueDelay, k K) *trueDelay {
	if all[k] == nil {
		all[k] = &trueDelay{}
	}
	return all[k]
}

// holds compares an answer with the truth about the same packets.
func (d *delayTrial) holds(what any, a *telemetry.Delay, real *trueDelay) (known bool) {
	if a.NS == nil {
		if a.Unknown == "" {
			d.Errorf("%v: nothing is known, and nobody says why", what)
		}
		return false
	}
	around := float64(*a.UncertaintyNs) + 2 // stamps are of whole nanoseconds
	if *a.UncertaintyNs <= 1 {              // by one clock alone, up to 5 parts per million off
		around += 5e-6 * real.max
	}
	if float64(a.NS.Min) < real.min-around || float64(a.NS.Max) > real.max+around || a.NS.Mean < real.min-around ||
		a.NS.Mean > real.max+around {
		d.Errorf("%v: %+v ± %v, want %+v", what, a.NS, around, real)
	}
	if a.NS.Count > real.packets {
		d.Errorf("%v: %d delays of %d packets", what, a.NS.Count, real.packets)
	}
	return true
}

// tripHolds compares the round trip of a link with that of the quickest packets of the two directions in some second.
func (d *delayTrial) tripHolds(l *telemetry.Link, k topology.LinkKey) {
	d.Helper()
	back, _ := k.Reverse()
	if l.Delay.RoundTripNs == nil {
		d.Errorf("%+v: no round trip", l)
		return
	}
	ns, around := float64(*l.Delay.RoundTripNs), float64(*l.Delay.RoundTripUncertaintyNs)
	quickest, nearest := math.Inf(1), math.Inf(1)
	for second, there := range d.second[k] {
		if other := d.second[back][second]; other != nil {
			trip := there.min + other.min
			quickest, nearest = min(quickest, trip), min(nearest, math.Abs(trip-ns))
		}
	}
	const propagation = 2 * 5000 // of both directions, by the scenario
	if nearest > around+2 || quickest > ns+around+2 || ns < propagation || around > 5000 ||
		*l.Delay.HalfRoundTripNs != *l.Delay.RoundTripNs/2 {
		d.Errorf("%v: round trip of %v ± %v ns, half %d; the quickest took %v, the nearest is %v off", k, ns, around,
			*l.Delay.HalfRoundTripNs, quickest, nearest)
	}
}

// Delays of links and paths, and clocks, are what the network knows of them, to within what is stated, although a clock
// jumps by 3 ms and runs fast from then on.
func TestDelaysAgainstFabric(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	for _, shards := range []int{1, 3} {
		d := &delayTrial{
			T: t, links: map[topology.LinkKey]*trueDelay{}, second: map[topology.LinkKey]map[int64]*trueDelay{},
			paths: map[string]*trueDelay{},
		}
		// A second more than the scenario has: the last delays before the jump are not known.
		longer := func(s *scenario.Scenario) {
			s.Duration = scenario.Duration(7 * time.Second)
			for i := range s.Traffic {
				s.Traffic[i].Stop = s.Duration
			}
		}
		v := emulation{shards: shards, look: d.look, change: longer}.run(t, "clock-skew")
		known, widest := 0, uint64(0)
		links := v.Links()
		for _, l := range links {
			k := topology.LinkKey{
				From: l.From, To: l.To, FromPort: *l.FromPort, ToPort: *l.ToPort,
				Has: telemetry.HasEgressPort | telemetry.HasIngressPort,
			}
			if d.links[k] == nil {
				t.Fatalf("%d shards: no packet on %+v", shards, l)
			}
			d.tripHolds(&l, k)
			if d.holds(l, l.Delay, d.links[k]) {
				known++
				widest = max(widest, *l.Delay.UncertaintyNs)
				if 2*l.Delay.NS.Count < d.links[k].packets {
					t.Errorf("%d shards: %+v: only %d of %d packets", shards, l, l.Delay.NS.Count, d.links[k].packets)
				}
			}
		}
		if known != len(links) || known != 16 || widest > 150_000 {
			t.Errorf("%d shards: delays of %d of %d links are known, to within %d ns", shards, known, len(links),
				widest)
		}
		paths, _ := v.Paths(1000)
		ends := 0
		for _, p := range paths {
			if d.paths[p.ID] != nil && d.holds(p.ID, p.Delay, d.paths[p.ID]) {
				ends++
			}
		}
		if ends < len(paths)*3/4 {
			t.Errorf("%d shards: delays of %d of %d paths are known", shards, ends, len(paths))
		}
		for _, c := range v.Clocks() {
			if !c.Trusted {
				t.Errorf("%d shards: %+v", shards, c)
				continue
			}
			// It is told for the last packets, shortly before the end.
			const end = int64(7e9)
			a, b := d.clocks[c.Reference], d.clocks[c.Node]
			real := b.errorNs(end) - a.errorNs(end)
			drift := b.drift(end) - a.drift(end)
			if math.Abs(float64(*c.OffsetNs)-real) > float64(*c.UncertaintyNs)+math.Abs(drift) ||
				math.Abs(*c.DriftPPB-drift) > *c.DriftWithin {
				t.Errorf("%d shards: %+v is off by %d ± %d, drifts by %v ± %v, want %v, %v",
					shards, c, *c.OffsetNs, *c.UncertaintyNs, *c.DriftPPB, *c.DriftWithin, real, drift)
			}
			if jumped := c.LastJump != nil; jumped != (c.Name == "spine1") || jumped &&
				math.Abs(float64(c.LastJump.StepNs)-3e6) > float64(c.LastJump.UncertaintyNs) {
				t.Errorf("%d shards: %+v: jump %+v", shards, c, c.LastJump)
			}
		}
		t.Logf("%d shards: %d links to within %d ns, %d of %d paths", shards, known, widest, ends, len(paths))
	}
}

// Whatever the traffic is, only slow-switch has a latency that is no congestion, and only clock-skew a clock that
// jumps. One scenario in three has its turn, with one seed.
func TestLatencyAnomaliesAnySeed(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	seeds := seedsOfAnomalies
	chosen, all := test.Seed(t)
	if !all {
		seeds = seeds[chosen%uint64(len(seeds)):][:1]
	}
	durations := map[string]time.Duration{
		"slow-switch": 0, "clock-skew": 0, "steady": 4 * time.Second, "gray-link": 0, "link-failure": 0,
		"report-loss": 0, "ddos": 0, "blackhole": 0, "incast": 0, "microburst": 0, "polarisation": 0, "all-reduce": 0,
		"loop": 0,
		"demo": 62 * time.Second,
	}
	for _, seed := range seeds {
		for i, name := range slices.Sorted(maps.Keys(durations)) {
			duration := durations[name]
			// TestAccuracy has all of them, with other seeds.
			if !all && (uint64(i)+chosen/uint64(len(seedsOfAnomalies)))%3 > 0 {
				continue
			}
			v := emulation{duration: duration, shards: 2, seed: seed}.run(t, name)
			list, _ := v.log.Events(func(e *telemetry.Event) bool {
				return e.Kind == telemetry.EventLatencyAnomaly || e.Kind == telemetry.EventClockJump
			}, 100)
			want := map[string]telemetry.EventKind{
				"slow-switch": telemetry.EventLatencyAnomaly,
				"clock-skew":  telemetry.EventClockJump,
			}[name]
			if want == 0 && len(list) == 0 {
				continue
			}
			if want == 0 || len(list) != 1 || list[0].Kind != want || list[0].Name != "spine1" {
				t.Errorf("%s, seed %d: %+v", name, seed, list)
				continue
			}
			e := &list[0]
			start, end := e.Start.UnixNano()-v.start, e.End.UnixNano()-v.start
			switch want {
			case telemetry.EventLatencyAnomaly: // from 2 s to 4 s
				if start < 1e9 || start > 3e9 || end < 3e9 || end > 5e9 || e.Port != nil {
					t.Errorf("seed %d: from %d to %d ns, port %v", seed, start, end, e.Port)
				}
			case telemetry.EventClockJump: // at 2 s
				if start > 2e9 || end < 2e9 || end-start > 2e9 {
					t.Errorf("seed %d: from %d to %d ns", seed, start, end)
				}
			}
		}
	}
}

// seedsOfAnomalies are of runs whose traffic is not that of the scenario. In 23 few packets meet no queue at a port
// that is full.
var seedsOfAnomalies = []uint64{21, 23}

// A skewedClock is by how much the clock of a switch is wrong.
type skewedClock struct {
	offsetNs, driftPPB           float64
	fromNs, stepNs, moreDriftPPB float64 // a fault
}

func (c *skewedClock) errorNs(atNs int64) float64 {
	at := float64(atNs)
	ns := c.offsetNs + c.driftPPB*at/1e9
	if c.fromNs > 0 && at >= c.fromNs {
		ns += c.stepNs + c.moreDriftPPB*(at-c.fromNs)/1e9
	}
	return ns
}

func (c *skewedClock) drift(atNs int64) float64 {
	if c.fromNs > 0 && float64(atNs) >= c.fromNs {
		return c.driftPPB + c.moreDriftPPB
	}
	return c.driftPPB
}
