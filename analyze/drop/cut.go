package drop

import "github.com/waybill-int/waybill/telemetry"

// A Cut is a port whose link is down, by what it dropped.
type Cut struct {
	AtNs    int64             // the latest scan that found some
	SinceNs int64             // when the first of Packets was dropped
	Packets uint64            // since the link carried some last, of which no event tells
	Hit     *telemetry.Extent // whose these were
}

// Add adds packets that the port dropped, which a scan at nowNs found.
func (c *Cut) Add(p *Packets, nowNs int64) {
	if c.Packets == 0 {
		c.SinceNs = p.SinceNs()
	}
	c.AtNs, c.Packets, c.Hit = nowNs, c.Packets+p.N, c.Hit.Plus(p.Hit)
}

// Told notes that an event tells of the packets, or that they are of before.
func (c *Cut) Told() { c.Packets, c.Hit = 0, nil }
