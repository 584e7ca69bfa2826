package clock

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
)

// A trueClock is by how much the clock of a switch is wrong.
type trueClock struct {
	offsetNs, driftPPB           float64
	fromNs, stepNs, moreDriftPPB float64 // a fault
}

func (c *trueClock) errorNs(atNs int64) float64 {
	at := float64(atNs)
	ns := c.offsetNs + c.driftPPB*at/1e9
	if c.fromNs > 0 && at >= c.fromNs {
		ns += c.stepNs + c.moreDriftPPB*(at-c.fromNs)/1e9
	}
	return ns
}

func (c *trueClock) drift(atNs int64) float64 {
	if c.fromNs > 0 && float64(atNs) >= c.fromNs {
		return c.driftPPB + c.moreDriftPPB
	}
	return c.driftPPB
}

// A clockTrial compares an Estimator with what a fabric knows.
type clockTrial struct {
	*testing.T
	clocks  *Estimator
	epochNs int64
	wrapNs  uint64
	random  *rand.Rand
	nodes   map[uint32]*trueClock
	last    map[uint64]truth.Hop // of each packet
	pairs   map[[2]uint32]bool
	steps   []Step
	nextNs  int64 // end of the window

	windows, offsetsRight                    int
	drifts, driftsRight                      int
	delays, delaysRight, negative, untrusted int
	ends, endsRight                          int
	worstNs, worstPPB, widestNs              float64
}

// take takes a record when it is written. Reports come up to 20 ms late.
func (c *clockTrial) take(record truth.Record) bool {
	switch record := record.(type) {
	case *truth.Run:
		c.epochNs = int64(record.EpochNs)
		c.nextNs = c.epochNs
	case *truth.Switch:
		c.nodes[record.Node] = &trueClock{offsetNs: float64(record.OffsetNs), driftPPB: float64(record.DriftPPB)}
	case *truth.Fault:
		n := c.nodes[record.Nodes[0]]
		n.fromNs, n.stepNs, n.moreDriftPPB = float64(record.TimeNs), 3e6, 200e3
	case *truth.Hop:
		c.hop(record)
	}
	return false
}

func (c *clockTrial) hop(h *truth.Hop) {
	real := float64(int64(h.InClock) - c.epochNs - h.InNs)
	if math.Abs(real-c.nodes[h.Node].errorNs(h.InNs)) > 2 {
		c.Fatalf("clock of node %d at %d ns: wrong by %v, this test thinks by %v", h.Node, h.InNs, real,
			c.nodes[h.Node].errorNs(h.InNs))
	}
	before, ok := c.last[h.Packet]
	first := before
	if ok && h.Hop == 2 {
		first = c.last[h.Packet|1<<63]
	} else if h.Hop == 1 {
		c.last[h.Packet|1<<63] = before
	}
	c.last[h.Packet] = *h
	if !ok {
		return
	}
	now := c.epochNs + h.OutNs
	if now >= c.nextNs {
		c.steps = append(c.steps, c.clocks.Advance(now)...)
		c.judge(c.nextNs - c.epochNs)
		c.nextNs = c.clocks.startNs + c.clocks.config.WindowNs
	}
	s := c.sample(&before, h, now+c.random.Int64N(20e6))
	c.clocks.Observe(&s)
	c.pairs[[2]uint32{min(s.From, s.To), max(s.From, s.To)}] = true
	c.correct(&s, h.InNs-before.OutNs, h.OutNs, &c.delays, &c.delaysRight)
	if h.Hop == 2 {
		s := c.sample(&first, h, now)
		c.correct(&s, h.InNs-first.OutNs, h.OutNs, &c.ends, &c.endsRight)
	}
}

func (c *clockTrial) sample(a, b *truth.Hop, now int64) Sample {
	s := Sample{From: a.Node, To: b.Node, EgressNs: a.OutClock, IngressNs: b.InClock, WrapNs: c.wrapNs, ArrivalNs: now}
	if c.wrapNs != 0 {
		s.EgressNs %= c.wrapNs
		s.IngressNs %= c.wrapNs
	}
	return s
}

// correct compares a delay with the true one.
func (c *clockTrial) correct(s *Sample, trueNs, nowNs int64, all, right *int) {
	d := c.clocks.Correct(s)
	if !d.OK {
		c.untrusted++
		return
	}
	*all++
	if d.Clamped {
		c.negative++
	}
	if math.Abs(float64(trueNs)-float64(d.DelayNs)) <= float64(d.UncertaintyNs) {
		*right++
		return
	}
	// A clock that jumps is found out by the first packet that goes the other way.
	for _, id := range []uint32{s.From, s.To} {
		if since := float64(nowNs) - c.nodes[id].fromNs; c.nodes[id].fromNs > 0 && since >= 0 && since < 20e6 {
			return
		}
	}
	c.Fatalf("at %d ns: %+v is %+v, want %d", nowNs, *s, d, trueNs)
}

