package baseline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A baselineWorld is the latency of hops over some days.
type baselineWorld struct {
	testing.TB
	all    []*Tracker // each gets a part of the values
	nowNs  int64
	random *rand.Rand
	out    strings.Builder
}

// slowBaselineConfig tells of what is lower than usual too, and has windows that a text can list.
func slowBaselineConfig() Config {
	return Config{
		MaxKeys: 4096, WindowNs: 10e9, DaySlots: 24, Quantile: 0.5, MinSamples: 5, LearnWindows: 30, DayWindows: 30,
		MemoryWindows: 1080,
		Begin:         6, End: 3, BeginWindows: 3, EndWindows: 3, GoneWindows: 6, AdoptWindows: 360, FloorNs: 100,
		FloorShare: 0.05,
	}
}

func newBaselineWorld(t testing.TB, collectors int, config Config) *baselineWorld {
	w := &baselineWorld{TB: t, nowNs: 20_000 * dayNs, random: rand.New(rand.NewPCG(3, 9))}
	for range collectors {
		b, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		w.all = append(w.all, b)
	}
	return w
}

func clockTime(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05") }

func (w *baselineWorld) advance(ns int64) {
	for ; ns > 0; ns -= 1e9 {
		w.nowNs += 1e9
		for _, b := range w.all {
			for _, a := range b.Advance(w.nowNs) {
				way, of := "low", "all day"
				if a.High {
					way = "high"
				}
				if a.TimeOfDay {
					of = "this time of day"
				}
				if a.Ended == "" {
					fmt.Fprintf(&w.out, "%s node %d: %s since %s, %v instead of %v (%s)\n",
						clockTime(w.nowNs), a.Key.Node, way, clockTime(a.StartNs), about(a.PeakNs), about(a.MedianNs),
						of)
				} else {
					fmt.Fprintf(&w.out, "%s node %d: %s until %s, %s after %d windows\n",
						clockTime(w.nowNs), a.Key.Node, way, clockTime(a.EndNs), a.Ended, a.Windows)
				}
			}
		}
	}
}

// about rounds to two digits.
func about(ns uint64) time.Duration {
	unit := uint64(1)
	for ns/unit >= 100 {
		unit *= 10
	}
	return time.Duration((ns + unit/2) / unit * unit)
}

// do obeys a line:
//
//	hop NODE LATENCY SPREAD TIME     for some time it has this latency, and less or more by up to SPREAD, five values a second
//	wait TIME
//	until CLOCK                      wait until this time of day
//	late NODE LATENCY                a value of a minute ago
//	show NODE
func (w *baselineWorld) do(line string) {
	var verb, latency, spread, t string
	key := Key{In: 1, Out: 2}
	duration := func(s string) int64 {
		d, err := time.ParseDuration(s)
		if err != nil {
			w.Fatal(err)
		}
		return int64(d)
	}
	fmt.Sscan(line, &verb)
	switch verb {
	case "hop":
		fmt.Sscan(line, &verb, &key.Node, &latency, &spread, &t)
		ns, around := duration(latency), duration(spread)
		for end := w.nowNs + duration(t); w.nowNs < end; w.advance(1e9) {
			for i := range 5 {
				w.all[i%len(w.all)].Observe(&key,
					&Value{Value: uint64(ns + w.random.Int64N(2*around+1) - around), AtNs: w.nowNs})
			}
		}
	case "wait":
		fmt.Sscan(line, &verb, &t)
		w.advance(duration(t))
	case "until":
		fmt.Sscan(line, &verb, &t)
		at, err := time.Parse("15:04:05", t)
		if err != nil {
			w.Fatal(err)
		}
		day := at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
		w.advance(sinceMultiple(int64(day)-w.nowNs, dayNs))
	case "late":
		fmt.Sscan(line, &verb, &key.Node, &latency)
		w.all[0].Observe(&key, &Value{Value: uint64(duration(latency)), AtNs: w.nowNs - 60e9})
	case "show":
		fmt.Sscan(line, &verb, &key.Node)
		switch s := w.all[0].State(&key, w.nowNs); {
		case !s.Known:
			fmt.Fprintln(&w.out, "not known")
		case s.Learning:
			fmt.Fprintf(&w.out, "learning: %d windows\n", s.Windows)
		default:
			fmt.Fprintf(&w.out, "%d windows, %v to %v\n", s.Windows, about(uint64(s.LowNs)), about(uint64(s.HighNs)))
		}
	default:
		w.Fatalf("what is %q?", line)
	}
}

func TestBaselines(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"learning, and then nothing odd", `
			show 1
			hop 1 10us 2us 250s
			show 1
			hop 1 10us 2us 2h
			show 1`, `
			not known
			learning: 25 windows
			745 windows, 7µs to 13µs`},
		{"slow for two minutes", `
			hop 1 10us 2us 10m
			hop 1 100us 2us 2m
			hop 1 10us 2us 10m`, `
			00:10:30 node 1: high since 00:10:00, 100µs instead of 10µs (this time of day)
			00:12:30 node 1: high until 00:12:00, calm after 12 windows`},
		{"slow while it learns: nothing is said", `
			hop 1 10us 2us 2m
			hop 1 100us 2us 1m
			hop 1 10us 2us 10m
			show 1`, `
			78 windows, 4.8µs to 16µs`},
		{"two windows are not enough", `
			hop 1 10us 2us 10m
			hop 1 100us 2us 20s
			hop 1 10us 2us 10m`, ``},
		{"a pause in between does not end it, clearly calm windows do", `
			hop 1 10us 0s 10m
			hop 1 100us 0s 1m
			hop 1 10us 0s 20s
			hop 1 100us 0s 30s
			hop 1 12us 0s 1m
			hop 1 10us 0s 1m`, `
			00:10:30 node 1: high since 00:10:00, 100µs instead of 10µs (this time of day)
			00:13:20 node 1: high until 00:12:50, calm after 15 windows`},
		{"a constant series: small changes are nothing, the floor decides", `
			hop 1 10us 0s 10m
			hop 1 11us 0s 2m
			show 1
			hop 1 14us 0s 2m`, `
			72 windows, 7µs to 13µs
			00:12:30 node 1: high since 00:12:00, 14µs instead of 10µs (this time of day)`},
		{"a series of nothing", `
			hop 1 0s 0s 10m
			hop 1 400ns 0s 2m
			hop 1 2us 0s 1m`, `
			00:12:30 node 1: high since 00:12:00, 2µs instead of 1ns (this time of day)`},
		{"faster than usual", `
			hop 1 10us 1us 10m
			hop 1 2us 1us 1m
			hop 1 10us 1us 1m`, `
			00:10:30 node 1: low since 00:10:00, 1.8µs instead of 10µs (this time of day)
			00:11:30 node 1: low until 00:11:00, calm after 6 windows`},
		{"values end", `
			hop 1 10us 1us 10m
			hop 1 100us 1us 1m
			wait 5m`, `
			00:10:30 node 1: high since 00:10:00, 100µs instead of 10µs (this time of day)
			00:12:00 node 1: high until 00:11:00, gone after 6 windows`},
		{"the new normal", `
			hop 1 10us 1us 10m
			hop 1 100us 1us 2h
			show 1
			hop 1 10us 1us 2m`, `
			00:10:30 node 1: high since 00:10:00, 100µs instead of 10µs (this time of day)
			01:10:00 node 1: high until 01:10:00, adopted after 360 windows
			60 windows, 70µs to 130µs
			02:10:30 node 1: low since 02:10:00, 9.9µs instead of 100µs (this time of day)`},
		{"each hour of the day has its own", `
			until 02:00:00
			hop 1 10us 1us 30m
			until 09:00:00
			hop 1 15us 8us 20m
			show 1
			until 02:00:00
			hop 1 10us 1us 10m
			show 1
			hop 1 15us 1us 1m
			hop 1 10us 1us 1m`, `
			09:00:30 node 1: high since 09:00:00, 15µs instead of 10µs (all day)
			180 windows, 7µs to 13µs
			09:21:00 node 1: high until 09:20:00, gone after 120 windows
			240 windows, 7µs to 13µs
			02:10:30 node 1: high since 02:10:00, 15µs instead of 10µs (this time of day)
			02:11:30 node 1: high until 02:11:00, calm after 6 windows`},
		{"hops apart", `
			hop 2 500us 20us 10m
			hop 1 10us 2us 10m
			hop 2 500us 20us 1m
			hop 1 500us 20us 1m`, `
			00:21:30 node 1: high since 00:21:00, 500µs instead of 9.9µs (this time of day)`},
		{"a late value", `
			hop 1 10us 0s 10m
			late 1 10s
			hop 1 10us 0s 1m
			show 1`, `
			66 windows, 7µs to 13µs`},
		{"forgotten after two days", `
			hop 1 10us 2us 10m
			hop 2 10us 2us 1m
			wait 10m
			show 1
			show 2
			wait 48h
			show 1`, `
			60 windows, 7µs to 13µs
			not known
			not known`},
	} {
		w := newBaselineWorld(t, 1, slowBaselineConfig())
		for line := range strings.Lines(strings.TrimSpace(test.in)) {
			w.do(strings.TrimSpace(line))
		}
		got := strings.TrimSpace(w.out.String())
		if want := strings.ReplaceAll(strings.TrimSpace(test.want), "\t", ""); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, want)
		}
	}
}

