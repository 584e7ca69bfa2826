// Package clock finds out by how much the clocks of nodes differ, from the packets between them. It knows samples and
// time, and no tables. An Estimator is not for concurrent use.
//
// Each node stamps packets with a clock of its own. What two neighbours say of the packets between them bounds by how
// much their clocks differ, and an Estimator keeps these bounds:
//
//	a packet from a to b:   ingress at b - egress at a = delay + difference,  so difference <= what is measured
//	a packet from b to a:   ingress at a - egress at b = delay - difference,  so difference >= -(what is measured)
//
// because no delay is negative. The smallest measurements of both directions leave a gap as wide as the two smallest
// delays together. The difference is taken to be in its middle, which is right if these two are equal, and half of the
// gap is how wrong that can be if they are not: the bound needs no assumption on paths. As clocks run at different
// rates, the bounds of many moments leave room for certain straight lines only (V. Paxson, "On Calibrating Measurements
// of Packet Transit Times", 1998; S. Moon, P. Skelly, D. Towsley, "Estimation and Removal of Clock Skew from Network
// Delay Measurements", 1999).
//
// The life of a sample: pair.take keeps it if it is the tightest bound of its slot, pair.close fits the line when
// the window ends (fit.go), Estimator.plant joins neighbours to trees (tree.go), Estimator.Correct uses them.
package clock

import "fmt"

const (
	// slots is how many bounds a window keeps for each direction.
	slots = 4
	// windows is for how many windows bounds are kept: a clock that wanders is straight for so long only.
	windows = 16
	// maxDrift is the largest difference of two rates that is taken for one: 1000 parts per million. Oscillators stay
	// below 100. What is faster is a clock that somebody sets.
	maxDrift = 1e-3
)

// Config bounds an Estimator. Use DefaultConfig and change what is needed.
type Config struct {
	// MaxPairs is how many pairs of neighbouring nodes are kept; each takes about 4 kB.
	MaxPairs int
	// WindowNs is how long samples are gathered before a line is fitted, in nanoseconds.
	WindowNs int64
	// LateNs is by how much a report may be later than the quickest of its pair, in nanoseconds. Stamps that wrap in
	// less than twice that cannot be told apart and are not used.
	LateNs int64
	// StepNs is the smallest jump of a clock that is told, in nanoseconds. Smaller ones are followed silently.
	StepNs int64
}

// DefaultConfig returns bounds for a network of about a thousand nodes: 16 MiB.
func DefaultConfig() Config {
	return Config{MaxPairs: 4096, WindowNs: 1e9, LateNs: 1e9, StepNs: 1e3}
}

// check returns the first thing that is wrong.
func (c *Config) check() error {
	switch {
	case c.MaxPairs < 1:
		return fmt.Errorf("clock pairs: got %d, want at least 1", c.MaxPairs)
	case c.WindowNs < slots || c.WindowNs > 3600e9:
		return fmt.Errorf("clock window: got %d ns, want %d ns to an hour", c.WindowNs, slots)
	case c.LateNs < 0 || c.LateNs > 3600e9:
		return fmt.Errorf("late reports: got %d ns, want 0 to an hour", c.LateNs)
	case c.StepNs < 0 || c.StepNs > 3600e9:
		return fmt.Errorf("smallest clock step: got %d ns, want 0 to an hour", c.StepNs)
	}
	return nil
}

// Estimator estimates by how much the clocks of nodes differ. It is not for concurrent use.
type Estimator struct {
	config   Config
	open     bool  // a window is
	startNs  int64 // of the open window, by the clock here
	pairs    []pair
	places   map[uint64]int32 // in pairs, by pairKey
	free     []int32          // places that were given up
	nodes    []node           // as of the last window, by id
	steps    []Step           // of the last window
	scratch  scratch
	counters Counters
}

// Counters say what became of samples and clocks.
type Counters struct {
	Samples  uint64 // that came
	Unusable uint64 // stamps that wrap too soon, or of one node only
	Late     uint64 // much later or earlier than others of the pair
	Overflow uint64 // of a pair that there was no room for
	Pairs    int
	Steps    uint64 // jumps of the clocks of pairs
}

// New returns an Estimator that knows nothing yet. All memory for samples is set aside here.
func New(c Config) (*Estimator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Estimator{
		config: c, pairs: make([]pair, 0, c.MaxPairs), places: make(map[uint64]int32, c.MaxPairs),
		free: make([]int32, 0, c.MaxPairs),
	}, nil
}