// judge compares each pair with the truth at the end of a window.
func (c *clockTrial) judge(atNs int64) {
	for pair := range c.pairs {
		a, b := c.nodes[pair[0]], c.nodes[pair[1]]
		k := c.clocks.Link(pair[0], pair[1])
		if !k.Trusted {
			continue
		}
		// The line is told for the newest bound, a little before the end of the window.
		p := c.clocks.pairOf(pair[0], pair[1])
		ended := c.epochNs + atNs + int64(a.errorNs(atNs)) // by clock a
		at := atNs - Wrapped(ended-p.fit.at, c.wrapNs)
		off := math.Abs(float64(k.OffsetNs) - (b.errorNs(at) - a.errorNs(at)))
		c.windows++
		c.widestNs = max(c.widestNs, float64(k.UncertaintyNs))
		if off <= float64(k.UncertaintyNs) {
			c.offsetsRight++
		}
		c.worstNs = max(c.worstNs, off)
		if k.SpanNs >= 2e9-5e7 {
			c.drifts++
			real := b.drift(at) - a.drift(at)
			wrong := math.Abs(k.DriftPPB - real)
			if wrong <= max(100, 0.1*math.Abs(real)) {
				c.driftsRight++
			}
			c.worstPPB = max(c.worstPPB, wrong)
		}
	}
}

func (c *clockTrial) atLeast(what string, right, all int, share float64) {
	c.Helper()
	if all == 0 || float64(right) < share*float64(all) {
		c.Errorf("%s: %d of %d are right, want %v %%", what, right, all, 100*share)
	}
}

// What is said of clocks is true: offsets and delays within their uncertainty, drifts within 10 % or 100 ppb.
func TestClocksAgainstFabric(t *testing.T) {
	if test.RaceDetector {
		t.Skip("a fabric runs in one goroutine: the race detector would only make this take half a minute")
	}
	for _, trial := range []struct {
		scenario string
		for_     time.Duration
		every    uint64 // packets of which one is seen
		wrapNs   uint64
		steps    int
	}{
		{"clock-skew", 6 * time.Second, 1, 0, 4},
		{"clock-skew", 6 * time.Second, 1, 1 << 32, 4},
		{"steady", 8 * time.Second, 2, 0, 0},
	} {
		t.Run(fmt.Sprint(trial.scenario, " wrap ", trial.wrapNs), func(t *testing.T) {
			s, err := scenario.Load("../../scenarios/" + trial.scenario + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			s.Truth.SamplePackets = scenario.Count(trial.every)
			clocks, err := New(DefaultConfig())
			if err != nil {
				t.Fatal(err)
			}
			c := &clockTrial{
				T: t, clocks: clocks, wrapNs: trial.wrapNs, random: rand.New(rand.NewPCG(1, 2)),
				nodes: map[uint32]*trueClock{}, last: map[uint64]truth.Hop{}, pairs: map[[2]uint32]bool{},
			}
			f, err := fabric.New(s, fabric.Options{Truth: &test.Records{Keep: c.take}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Run(t.Context(), trial.for_), f.Close()); err != nil {
				t.Fatal(err)
			}

			c.atLeast("offsets", c.offsetsRight, c.windows, 0.99)
			c.atLeast("drifts", c.driftsRight, c.drifts, 0.99)
			c.atLeast("delays of links", c.delaysRight, c.delays, 0.99)
			c.atLeast("delays over two links", c.endsRight, c.ends, 0.99)
			if len(c.steps) != trial.steps {
				t.Errorf("steps %+v, want %d", c.steps, trial.steps)
			}
			for _, step := range c.steps {
				if !step.Known || step.AfterNs-c.epochNs > 2e9 || step.BeforeNs-c.epochNs < 2e9 ||
					step.BeforeNs-step.AfterNs > 2e9 {
					t.Errorf("step %+v", step)
				}
			}
			t.Logf("%d windows of pairs, offsets wrong by %.0f ns at most, uncertainty up to %.0f ns, drifts of %d by %.0f ppb at most",
				c.windows, c.worstNs, c.widestNs, c.drifts, c.worstPPB)
			t.Logf("%d of %d delays of links are right, %d of %d over two links, %d not known, %d clamped; %+v",
				c.delaysRight, c.delays, c.endsRight, c.ends, c.untrusted, c.negative, clocks.Counters())
		})
	}
}