// Two collectors that each saw a part of the values say together what one would have said.
func TestBaselinesMerge(t *testing.T) {
	one, two := newBaselineWorld(t, 1, slowBaselineConfig()), newBaselineWorld(t, 2, slowBaselineConfig())
	var text [2]string
	for i, w := range []*baselineWorld{one, two} {
		total := w.all[0]
		for step := range 80 { // windows
			latency := uint64(10_000)
			if step >= 50 && step < 60 {
				latency = 90_000
			}
			for j := range 100 {
				w.all[j%len(w.all)].Observe(&Key{Node: 7},
					&Value{Value: latency + w.random.Uint64N(3000), AtNs: w.nowNs})
			}
			if len(w.all) == 2 { // the second hands over what it has, and begins anew
				if err := total.Merge(w.all[1]); err != nil {
					t.Fatal(err)
				}
				b, err := New(slowBaselineConfig())
				if err != nil {
					t.Fatal(err)
				}
				w.all[1] = b
			}
			w.nowNs += 10e9
			for _, a := range total.Advance(w.nowNs) {
				text[i] += fmt.Sprintln(a)
			}
		}
		text[i] += fmt.Sprintln(total.State(&Key{Node: 7}, w.nowNs), total.Counters())
	}
	if text[0] != text[1] || strings.Count(text[0], "\n") != 3 {
		t.Errorf("one collector:\n%stwo:\n%s", text[0], text[1])
	}

	config := slowBaselineConfig()
	config.DaySlots = 1
	if err := newBaselineWorld(t, 1, config).all[0].Merge(one.all[0]); err == nil {
		t.Error("baselines of other slots can be added")
	}
	b := newBaselineWorld(t, 1, slowBaselineConfig()).all[0] // a state that is taken over
	if err := b.Merge(one.all[0]); err != nil {
		t.Fatal(err)
	}
	if got, want := b.State(&Key{Node: 7}, one.nowNs), one.all[0].State(&Key{Node: 7}, one.nowNs); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The spread of a sketch is that of the values, as exactly as its buckets are wide.
func TestBaselineSketch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 4))
	for range 300 {
		var s, half sketch
		var values []float64
		middle, width := 1+random.Uint64N(1e7), 1+random.Uint64N(1e6)
		for i := range 3 + random.IntN(500) {
			v := middle + random.Uint64N(width)
			values = append(values, float64(v))
			if i%3 == 0 {
				half.add(v, 1000)
			} else {
				s.add(v, 1000)
			}
		}
		s.merge(&half, 1000)
		median, mad := s.spread()
		slices.Sort(values)
		wantMedian := values[(len(values)-1)/2]
		for i := range values {
			values[i] = math.Abs(values[i] - wantMedian)
		}
		slices.Sort(values)
		wantMAD := values[(len(values)-1)/2]
		bucket := 2*s.RelativeError()*(wantMedian+float64(width)) + 1
		if math.Abs(float64(median)-wantMedian) > bucket || math.Abs(float64(mad)-wantMAD) > 2*bucket ||
			int(s.total) != len(values) {
			t.Fatalf("median %d, MAD %d of %d, want %v, %v of %d to within %v", median, mad, s.total, wantMedian,
				wantMAD, len(values), bucket)
		}
	}
	var s sketch
	for range 5000 {
		s.add(5, 1000)
	}
	for range 3000 {
		s.add(1e9, 1000)
	}
	if median, _ := s.spread(); median < 1e8 || s.total > 1000 {
		t.Errorf("old values do not fade: median %d of %d", median, s.total)
	}
}