// Observe takes a sample. It does not allocate and keeps nothing of s. A sample belongs to the window that is open: a
// late one cannot change a window that is closed.
func (c *Estimator) Observe(s *Sample) {
	c.counters.Samples++
	if !s.usable(c.config.LateNs) {
		c.counters.Unusable++
		return
	}
	if !c.open {
		c.openAt(s.ArrivalNs)
	}
	p := c.pairFor(s)
	if p == nil {
		c.counters.Overflow++
		return
	}
	before := p.doubts
	if !p.take(s, c.slotOf(s.ArrivalNs), c.config.LateNs) {
		c.counters.Late++
	}
	if p.doubts > 0 && before == 0 {
		c.suspect(p)
	}
}

// Advance tells the time here, nanoseconds since 1970. When a window is over it returns the steps that were found,
// valid up to the next call. Call it with each batch, or some times in each window.
func (c *Estimator) Advance(nowNs int64) []Step {
	if !c.open {
		c.openAt(nowNs)
		return nil
	}
	// A clock here that is set back a little is waited for; one that is set back by more begins anew.
	if away := nowNs - c.startNs; away > -c.config.WindowNs && away < c.config.WindowNs {
		return nil
	}
	c.steps = c.steps[:0]
	last := c.slotOf(c.startNs) + slots - 1
	for i := range c.pairs {
		p := &c.pairs[i]
		if p.used {
			c.close(p, last)
			if p.idle > windows {
				c.giveUp(int32(i))
			}
		}
	}
	c.plant()
	c.blame()
	c.openAt(nowNs)
	return c.steps
}

// close ends the window of a pair.
func (c *Estimator) close(p *pair, last int64) {
	endNs := c.startNs + c.config.WindowNs
	if step, ok := p.close(last, endNs, &c.config, &c.scratch); ok {
		c.counters.Steps++
		c.steps = append(c.steps, step)
	}
}

// openAt opens the window of a moment.
func (c *Estimator) openAt(nowNs int64) {
	c.open = true
	c.startNs = nowNs - floorMod(nowNs, c.config.WindowNs)
}

// slotOf returns the number of the slot of the open window that is nearest to a moment.
func (c *Estimator) slotOf(atNs int64) int64 {
	slotNs := c.config.WindowNs / slots
	in := min(max(atNs-c.startNs, 0)/slotNs, slots-1)
	return c.startNs/c.config.WindowNs*slots + in
}

// WindowStartNs is when the open window began, nanoseconds since 1970.
func (c *Estimator) WindowStartNs() int64 { return c.startNs }

// WindowEndNs is when it ends.
func (c *Estimator) WindowEndNs() int64 { return c.startNs + c.config.WindowNs }

// Counters returns what was counted so far.
func (c *Estimator) Counters() Counters {
	n := c.counters
	n.Pairs = len(c.places)
	return n
}

// pairKey is the same for both directions.
func pairKey(a, b uint32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// pairOf returns the pair of two nodes, nil if nothing is known of it.
func (c *Estimator) pairOf(a, b uint32) *pair {
	if i, ok := c.places[pairKey(a, b)]; ok {
		return &c.pairs[i]
	}
	return nil
}

// pairFor returns the pair of a sample, which it adds if there is room; else nil.
func (c *Estimator) pairFor(s *Sample) *pair {
	if p := c.pairOf(s.From, s.To); p != nil {
		return p
	}
	var place int32
	switch {
	case len(c.free) > 0:
		place = c.free[len(c.free)-1]
		c.free = c.free[:len(c.free)-1]
	case len(c.pairs) < cap(c.pairs):
		place = int32(len(c.pairs))
		c.pairs = c.pairs[:place+1]
	default:
		return nil
	}
	c.pairs[place] = pair{used: true, a: min(s.From, s.To), b: max(s.From, s.To)}
	c.places[pairKey(s.From, s.To)] = place
	return &c.pairs[place]
}

// Forget forgets all that is known of the clock of a node.
func (c *Estimator) Forget(node uint32) {
	for i := range c.pairs {
		if p := &c.pairs[i]; p.used && (p.a == node || p.b == node) {
			c.giveUp(int32(i))
		}
	}
	c.plant()
}

// giveUp forgets a pair of which nothing was seen for long.
func (c *Estimator) giveUp(place int32) {
	p := &c.pairs[place]
	delete(c.places, pairKey(p.a, p.b))
	p.used = false
	c.free = append(c.free, place)
}
