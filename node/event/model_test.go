package event

import (
	"math/rand/v2"
	"testing"
)

// A model is what a Detector would be with a table without limits: the last packet of every flow, by its hash.
type model struct {
	config Config
	flows  map[uint64]*modelFlow
}

type modelFlow struct {
	last       Observation
	reportedNs uint64
	ended      bool
}

func (m *model) observe(o *Observation) (r Reason) {
	c := &m.config
	f := m.flows[o.Flow]
	switch {
	case f == nil:
		f = &modelFlow{}
		m.flows[o.Flow] = f
		r = NewFlow
	case c.IdleNs > 0 && o.NowNs-f.last.NowNs >= c.IdleNs || o.Start:
		f.ended = false
		r = NewFlow
	case c.ResetNs > 0 && f.reportedNs/c.ResetNs != o.NowNs/c.ResetNs:
		r = NewFlow
	default:
		if f.last.IngressPort != o.IngressPort || f.last.EgressPort != o.EgressPort || f.last.Path != o.Path {
			r |= PathChange
		}
		if q := c.LatencyQuantumNs; q > 0 && f.last.LatencyNs/q != o.LatencyNs/q {
			r |= LatencyChange
		}
		if c.PeriodNs > 0 && o.NowNs-f.reportedNs >= c.PeriodNs {
			r |= Period
		}
	}
	if o.End && !f.ended {
		f.ended = true
		r |= FlowEnd
	}
	if o.ReportAll {
		r |= All
	}
	f.last = *o
	if r != 0 {
		f.reportedNs = o.NowNs
	}
	return r
}

// packet returns a random packet of one of n flows, some ns after the last one.
func packet(r *rand.Rand, n int, now *uint64) Observation {
	*now += r.Uint64N(20)
	return Observation{
		Flow: mixFlow(r.Uint64N(uint64(n))), IngressPort: r.Uint32N(8) / 7, EgressPort: r.Uint32N(8) / 7,
		Path:      r.Uint64N(8) / 7,
		LatencyNs: r.Uint64N(300), NowNs: *now, Start: r.IntN(100) == 0, End: r.IntN(50) == 0,
		ReportAll: r.IntN(100) == 0,
	}
}

// mixFlow makes a hash of a number.
func mixFlow(n uint64) uint64 { return (n + 1) * 0x9e3779b97f4a7c15 }

var modelConfigs = []Config{
	{LatencyQuantumNs: 256},
	{LatencyQuantumNs: 64, PeriodNs: 1000, IdleNs: 3000},
	{LatencyQuantumNs: 256, PeriodNs: 500, ResetNs: 10000},
	{IdleNs: 5000},
}

// With room for the flows, a Detector says the same as the model.
func TestDetectorIsTheModelWhileThereIsRoom(t *testing.T) {
	for i, c := range modelConfigs {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		c.Flows, c.Seed = 1024, r.Uint64()
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		m := model{config: c, flows: map[uint64]*modelFlow{}}
		now := uint64(0)
		for n := range 200000 {
			o := packet(r, 512, &now)
			if got, want := d.Observe(&o), m.observe(&o); got != want {
				t.Fatalf("config %d, packet %d, %+v: got %s, want %s", i, n, o, got, want)
			}
		}
		if d.Forgotten() != 0 {
			t.Errorf("config %d: got %d flows forgotten, want 0", i, d.Forgotten())
		}
	}
}

