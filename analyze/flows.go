package analyze

import (
	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A hopStat is what one flow met at one hop of one path: a cache line.
type hopStat struct {
	sum, min, max uint64 // latency, ns
	queueSum      uint64
	count         uint32
	queueCount    uint32
	queueMax      uint32
	queueID       uint8
	_             uint8
	histogram.Shape
	buckets [6]uint16
}

// flowPath is a path that packets of a flow took.
type flowPath struct {
	first, last int64
	packets     uint32
	path        uint32 // place in the path table
	block       uint32 // of hopStats
	generation  uint16 // of the path table's place when it was this path
	hops        uint8
	used        bool
}

// A flowLatency is a distribution kept for each flow.
type flowLatency struct {
	histogram.Summary
	histogram.Shape
	buckets [14]uint16
}

func (l *flowLatency) addIndexed(v uint64, index int32) {
	l.Summary.Observe(v)
	histogram.Add(&l.Shape, l.buckets[:], index)
}

func (l *flowLatency) distribution() *telemetry.Distribution {
	return histogram.Distribution(&l.Summary, &l.Shape, l.buckets[:])
}

// keptPaths is how many paths a flow remembers: the one it takes now and the one before.
const keptPaths = 2

// A flow is an entry of the flow table. It holds no pointers, so that a million of them cost the garbage collector
// nothing.
type flow struct {
	key         telemetry.FlowKey
	first, last int64
	reports     uint64
	packets     uint64
	bytes       uint64
	device      uint64
	drops       uint32
	pathChanges uint32
	tag         uint32
	dscp        uint8
	used        bool
	touched     bool // a second report came since the eviction hand last passed
	hasDevice   bool
	stacked     bool   // its reports carry INT stacks
	partial     bool   // some of them are intermediate ones
	stackAt     uint8  // when the latest stack came, see stackTime
	ttl         uint8  // in the latest of them
	verdict     uint16 // on the path that it takes: see findingTable
	epoch       uint8  // of the findingTable when it was judged
	moved       bool   // it takes another path since data of its stream came
	numbered    bool   // its source numbers its packets: stream counts these, not bytes
	// its sink tells of the packets that it misses, and not of all others
	gapsReported bool
	missing      uint32 // packets whose numbers did not come

	// The path of the latest packet that was not dropped, as in flowPath.
	arrivedBy         uint32
	arrivedGeneration uint16
	arrived           bool
	vanished          bool // the latest packet was not seen by the last nodes of its path, see seenInPart
	entered           pathEntry
	stream            stream

	ends   attack.Ends
	weight uint32 // for how many packets one stands, as its source reports 1 in N; 0: for itself

	reporters ledger.Reporters

	residence, endToEnd flowLatency
	paths               [keptPaths]flowPath
}

const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
)

// flowTable keeps a bounded number of flows in chunks that are allocated as needed, found by an open-addressing index.
// When it is full, a flow gives way that no second report has touched for a turn of the hand: a flood of one-packet
// flows evicts itself before it evicts real ones.
type flowTable struct {
	max     int
	seed    uint64
	count   int
	chunks  [][]flow
	index   []uint64 // tag<<32 | place+1; linear probing from tag & mask; 0 is empty
	hand    int
	evicted uint64
}

func newFlowTable(limit int, seed uint64) flowTable {
	return flowTable{max: limit, seed: seed, index: make([]uint64, 1024)}
}

func (t *flowTable) at(i int) *flow { return &t.chunks[i>>chunkBits][i&(chunkSize-1)] }

// find returns the place of the flow and whether it is there; if not, the index position where it belongs.
func (t *flowTable) find(key *telemetry.FlowKey, tag uint32) (place, position int, ok bool) {
	mask := uint32(len(t.index) - 1)
	for pos := tag & mask; ; pos = (pos + 1) & mask {
		entry := t.index[pos]
		if entry == 0 {
			return 0, int(pos), false
		}
		if uint32(entry>>32) == tag {
			if i := int(uint32(entry)) - 1; t.at(i).key == *key {
				return i, int(pos), true
			}
		}
	}
}

