package clock

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestWrapped(t *testing.T) {
	for _, test := range []struct {
		d    int64
		wrap uint64
		want int64
	}{
		{5, 0, 5},
		{math.MinInt64, 0, math.MinInt64},
		{5, 1 << 32, 5},
		{1<<32 + 5, 1 << 32, 5},
		{-1<<32 + 5, 1 << 32, 5},
		{-5, 1 << 32, -5},
		{1<<31 - 1, 1 << 32, 1<<31 - 1},
		{1 << 31, 1 << 32, -1 << 31},
		{-1 << 31, 1 << 32, -1 << 31},
		{-1<<31 - 1, 1 << 32, 1<<31 - 1},
		{math.MaxInt64, 1 << 62, -1},
		{math.MinInt64, 1 << 62, 0},
		{1<<32*1000 - 1000, 1 << 32 * 1000, -1000}, // 32 bits of microseconds
		{2, 5, 2},
		{3, 5, -2},
	} {
		if got := Wrapped(test.d, test.wrap); got != test.want {
			t.Errorf("%d modulo %d: got %d, want %d", test.d, test.wrap, got, test.want)
		}
	}
}

func TestClockConfig(t *testing.T) {
	for _, bad := range []func(*Config){
		func(c *Config) { c.MaxPairs = 0 },
		func(c *Config) { c.WindowNs = 0 },
		func(c *Config) { c.LateNs = -1 },
		func(c *Config) { c.StepNs = math.MaxInt64 },
	} {
		c := DefaultConfig()
		bad(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// Pairs are bounded; those that are seen no more make room.
func TestClocksBounded(t *testing.T) {
	config := DefaultConfig()
	config.MaxPairs = 10
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	now := int64(1e18)
	for second := range 100 {
		for i := range uint32(20) {
			s := Sample{
				From: uint32(second/50) * 1000, To: 100 + i, ArrivalNs: now, EgressNs: uint64(now),
				IngressNs: uint64(now + 10),
			}
			if second < 50 || i < 10 {
				c.Observe(&s)
			}
		}
		now += 1e9
		c.Advance(now)
	}
	got := c.Counters()
	if got.Pairs != 10 || got.Overflow != 50*10+17*10 || len(c.Nodes()) != 11 {
		t.Errorf("%+v, %d nodes", got, len(c.Nodes()))
	}
	if k := c.Link(1000, 100); k.Why != whyOneWay {
		t.Errorf("%+v", k)
	}
	if k := c.Link(0, 100); k.Why != whyUnseen {
		t.Errorf("%+v", k)
	}
}

// Whatever stamps say, nothing breaks, and good pairs stay right.
func TestClocksSurviveNonsense(t *testing.T) {
	w := newClockWorld(t, 1)
	w.do("clock 2 3ms 0")
	w.do("link 1 2 10us 10us")
	c, random := w.clocks[0], w.random
	values := []uint64{0, 1, 1 << 31, 1<<32 - 1, 1 << 53, 1 << 62, 1<<63 - 1, 1 << 63, math.MaxUint64}
	value := func() uint64 {
		if random.IntN(4) == 0 {
			return random.Uint64()
		}
		return values[random.IntN(len(values))]
	}
	for range 40 {
		w.run(250 * time.Millisecond)
		for range 500 {
			s := Sample{
				From: 3 + uint32(random.IntN(8)), To: 3 + uint32(random.IntN(8)), EgressNs: value(), IngressNs: value(),
				ResolutionNs: uint32(value()), ArrivalNs: w.nowNs,
			}
			if random.IntN(2) == 0 {
				s.WrapNs = value()
			}
			if random.IntN(4) == 0 {
				s.ArrivalNs = int64(value())
			}
			c.Observe(&s)
			if d := c.Correct(&s); !d.OK && d.Why == "" || d.Clamped && d.DelayNs > 0 {
				t.Fatalf("%+v: %+v", s, d)
			}
		}
		c.Nodes()
	}
	if k := c.Link(1, 2); !k.Trusted || math.Abs(float64(k.OffsetNs-3e6)) > float64(k.UncertaintyNs) {
		t.Errorf("good clocks among bad ones: %+v", k)
	}
	other := newClockWorld(t, 1).clocks[0]
	other.Merge(c)
	other.Merge(c)
	other.Advance(math.MaxInt64)
	other.Advance(math.MinInt64)
	other.Nodes()
}

// The longest chain is told, a longer one is said to be too long.
func TestClockChainBounded(t *testing.T) {
	c, err := New(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	now := int64(1e18)
	for range 30 {
		for from := range uint32(40) {
			c.Observe(&Sample{
				From: from, To: from + 1, EgressNs: uint64(now), IngressNs: uint64(now + 10),
				ArrivalNs: now,
			})
			c.Observe(&Sample{
				From: from + 1, To: from, EgressNs: uint64(now), IngressNs: uint64(now + 10),
				ArrivalNs: now,
			})
		}
		now += 1e8
		c.Advance(now)
	}
	if k := c.Link(3, 3+maxChain); !k.Trusted || k.OffsetNs != 0 {
		t.Errorf("%+v", k)
	}
	if k := c.Link(3, 4+maxChain); k.Why != whyTooFar {
		t.Errorf("%+v", k)
	}
}

func clockSamples() (*Estimator, []Sample) {
	config := DefaultConfig()
	c, _ := New(config)
	random := rand.New(rand.NewPCG(1, 1))
	samples := make([]Sample, 1024)
	for second := range int64(4) {
		for i := range samples {
			now := 1e18 + second*1e9 + int64(i)*9e5
			a, b := uint32(i%16), 16+uint32(i/16%4)
			if i/512 == 0 {
				a, b = b, a
			}
			samples[i] = Sample{
				From: a, To: b, EgressNs: uint64(now),
				IngressNs: uint64(now + 1e4 + random.Int64N(1e5)), ArrivalNs: now,
			}
			c.Observe(&samples[i])
		}
		c.Advance(1e18 + (second+1)*1e9)
	}
	return c, samples
}

func TestClocksNoAllocs(t *testing.T) {
	c, samples := clockSamples()
	i, ok := 0, 0
	if n := testing.AllocsPerRun(1000, func() {
		s := &samples[i&1023]
		c.Observe(s)
		if c.Correct(s).OK {
			ok++
		}
		s.From += 1000 // a new pair
		c.Observe(s)
		i++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if ok < 900 {
		t.Errorf("%d delays are known", ok)
	}
}

func BenchmarkClocksObserve(b *testing.B) {
	c, samples := clockSamples()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Observe(&samples[i&1023])
	}
}

func BenchmarkClocksCorrect(b *testing.B) {
	c, samples := clockSamples()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Correct(&samples[i&1023])
	}
}

func BenchmarkClocksWindow(b *testing.B) {
	c, samples := clockSamples()
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		for j := range samples {
			s := samples[j]
			s.EgressNs, s.IngressNs, s.ArrivalNs = s.EgressNs+uint64(i)*1e9, s.IngressNs+uint64(i)*1e9,
				s.ArrivalNs+i*1e9
			c.Observe(&s)
		}
		c.Advance(1e18 + (5+i)*1e9)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/pair")
}
