package loss

import "math"

// A Count counts what came on a path since the last scan.
type Count struct {
	Arrived         uint32 // packets with data that came in their order
	Lost            uint32 // packets that were sent again, of which no node said why
	Flows           uint32 // that lost these; one twice if others lost packets between
	Tag             uint32 // of the latest of them
	Jumped          uint32 // packets with data that came behind a hole
	FirstNs, LastNs int64  // when lost ones were missed
}

// Any reports whether packets came, or were lost.
func (c *Count) Any() bool { return c.Arrived+c.Lost > 0 }

// Add adds what another one counted, for instance in another shard.
func (c *Count) Add(o *Count) {
	if o.Lost > 0 {
		if c.Lost == 0 {
			c.FirstNs = o.FirstNs
		}
		c.FirstNs, c.LastNs = min(c.FirstNs, o.FirstNs), max(c.LastNs, o.LastNs)
		if c.Tag != o.Tag || c.Flows == 0 {
			c.Flows += o.Flows
		} else {
			c.Flows += o.Flows - 1
		}
		c.Tag = o.Tag
	}
	c.Arrived += o.Arrived
	c.Lost += o.Lost
	c.Jumped += o.Jumped
}

// share is how much of what was sent is lost.
func (c *Count) share() float64 { return float64(c.Lost) / float64(max(c.Arrived+c.Lost, 1)) }

// likelihood is the logarithm of how likely that many lost packets are if each is lost with a probability of share.
func (c *Count) likelihood() float64 {
	if c.Lost == 0 || c.Arrived == 0 {
		return 0
	}
	return float64(c.Lost)*math.Log(c.share()) + float64(c.Arrived)*math.Log(1-c.share())
}

// without returns what is left of c.
func (c *Count) without(o *Count) Count {
	return Count{Arrived: c.Arrived - o.Arrived, Lost: c.Lost - o.Lost}
}