// likely returns the place, from 1, where a flow with that tag is found first, if it is there, and otherwise 0. It
// looks at the index alone.
func (t *flowTable) likely(tag uint32) uint32 {
	if entry := t.index[tag&uint32(len(t.index)-1)]; uint32(entry>>32) == tag {
		return uint32(entry)
	}
	return 0
}

// keyOf returns the key of a flow by its tag; nil: it gave way to another.
func (t *flowTable) keyOf(tag uint32) *telemetry.FlowKey {
	mask := uint32(len(t.index) - 1)
	for pos := tag & mask; t.index[pos] != 0; pos = (pos + 1) & mask {
		if entry := t.index[pos]; uint32(entry>>32) == tag {
			return &t.at(int(uint32(entry)) - 1).key
		}
	}
	return nil
}

func (t *flowTable) tagOf(key *telemetry.FlowKey) uint32 { return uint32(key.HashSeed(t.seed) >> 32) }

// insert adds a flow that find did not find and returns it. evict is called with the place and the flow that gives way,
// if one must.
func (t *flowTable) insert(key *telemetry.FlowKey, tag uint32, evict func(place int, f *flow)) *flow {
	var place int
	if t.count < t.max {
		place = t.count
		t.count++
		if place>>chunkBits == len(t.chunks) {
			t.chunks = append(t.chunks, make([]flow, min(chunkSize, t.max-place)))
		}
		if 2*t.count > len(t.index) {
			t.grow()
		}
	} else {
		for t.at(t.hand).touched {
			t.at(t.hand).touched = false
			t.hand = (t.hand + 1) % t.max
		}
		place = t.hand
		t.hand = (t.hand + 1) % t.max
		old := t.at(place)
		evict(place, old)
		t.remove(old.tag, place)
		t.evicted++
	}
	f := t.at(place)
	*f = flow{key: *key, tag: tag, used: true}
	t.put(tag, place)
	return f
}

func (t *flowTable) put(tag uint32, place int) {
	mask := uint32(len(t.index) - 1)
	pos := tag & mask
	for t.index[pos] != 0 {
		pos = (pos + 1) & mask
	}
	t.index[pos] = uint64(tag)<<32 | uint64(place+1)
}

func (t *flowTable) grow() {
	old := t.index
	t.index = make([]uint64, 2*len(old))
	for _, entry := range old {
		if entry != 0 {
			t.put(uint32(entry>>32), int(uint32(entry))-1)
		}
	}
}

// remove takes an entry out of the index and closes the gap, so that probing needs no tombstones.
func (t *flowTable) remove(tag uint32, place int) {
	mask := uint32(len(t.index) - 1)
	pos := tag & mask
	for int(uint32(t.index[pos]))-1 != place {
		pos = (pos + 1) & mask
	}
	for next := pos; ; {
		next = (next + 1) & mask
		entry := t.index[next]
		if entry == 0 {
			break
		}
		// The entry may move back to pos if its home is not between pos and where it stands.
		if home := uint32(entry>>32) & mask; (next-home)&mask >= (next-pos)&mask {
			t.index[pos] = entry
			pos = next
		}
	}
	t.index[pos] = 0
}

// hopSlab hands out blocks of hopStats of one to maxElements each; a block is addressed by chunk and offset.
type hopSlab struct {
	chunks [][]hopStat
	free   [topology.MaxHops + 1][]uint32
}

// take returns a zeroed block of n hopStats.
func (s *hopSlab) take(n int) uint32 {
	free := &s.free[n]
	if len(*free) == 0 {
		s.chunks = append(s.chunks, make([]hopStat, chunkSize/n*n))
		base := uint32(len(s.chunks)-1) << chunkBits
		for off := chunkSize/n*n - n; off >= 0; off -= n {
			*free = append(*free, base|uint32(off))
		}
	}
	block := (*free)[len(*free)-1]
	*free = (*free)[:len(*free)-1]
	clear(s.block(block, n))
	return block
}

func (s *hopSlab) block(block uint32, n int) []hopStat {
	off := int(block & (chunkSize - 1))
	return s.chunks[block>>chunkBits][off : off+n]
}

func (s *hopSlab) give(block uint32, n int) { s.free[n] = append(s.free[n], block) }
