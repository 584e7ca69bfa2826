package burst

import (
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// What comes again every second does not become usual by that, and neither does the threshold rise.
func TestBurstsUsual(t *testing.T) {
	// second adds a burst of so many packets of 1500 bytes to a queue that drains at 1 Gbit/s.
	const drainNs = 12_000
	burst := func(b *Search, atSecond, packets uint64, dropped bool) {
		start := 1e12 + atSecond*1e9
		for i := range packets {
			in := start + i*1000
			s := Sample{
				Node: 1, Port: 1, Has: SampleIn | SampleOut | SampleDepth, InNs: in, OutNs: start + (i+1)*drainNs,
				Flow: 1, Packet: atSecond<<20 | i,
				Depth: uint32((i - i*1000/drainNs) * 1500), Unit: codepoint.UnitBytes, Bytes: 1500, Every: 1,
			}
			if dropped && i == packets-1 {
				s.Has = SampleIn | SampleDepth | SampleDropped
			}
			b.Observe(&s)
		}
		for tenth := range uint64(9) {
			b.Advance(int64(start + tenth*100e6))
		}
	}
	for _, c := range []struct {
		name              string
		dropped           bool
		early, late, huge int // bursts found of the first ten, of the 90th to 99th, of one of twice the length
	}{
		{"no drops", false, 10, 10, 1},
		{"drops", true, 10, 10, 1},
	} {
		b := NewSearch(DefaultConfig())
		for second := range uint64(100) {
			burst(b, second, 40, c.dropped)
			switch second {
			case 9:
				if got := len(b.Take()); got != c.early {
					t.Errorf("%s: %d bursts in the first ten seconds", c.name, got)
				}
			case 89:
				b.Take()
			}
		}
		if got := len(b.Take()); got != c.late {
			t.Errorf("%s: %d bursts in the last ten seconds", c.name, got)
		}
		burst(b, 100, 80, false)
		b.Finish()
		if got := len(b.Take()); got != c.huge {
			t.Errorf("%s: %d bursts that are twice as long", c.name, got)
		}
	}
}