func TestBaselineConfig(t *testing.T) {
	for _, bad := range []func(*Config){
		func(c *Config) { c.MaxKeys = 0 },
		func(c *Config) { c.WindowNs = 0 },
		func(c *Config) { c.DaySlots = 0 },
		func(c *Config) { c.Quantile = math.NaN() },
		func(c *Config) { c.MemoryWindows = 40 },
		func(c *Config) { c.YoungWindows = -1 },
		func(c *Config) { c.DayWindows = 29 },
		func(c *Config) { c.End = 7 },
		func(c *Config) { c.GoneWindows = 0 },
		func(c *Config) { c.FloorNs = 0 },
	} {
		c := slowBaselineConfig()
		bad(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// A flood of keys that come once takes no place for long, and none of a key that has a baseline.
func TestBaselinesBounded(t *testing.T) {
	config := slowBaselineConfig()
	config.MaxKeys = 100
	w := newBaselineWorld(t, 1, config)
	b := w.all[0]
	w.do("hop 1 10us 1us 10m")
	for flow := range uint64(10_000) {
		b.Observe(&Key{Flow: 1 + flow}, &Value{Value: flow, AtNs: w.nowNs})
	}
	if n := b.Counters(); n.Keys != 100 || n.Overflow != 10_000-99 {
		t.Errorf("%+v", n)
	}
	w.do("hop 1 100us 1us 6m")
	if n := b.Counters(); n.Keys != 1 || n.Anomalies != 1 {
		t.Errorf("%+v", n)
	}
	// Times from beyond all reason.
	for _, at := range []int64{math.MaxInt64, math.MinInt64, 0} {
		b.Observe(&Key{Flow: 1}, &Value{Value: math.MaxUint64, AtNs: at})
		b.Advance(at)
	}
}

func TestBaselinesNoAllocs(t *testing.T) {
	b := newBaselineWorld(t, 1, slowBaselineConfig()).all[0]
	now := int64(0)
	i := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		b.Observe(&Key{Node: uint32(i % 50)}, &Value{Value: i, AtNs: now})
		b.Observe(&Key{Flow: i}, &Value{Value: i, AtNs: now})
		i++
		now += 1e8
		b.Advance(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkBaselinesObserve(b *testing.B) {
	all := newBaselineWorld(b, 1, slowBaselineConfig()).all[0]
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		all.Observe(&Key{Node: uint32(i % 1000)}, &Value{Value: 10_000 + i*7919%5000, AtNs: 1e9})
	}
}

func BenchmarkBaselinesWindow(b *testing.B) {
	all := newBaselineWorld(b, 1, slowBaselineConfig()).all[0]
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		for j := range uint64(5000) {
			all.Observe(&Key{Node: uint32(j % 1000)}, &Value{Value: 10_000 + (i+j)*7919%5000, AtNs: int64(i) * 10e9})
		}
		all.Advance(int64(i+1) * 10e9)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/key")
}
