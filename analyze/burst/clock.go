package burst

import "math"

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
	turns   uint64 // of a clock of 48 bits
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
	*c = clock{newest: t, before: c.newest, at: passedNs, fresh: true, started: true, turns: c.turns}
	return false, true
}

// turnNs is after how much time stamps of 48 bits, which some devices put into 64, begin again at 0: 78 hours.
const turnNs = 1 << 48

// turned returns what a stamp is without the turns of a clock of 48 bits: such a one was near its end, and is near its
// beginning now.
func (c *clock) turned(t uint64) uint64 {
	const near = 3600e9
	if t >= turnNs || !c.started {
		return t
	}
	began, ends := c.turns*turnNs, (c.turns+1)*turnNs
	switch {
	case t < near && c.newest < ends && ends-c.newest < near:
		c.turns++
		return ends + t
	case c.turns > 0 && t > turnNs-near && c.newest < began+near: // it is of before
		return began - turnNs + t
	}
	return began + t
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

// wrapped unwraps the stamps of a node that begin again at 0 after some seconds, by the clock of the arrival of its
// reports: a report that is less than half of that later than the one before has its place.
type wrapped struct {
	started     bool
	raw, value  uint64 // the latest stamp, and what it is without wrapping
	arrivalNs   int64  // of its report
	wrapNs      uint64 // the least of its stamps: in records of 2016 they have 31 bits, in headers of reports 32
	least, most [2]int64
	turnNs      int64
}

// lagTurnNs is how long the quickest and the slowest report count: clocks drift.
const lagTurnNs = 10e9

// unwrap returns the moment of a stamp. The first is when its report came.
func (w *wrapped) unwrap(raw, wrapNs uint64, arrivalNs int64) uint64 {
	if !w.started {
		*w = wrapped{
			started: true, raw: raw, value: uint64(arrivalNs), arrivalNs: arrivalNs, wrapNs: wrapNs,
			turnNs: arrivalNs,
		}
		return w.value
	}
	w.wrapNs = min(w.wrapNs, wrapNs) // each is a multiple of the lesser ones
	wrapNs = w.wrapNs
	step := int64((raw - w.raw) % wrapNs)
	if raw < w.raw {
		step = int64(wrapNs - (w.raw-raw)%wrapNs)
	}
	turns := math.Round(float64(arrivalNs-w.arrivalNs-step) / float64(wrapNs))
	step += int64(turns) * int64(wrapNs)
	value := w.value + uint64(step)
	lag := arrivalNs - int64(value)
	if away := arrivalNs - w.turnNs; away > lagTurnNs || away < -lagTurnNs {
		w.least[1], w.most[1] = w.least[0], w.most[0]
		w.least[0], w.most[0], w.turnNs = lag, lag, arrivalNs
	}
	w.least[0], w.most[0] = min(w.least[0], lag), max(w.most[0], lag)
	if step > 0 {
		w.raw, w.value, w.arrivalNs = raw, value, arrivalNs
	}
	return value
}

// away returns what has to be added to unwrapped moments for those at which the quickest report came, and how much
// longer others took.
func (w *wrapped) away() (ns int64, uncertainty uint64) {
	least, most := min(w.least[0], w.least[1]), max(w.most[0], w.most[1])
	return least, uint64(most - least)
}
