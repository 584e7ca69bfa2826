package attack

import "testing"

// A few sampled packets leave open how many came back. Nothing leaves open that nothing did.
func TestMayBeAnswered(t *testing.T) {
	for _, c := range []struct {
		sent, back, rate uint64
		want             bool
	}{
		{67, 20, 100, true},
		{67, 20, 1, false},
		{6700, 1900, 100, false},
		{67, 21, 1, true},
		{67, 0, 100, false},
		{67, 5, 100, false},
	} {
		n := Tally{Out: Amount{Packets: c.back * c.rate}, Squares: c.sent * c.rate * (c.rate - 1)}
		n.Passed[TCP].Packets = c.sent * c.rate
		if got := n.mayBeAnswered(); got != c.want {
			t.Errorf("%d of %d, 1 in %d: got %v", c.back, c.sent, c.rate, got)
		}
	}
}
