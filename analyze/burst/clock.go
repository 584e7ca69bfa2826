package burst

// A clock follows the clock of a node by its samples. It is never compared with another clock: many nodes count from
// when they started.
type clock struct {
	newest  uint64 // latest moment in a sample, ns
	before  uint64 // the same before the clock was set for the last time
	known   uint64 // newest at the last Advance
	at      int64  // Bursts.passedNs when that came, or a little later
	fresh   bool   // it came after the last Advance
	stray   uint64 // of the last sample that was far from newest
	strays  int    // such samples in a row
	started bool
}

// straysToJump is how many samples in a row must agree that the clock was set. A single report that somebody sends
// again a year later must not.
const straysToJump = 3

// take notes a moment in a sample. It says that this is no moment for now (stray), or that the clock was set to it
// (jumped).
func (c *clock) take(t uint64, passedNs int64, jump uint64) (stray, jumped bool) {
	if !c.started {
		*c = clock{newest: t, at: passedNs, fresh: true, started: true}
		return false, false
	}
	if t >= c.newest {
		if t-c.newest <= jump || t-c.newest <= jump+uint64(passedNs-c.at) {
			c.newest, c.at, c.fresh, c.strays = t, passedNs, true, 0
			return false, false
		}
	} else if c.newest-t <= jump {
		c.strays = 0
		return false, false
	}
	if max(t, c.stray)-min(t, c.stray) > jump {
		c.strays = 0
	}
	c.stray = t
	if c.strays++; c.strays < straysToJump {
		return true, false
	}
	*c = clock{newest: t, before: c.newest, at: passedNs, fresh: true, started: true}
	return false, true
}

// advance notes that time passes. What came since it was last called came now at the latest.
func (c *clock) advance(passedNs int64) {
	c.known = c.newest
	if c.fresh {
		c.at, c.fresh = passedNs, false
	}
}

// now returns what the clock shows if it went on since the newest sample.
func (c *clock) now(passedNs int64) uint64 { return c.newest + uint64(passedNs-c.at) }
