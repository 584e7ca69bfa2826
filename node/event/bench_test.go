package event

import (
	"math/rand/v2"
	"testing"
)

func TestNoAllocs(t *testing.T) {
	d, err := New(Config{
		Flows: 64, LatencyQuantumNs: 256, PeriodNs: 10, IdleNs: 1000, ResetNs: 5000,
		Ended: func(End) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCongestion(1, []Threshold{{TriggerBytes: 500, Quota: 5, TailDrop: true}})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	now := uint64(0)
	allocs := testing.AllocsPerRun(1000, func() {
		o := packet(r, 100, &now)
		d.Observe(&o)
		d.Sweep(now, 2)
		c.Observe(0, 0, r.Uint32N(1000), 0)
		c.TailDrop(0, 0)
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

// BenchmarkObserve is packets of 30,000 flows, in a table with room for all of them and in one that is too small.
func BenchmarkObserve(b *testing.B) {
	for _, bench := range []struct {
		name  string
		flows int
	}{{"room", 1 << 16}, {"full", 1 << 14}} {
		b.Run(bench.name, func(b *testing.B) {
			c := DefaultConfig()
			c.Flows = bench.flows
			d, err := New(c)
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 1))
			packets := make([]Observation, 1<<16)
			for i := range packets {
				packets[i] = Observation{Flow: mixFlow(r.Uint64N(30000)), LatencyNs: r.Uint64N(300), NowNs: uint64(i)}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				d.Observe(&packets[i&(len(packets)-1)])
				i++
			}
		})
	}
}

func BenchmarkCongestion(b *testing.B) {
	c, err := NewCongestion(64, make([]Threshold, 8))
	if err != nil {
		b.Fatal(err)
	}
	for i := range c.thresholds {
		c.thresholds[i] = Threshold{TriggerBytes: 500, ResetBytes: 300, TriggerNs: 2000, ResetNs: 1500, Quota: 1024}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.Observe(i&63, i>>6&7, uint32(i*7919)&1023, uint64(i)&4095)
		i++
	}
}
