package collect

import (
	"math"
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	f := func(rate float64, n uint64, want time.Duration) {
		t.Helper()
		if got := (schedule{rate}).at(n); got != want {
			t.Errorf("%g per second: datagram %d at %v, want %v", rate, n, got, want)
		}
	}
	f(1, 0, 0)
	f(1, 1, time.Second)
	f(100_000, 1, 10*time.Microsecond)
	f(100_000, 360_000_000, time.Hour)
	f(0.1, 3, 30*time.Second)
	f(0, 1000, 0)
	f(1e-300, 1, 1<<62) // does not overflow
}

// In any time the number of datagrams that are due is the rate times the time, up to the one at the start.
func TestScheduleDue(t *testing.T) {
	for _, rate := range []float64{0.1, 1, 3, 999.5, 10_000, 100_000, 7e6} {
		for _, elapsed := range []time.Duration{0, 1, time.Millisecond, 333333333, time.Second, time.Hour} {
			want := elapsed.Seconds() * rate
			if got := float64((schedule{rate}).due(elapsed)); got <= want-0.001 || got > want+1.001 {
				t.Errorf("%g per second: %g datagrams are due after %v, want %g + 1", rate, got, elapsed, want)
			}
		}
	}
	if got := (schedule{0}).due(0); got != math.MaxUint64 {
		t.Errorf("without a rate: %d datagrams are due, want all", got)
	}
	if got := (schedule{1e300}).due(math.MaxInt64); got < math.MaxInt64 {
		t.Errorf("at an absurd rate: %d datagrams are due, want many", got)
	}
}
