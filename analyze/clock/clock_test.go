package clock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A clockWorld is a few nodes with clocks, and packets between them.
type clockWorld struct {
	testing.TB
	clocks []*Estimator // one takes the packets of each direction in turn
	wrapNs uint64
	nowNs  int64
	right  int64 // how wrong the clock here is
	nodes  map[uint32]*testClock
	delays map[[2]uint32]int64
	order  [][2]uint32
	random *rand.Rand
	old    []Sample
	out    strings.Builder
}

type testClock struct{ offsetNs, driftPPB, sinceNs int64 }

func (c *testClock) read(nowNs int64) uint64 {
	return uint64(nowNs + c.offsetNs + int64(float64(nowNs-c.sinceNs)*float64(c.driftPPB)/1e9))
}

func newClockWorld(t testing.TB, collectors int) *clockWorld {
	w := &clockWorld{
		TB: t, nowNs: 1_700_000_000e9, nodes: map[uint32]*testClock{}, delays: map[[2]uint32]int64{},
		random: rand.New(rand.NewPCG(5, 8)),
	}
	for range collectors {
		c, err := New(DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		w.clocks = append(w.clocks, c)
	}
	for id := range uint32(10) {
		w.nodes[id] = &testClock{}
	}
	return w
}

// packet returns the sample of a packet that is on its way for some time from now on.
func (w *clockWorld) packet(from, to uint32, delayNs int64) Sample {
	s := Sample{
		From: from, To: to, WrapNs: w.wrapNs, ArrivalNs: w.nowNs + w.right + delayNs + w.random.Int64N(2e6),
		EgressNs: w.nodes[from].read(w.nowNs), IngressNs: w.nodes[to].read(w.nowNs + delayNs),
	}
	if w.wrapNs != 0 {
		s.EgressNs %= w.wrapNs
		s.IngressNs %= w.wrapNs
	}
	return s
}

// run lets packets go each way every millisecond, most of which wait in a queue.
func (w *clockWorld) run(d time.Duration) {
	for end := w.nowNs + int64(d); w.nowNs < end; w.nowNs += 1e6 {
		for i, way := range w.order {
			s := w.packet(way[0], way[1], w.delays[way]+int64(w.random.ExpFloat64()*20e3))
			w.clocks[i%len(w.clocks)].Observe(&s)
			if len(w.old) < 100 {
				w.old = append(w.old, s)
			}
		}
		for _, c := range w.clocks {
			for _, s := range c.Advance(w.nowNs + w.right) {
				fmt.Fprintf(&w.out, "step %d-%d by %v", s.A, s.B, us(s.StepNs))
				if s.Known {
					fmt.Fprintf(&w.out, " at %d", s.Node)
				}
				fmt.Fprintln(&w.out)
			}
		}
	}
}

func us(ns int64) time.Duration { return time.Duration(ns).Round(time.Microsecond) }

func (k *Link) text() string {
	if !k.Trusted {
		return fmt.Sprintf("%.0f ppb, unknown: %s", k.DriftPPB, k.Why)
	}
	return fmt.Sprintf("%v +-%v, %.0f ppb", us(k.OffsetNs), us(k.UncertaintyNs), k.DriftPPB)
}

func (d *Delay) text() string {
	switch {
	case !d.OK:
		return "unknown: " + d.Why
	case d.Clamped:
		return fmt.Sprintf("0 +%v", us(int64(d.UncertaintyNs)))
	}
	return fmt.Sprintf("%v +-%v", us(int64(d.DelayNs)), us(int64(d.UncertaintyNs)))
}

// do obeys a line:
//
//	wrap NS                 stamps wrap
//	link A B THERE BACK     A and B are neighbours; their delays, 0 for no packets that way
//	run TIME
//	clock NODE TIME PPB     the clock of a node jumps, and drifts by so much
//	here TIME               the clock here jumps
//	packet A B TIME         one packet, with this delay by stamps: a negative one is a lie
//	replay                  the first 100 samples come again
//	show A B
//	delay A B TIME          what is said of a packet with this delay
//	count
func (w *clockWorld) do(line string) {
	var verb, t1, t2 string
	var a, b uint32
	var n int64
	duration := func(s string) int64 {
		d, err := time.ParseDuration(s)
		if err != nil {
			w.Fatal(err)
		}
		return int64(d)
	}
	fmt.Sscan(line, &verb)
	c := w.clocks[0]
	switch verb {
	case "wrap":
		fmt.Sscan(line, &verb, &w.wrapNs)
	case "link":
		fmt.Sscan(line, &verb, &a, &b, &t1, &t2)
		for way, t := range map[[2]uint32]string{{a, b}: t1, {b, a}: t2} {
			w.delays[way] = duration(t)
			w.order = slices.DeleteFunc(w.order, func(o [2]uint32) bool { return o == way })
			if w.delays[way] > 0 {
				w.order = append(w.order, way)
			}
		}
		slices.SortFunc(w.order, func(x, y [2]uint32) int { return int(x[0]*10+x[1]) - int(y[0]*10+y[1]) })
	case "run":
		fmt.Sscan(line, &verb, &t1)
		w.run(time.Duration(duration(t1)))
	case "clock":
		fmt.Sscan(line, &verb, &a, &t1, &n)
		k := w.nodes[a]
		k.offsetNs = int64(k.read(w.nowNs)) - w.nowNs + duration(t1)
		k.driftPPB, k.sinceNs = n, w.nowNs
	case "here":
		fmt.Sscan(line, &verb, &t1)
		w.right += duration(t1)
	case "packet":
		fmt.Sscan(line, &verb, &a, &b, &t1)
		s := w.packet(a, b, duration(t1))
		c.Observe(&s)
	case "replay":
		for i := range w.old {
			s := w.old[i]
			s.ArrivalNs = w.nowNs
			c.Observe(&s)
		}
	case "show":
		fmt.Sscan(line, &verb, &a, &b)
		k := c.Link(a, b)
		fmt.Fprintln(&w.out, k.text())
	case "delay":
		fmt.Sscan(line, &verb, &a, &b, &t1)
		s := w.packet(a, b, duration(t1))
		d := c.Correct(&s)
		fmt.Fprintln(&w.out, d.text())
	case "count":
		fmt.Fprintf(&w.out, "%d samples, %d late, %d unusable\n", c.counters.Samples, c.counters.Late,
			c.counters.Unusable)
	default:
		w.Fatalf("what is %q?", line)
	}
}

func TestClocks(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"offset and drift", `
			clock 2 3ms 5000
			link 1 2 10us 10us
			run 500ms
			show 1 2
			delay 1 2 40us
			run 5s
			show 1 2
			show 2 1
			delay 1 2 40us
			delay 2 1 40us`, `
			0 ppb, unknown: learning: the first window is not over
			unknown: learning: the first window is not over
			3.025ms +-10µs, 5009 ppb
			-3.025ms +-10µs, -5009 ppb
			40µs +-13µs
			40µs +-13µs`},
		{"one direction: a drift, but no offset", `
			clock 2 3ms 5000
			link 1 2 10us 0s
			run 5s
			show 1 2
			show 2 1
			delay 1 2 40us
			delay 2 1 40us`, `
			4997 ppb, unknown: packets were seen in one direction only: any offset is possible
			-4997 ppb, unknown: packets were seen in one direction only: any offset is possible
			unknown: packets were seen in one direction only: any offset is possible
			unknown: packets were seen in one direction only: any offset is possible`},
		{"nobody has seen them", `
			link 1 2 10us 10us
			run 3s
			show 1 5
			show 7 7
			delay 1 5 40us`, `
			0 ppb, unknown: no packets were seen between them
			0s +-0s, 0 ppb
			unknown: no packets were seen between them`},
		{"paths of different length: wrong, and within the uncertainty", `
			link 1 2 10us 50us
			run 3s
			show 1 2
			delay 1 2 10us
			delay 2 1 50us`, `
			-20µs +-33µs, 43 ppb
			30µs +-73µs
			30µs +-73µs`},
		{"never a negative latency", `
			link 1 2 50us 10us
			run 3s
			delay 1 2 50us
			delay 1 2 1us
			clock 1 200us 0
			delay 1 2 50us`, `
			30µs +-73µs
			0 +54µs
			unknown: the delay would be negative by more than the uncertainty`},
		{"a clock is set", `
			link 1 2 10us 10us
			link 1 3 10us 10us
			run 3500ms
			clock 1 100us 0
			delay 2 1 10us
			run 10ms
			show 1 2
			delay 1 2 40us
			run 2s
			show 1 2
			delay 1 2 40us`, `
			110µs +-16µs
			-6 ppb, unknown: packets contradict the estimate: a clock was set, or stamps are wrong
			unknown: packets contradict the estimate: a clock was set, or stamps are wrong
			step 1-2 by -100µs at 1
			step 1-3 by -100µs at 1
			-100µs +-12µs, -251 ppb
			40µs +-28µs`},
		{"packets are few, and the stamps of one lie", `
			link 1 2 100us 100us
			run 4s
			link 1 2 0s 0s
			run 100ms
			packet 1 2 -3ms
			packet 2 1 3500us
			delay 1 2 140us
			run 1s
			packet 1 2 100us
			packet 2 1 100us
			run 1s
			delay 1 2 140us`, `
			unknown: packets contradict the estimate: a clock was set, or stamps are wrong
			140µs +-141µs`},
		{"packets are few, and a clock is set", `
			link 1 2 100us 100us
			run 4s
			link 1 2 0s 0s
			run 100ms
			clock 2 -10ms 0
			packet 1 2 100us
			packet 2 1 100us
			run 1s
			packet 1 2 100us
			packet 2 1 100us
			run 1s`, `
			step 1-2 by -10ms`},
		{"a clock jumps a year ahead", `
			link 1 2 10us 10us
			link 2 3 10us 10us
			run 3500ms
			clock 2 8760h 0
			delay 1 2 40us
			delay 3 2 40us
			delay 2 3 40us
			run 3s
			show 1 2
			show 1 3
			delay 1 2 40us`, `
			unknown: the report is much later or earlier than others, or a clock was set
			unknown: the report is much later or earlier than others, or a clock was set
			unknown: the report is much later or earlier than others, or a clock was set
			step 1-2 by 8760h0m0s at 2
			step 2-3 by -8760h0m0s at 2
			8760h0m0s +-12µs, 2 ppb
			0s +-25µs, -6 ppb
			40µs +-19µs`},
		{"the first of two clocks jumps a year back, when a window ends", `
			link 1 2 10us 10us
			run 3s
			clock 1 -8760h 0
			delay 1 2 40us
			delay 2 1 40us
			run 4s
			show 1 2
			delay 1 2 40us`, `
			unknown: the report is much later or earlier than others, or a clock was set
			unknown: the delay would be negative by more than the uncertainty
			step 1-2 by 8760h0m0s
			8760h0m0s +-11µs, 22 ppb
			40µs +-24µs`},
		{"32 bits wrap", `
			wrap 4294967296
			clock 2 2s 200000
			link 1 2 10us 10us
			run 20s
			show 1 2
			delay 1 2 40us
			delay 2 1 40us
			clock 2 1ms 200000
			run 3s
			show 1 2`, `
			2.003782s +-10µs, 200000 ppb
			40µs +-12µs
			40µs +-12µs
			step 1-2 by 1ms
			2.005379s +-11µs, 200010 ppb`},
		{"stamps that wrap too soon say nothing", `
			wrap 16777216
			link 1 2 10us 10us
			run 1s
			show 1 2
			count`, `
			0 ppb, unknown: no packets were seen between them
			2000 samples, 0 late, 2000 unusable`},
		{"a chain", `
			clock 2 5ms 100
			clock 3 -7ms 200
			clock 4 1s -300
			link 1 2 10us 10us
			link 2 3 20us 20us
			link 3 4 5us 5us
			link 2 4 50us 50us
			run 5s
			show 1 4
			show 4 1
			show 2 4
			delay 1 4 1ms
			delay 4 1 1ms`, `
			999.999ms +-38µs, -300 ppb
			-999.999ms +-38µs, 300 ppb
			994.998ms +-51µs, -406 ppb
			1ms +-57µs
			1ms +-57µs`},
		{"the clock here is set", `
			clock 2 3ms 5000
			link 1 2 10us 10us
			run 3500ms
			here 1h
			run 4s
			show 1 2
			here -2h
			run 4s
			show 1 2
			delay 1 2 40us`, `
			3.035ms +-11µs, 5021 ppb
			3.055ms +-11µs, 5003 ppb
			40µs +-15µs`},
		{"old reports come again", `
			link 1 2 10us 10us
			run 5s
			clock 2 1ms 0
			run 3s
			show 1 2
			replay
			run 2s
			show 1 2
			count`, `
			step 1-2 by 1ms
			1ms +-12µs, 38 ppb
			1ms +-11µs, -1 ppb
			20100 samples, 100 late, 0 unusable`},
		{"no packets for a while, then none for long", `
			link 1 2 10us 10us
			run 5s
			link 1 2 0s 0s
			run 5s
			show 1 2
			delay 1 2 40us
			run 20s
			show 1 2`, `
			0s +-10µs, 1 ppb
			40µs +-32µs
			0 ppb, unknown: no packets were seen between them`},
	} {
		w := newClockWorld(t, 1)
		for line := range strings.Lines(strings.TrimSpace(test.in)) {
			w.do(strings.TrimSpace(line))
		}
		got := strings.TrimSpace(w.out.String())
		if want := strings.ReplaceAll(strings.TrimSpace(test.want), "\t", ""); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, want)
		}
	}
}
