package fabric

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The means are those that the simulations of pFabric state, in packets; they round sizes down to whole ones.
func TestSizesMean(t *testing.T) {
	for _, test := range []struct {
		name    string
		packets float64
	}{{"web_search", 1138}, {"data_mining", 5117}} {
		s := newSizes(test.name, 0, 0)
		if got := s.mean() / packetBytes; math.Abs(got-test.packets) > 3 {
			t.Errorf("%s: got %.1f packets, want %.0f", test.name, got, test.packets)
		}
	}
}

// What is drawn has the mean and the quantiles of the distribution, cut or not.
func TestSizesDraw(t *testing.T) {
	const n = 200000
	for _, test := range []struct {
		name string
		most uint64
		half float64 // share of flows of at most 53 packets
	}{{"web_search", 0, 0.53}, {"web_search", 1e6, 0.53}, {"data_mining", 10e6, 0.8177}} {
		s := newSizes(test.name, 0, test.most)
		random := rand.New(rand.NewPCG(1, 1))
		sum, small := 0.0, 0
		for range n {
			size := s.draw(random)
			sum += float64(size)
			if size <= 53*packetBytes {
				small++
			}
			if size == 0 || test.most > 0 && size > test.most {
				t.Fatalf("%s: drew %d", test.name, size)
			}
		}
		if got, want := sum/n, s.mean(); math.Abs(got/want-1) > 0.03 {
			t.Errorf("%s cut to %d: mean of draws %.0f, of the distribution %.0f", test.name, test.most, got, want)
		}
		if got := float64(small) / n; math.Abs(got-test.half) > 0.01 {
			t.Errorf("%s: %.3f of the flows have at most 53 packets, want %.3f", test.name, got, test.half)
		}
	}
	fixed := newSizes("", 4000, 0)
	if fixed.mean() != 4000 || fixed.draw(nil) != 4000 {
		t.Error("a fixed size is not fixed")
	}
}
