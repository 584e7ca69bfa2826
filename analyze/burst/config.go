package burst

import "github.com/waybill-int/waybill/wire/codepoint"

// A Config says what a burst is and how much is kept. Use DefaultConfig and change what is needed.
type Config struct {
	// AboveBytes is the length of a queue, in bytes, above which a burst starts, BelowBytes the one at which it ends.
	// An AboveBytes of 0 takes it from the queue's own past: what is unusual there, see baseline, and at least
	// MinAboveBytes more than the median. A BelowBytes of 0 is half of the other, or half way from it to the median.
	AboveBytes, BelowBytes, MinAboveBytes uint64
	// AbovePackets, BelowPackets and MinAbovePackets are the same for queues that are counted in packets. Those that
	// are counted in cells have the thresholds in bytes, as so many cells; those whose unit is unknown have them too.
	AbovePackets, BelowPackets, MinAbovePackets uint64
	// AboveNs, BelowNs and MinAboveNs are the same for queues whose depth is not told, by the time that packets wait
	// there beyond what they wait in the empty queue.
	AboveNs, BelowNs, MinAboveNs uint64

	// LatenessNs is how much later than others of its node a sample may come, by the node's clock, and still count.
	LatenessNs uint64
	// MaxBehindNs is how long is waited at most for those who are behind, see Search.Behind. What comes still later
	// does not count, but gives slack to the bursts of that time.
	MaxBehindNs uint64
	// JumpNs is how far the clock of a node may seem to step without being taken for set anew.
	JumpNs uint64

	// IncastSources is the number of senders from which on a burst is an incast: the fewest that brought 80% of the
	// build-up.
	IncastSources int

	MaxQueues  int // that are watched at a time
	MaxSamples int // that wait in all queues together, at 48 bytes each; each queue has room for 64 more
	MaxBursts  int // that are over and were not taken yet
	MaxFlows   int // in each list of a burst
	MaxPoints  int // points of a time line
}

// DefaultConfig returns thresholds from the past of each queue, and bounds that fit in about 128 MiB.
func DefaultConfig() Config {
	return Config{
		MinAboveBytes: 30_000, MinAbovePackets: 20, MinAboveNs: 100_000,
		LatenessNs: 200e6, MaxBehindNs: 5e9, JumpNs: 1e9, IncastSources: 5,
		MaxQueues: 4096, MaxSamples: 1 << 21, MaxBursts: 1024, MaxFlows: 64, MaxPoints: 512,
	}
}

// ConfigFor returns a Config with thresholds from the past of each queue, whose samples stay below bytes.
func ConfigFor(bytes uint64) Config {
	const perSample, perQueue = 48, 1024 + leastRoom*48
	c := DefaultConfig()
	c.MaxQueues = int(max(min(bytes/4/perQueue, 4096), 64))
	c.MaxSamples = int(max((bytes-bytes/4)/perSample, 4096))
	c.MaxFlows, c.MaxPoints = 32, 256
	return c
}

// leastCell is the size of the smallest cells in use: queues that count cells of an unknown size are not taken for
// longer than they are.
const leastCell = 64

// depths returns the thresholds of queues that are counted in a unit.
func (c *Config) depths(unit Unit) (above, below, least uint64) {
	switch {
	case unit == codepoint.UnitPackets:
		return c.AbovePackets, c.BelowPackets, c.MinAbovePackets
	case unit >= codepoint.UnitCells:
		cell, ok := unit.CellBytes()
		if !ok {
			cell = leastCell
		}
		up := func(bytes uint64) uint64 { return (bytes + cell - 1) / cell }
		return up(c.AboveBytes), c.BelowBytes / cell, up(c.MinAboveBytes)
	}
	return c.AboveBytes, c.BelowBytes, c.MinAboveBytes
}

// leastBelow returns a length of queues, in a unit, at or below which every burst ends.
func (c *Config) leastBelow(unit Unit) uint32 {
	above, below, least := c.depths(unit)
	_, below = (&baseline{}).thresholds(above, below, least)
	return uint32(min(below, 1<<32-1))
}

// A Counters says what became of samples: Observed is the sum of Untimed, Impossible, Late, Stray, Overflow and of
// those that found their way into a queue.
type Counters struct {
	Observed   uint64
	Untimed    uint64 // without a moment at which the packet came
	Impossible uint64 // left before they came, or more than 4 s later
	Late       uint64 // older than what is settled
	Stray      uint64 // of a time that the clock of the node does not have
	Overflow   uint64 // of more queues than are watched

	Duplicates uint64 // of samples in queues: the same in every field as one before
	// samples that were settled before their time for want of room, so that others may have been late
	Early       uint64
	Thinned     uint64 // samples of a long burst that gave way to newer ones
	ClockJumps  uint64 // of nodes
	Evicted     uint64 // quiet queues that gave way to others
	Bursts      uint64 // that are over
	LeftBursts  uint64 // of these, that nobody took in time
	Queues      int    // that are watched
	SamplesHeld int    // that wait, or belong to a burst that is not over
}
