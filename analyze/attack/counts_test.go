package attack

import "testing"

// A few sampled packets leave open how many came back. Nothing leaves open that nothing did. What was lost on its way
// nobody answers: a crowd that fills a link is one.
func TestMayBeAnswered(t *testing.T) {
	for _, c := range []struct {
		sent, lost, back, rate uint64
		want                   bool
	}{
		{67, 0, 20, 100, true},
		{67, 0, 20, 1, false},
		{6700, 0, 1900, 100, false},
		{67, 0, 21, 1, true},
		{67, 0, 0, 100, false},
		{67, 0, 5, 100, false},
		{67, 27, 12, 1, true},
		{67, 26, 12, 1, false},
		{67, 67, 0, 1, false},
	} {
		n := Tally{
			Out: Amount{Packets: c.back * c.rate}, Lost: c.lost * c.rate, Squares: c.sent * c.rate * (c.rate - 1),
		}
		n.Passed[TCP].Packets = c.sent * c.rate
		if got := n.mayBeAnswered(); got != c.want {
			t.Errorf("%d of %d, %d lost, 1 in %d: got %v", c.back, c.sent, c.lost, c.rate, got)
		}
	}
}