// Without room, a Detector reports more than the model but never less: in place of what changed, the flow may be new.
func TestDetectorMissesNothingWithoutRoom(t *testing.T) {
	for i, c := range modelConfigs {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		c.Flows, c.Seed = 64, r.Uint64()
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		m := model{config: c, flows: map[uint64]*modelFlow{}}
		reported := map[uint64]uint64{} // time of the last report of a flow
		now := uint64(0)
		wanted, extra := 0, 0
		for n := range 200000 {
			o := packet(r, 200, &now)
			got, want := d.Observe(&o), m.observe(&o)
			if got&NewFlow != 0 {
				want &^= PathChange | LatencyChange | Period // the flow was forgotten
			}
			if now-reported[o.Flow] < c.PeriodNs {
				want &^= Period // a report without an event was sent since
			}
			if got != 0 {
				reported[o.Flow] = now
			}
			if missing := want &^ got; missing != 0 {
				t.Fatalf("config %d, packet %d, %+v: got %s, misses %s", i, n, o, got, missing)
			}
			if want != 0 {
				wanted++
			}
			if want == 0 && got != 0 {
				extra++
			}
		}
		if d.Forgotten() == 0 || extra == 0 {
			t.Errorf("config %d: got no flow forgotten: the test shows nothing", i)
		}
		t.Logf("config %d: %d reports wanted, %d more sent, %d flows forgotten", i, wanted, extra, d.Forgotten())
	}
}

// Every flow that ends by being quiet is told, once for each time that it was new.
func TestDetectorTellsEveryIdleEnd(t *testing.T) {
	for _, room := range []int{16, 1024} {
		r := rand.New(rand.NewPCG(uint64(room), 3))
		open := map[uint64]int{} // new flows whose end was not told
		c := Config{Flows: room, IdleNs: 100, Ended: func(e End) { open[e.Flow]-- }}
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		now := uint64(0)
		for range 20000 {
			o := packet(r, 300, &now)
			o.Start, o.End = false, false
			if d.Observe(&o)&NewFlow != 0 {
				open[o.Flow]++
			}
			if r.IntN(10) == 0 {
				d.Sweep(now, 3)
			}
		}
		d.Sweep(now+100, d.Buckets())
		for flow, n := range open {
			if n != 0 {
				t.Errorf("room for %d, flow %#x: began %d times more than it ended", room, flow, n)
			}
		}
		if d.Flows() != 0 {
			t.Errorf("room for %d: got %d flows after the end, want 0", room, d.Flows())
		}
	}
}

// What no table of hashes can see: two flows with one hash are one flow, whose packets show now this and now that.
func TestFlowsWithOneHashAreOneFlow(t *testing.T) {
	d, err := New(Config{Flows: 64})
	if err != nil {
		t.Fatal(err)
	}
	d.Observe(&Observation{Flow: 5, EgressPort: 1})
	if got := d.Observe(&Observation{Flow: 5, EgressPort: 2}); got != PathChange {
		t.Errorf("another flow with the same hash: got %s", got)
	}
	if got := d.Observe(&Observation{Flow: 5, EgressPort: 2}); got != 0 {
		t.Errorf("and once more: got %s", got)
	}
}

// A change of at least a quantum is seen from wherever it starts.
func TestNoLatencyChangeOfAQuantumIsMissed(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 10000 {
		quantum := uint64(1) << r.IntN(20)
		d, err := New(Config{Flows: 16, LatencyQuantumNs: quantum})
		if err != nil {
			t.Fatal(err)
		}
		before := r.Uint64N(1 << 22)
		after := before + quantum + r.Uint64N(quantum)
		if r.IntN(2) == 0 {
			before, after = after, before
		}
		d.Observe(&Observation{LatencyNs: before})
		if got := d.Observe(&Observation{LatencyNs: after}); got != LatencyChange {
			t.Fatalf("quantum %d, from %d to %d: got %s", quantum, before, after, got)
		}
	}
}

// The same calls give the same answers, whatever the machine; another seed changes who is forgotten.
func TestDetectorFollowsItsSeed(t *testing.T) {
	forgotten := func(seed uint64) (flows []uint64) {
		d, err := New(Config{Flows: 16, Seed: seed, Ended: func(e End) { flows = append(flows, e.Flow) }})
		if err != nil {
			t.Fatal(err)
		}
		for flow := range uint64(40) {
			d.Observe(&Observation{Flow: flow, NowNs: flow})
		}
		return flows
	}
	one, same, other := forgotten(1), forgotten(1), forgotten(2)
	if !equal(one, same) {
		t.Errorf("the same seed: got %v and %v", one, same)
	}
	if equal(one, other) {
		t.Errorf("another seed: got %v again", one)
	}
}

func equal(a, b []uint64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
