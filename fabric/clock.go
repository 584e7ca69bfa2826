package fabric

// A clock is wrong by an offset and a drift.
type clock struct {
	offsetNs int64 // at sinceNs, added to the right time
	driftPPB int64 // parts per 10^9 that it is too fast
	sinceNs  int64 // virtual time
}

// errorNs returns by how much the clock is fast at a moment of virtual time, nanoseconds. Seconds and the rest are
// multiplied apart: a year times a drift of 10% would overflow.
func (c *clock) errorNs(nowNs int64) int64 {
	if c.driftPPB == 0 {
		return c.offsetNs
	}
	elapsed := nowNs - c.sinceNs
	return c.offsetNs + elapsed/1e9*c.driftPPB + elapsed%1e9*c.driftPPB/1e9
}

// step adds to what is wrong from now on.
func (c *clock) step(nowNs, offsetNs, driftPPB int64) {
	c.offsetNs = c.errorNs(nowNs) + offsetNs
	c.driftPPB += driftPPB
	c.sinceNs = nowNs
}
