package analyze

import "github.com/waybill-int/waybill/telemetry"

// A guard stands in front of a full flow table. A flood of spoofed flows, of one packet each, must not push out those
// that people ask for. So a new flow is let in with its second packet: a flow that nothing was seen of before stays
// outside.
//
// What was seen is kept in two Bloom filters, of the flows of now and of those before. When the first has all that it
// was made for, the other is emptied and takes its place. So flows are remembered for as long as it takes others to
// fill a filter once to twice. Both filters have their bits for a flow in one cache line, so that a look costs one
// access to memory.
type guard struct {
	lines []guardLine
	now   int // which of the two filters is that of now
	added int // flows in it
	most  int
}

// A guardLine has 256 bits of each filter. A flow has one bit in each of four words.
type guardLine [2][4]uint64

const (
	// guardWindow is how many flows a filter remembers for each flow that the table has room for.
	guardWindow = 8
	// flowsPerLine makes four bits of a flow that was never seen be set by others in 3 cases of 100, when a filter is
	// full.
	flowsPerLine = 32
	// guardBytes is what a guard takes for each flow that the table has room for.
	guardBytes = guardWindow * 64 / flowsPerLine
)

// newGuard returns a guard of a table for so many flows.
func newGuard(flows int) guard {
	most := flows * guardWindow
	return guard{lines: make([]guardLine, most/flowsPerLine+1), most: most}
}

// admits reports whether a flow with that hash was seen before, and remembers that it was seen now.
func (g *guard) admits(hash uint64) bool {
	line := &g.lines[hash>>32*uint64(len(g.lines))>>32]
	now, before := &line[g.now], &line[1-g.now]
	inNow, inBefore := true, true
	for word := range now {
		bit := uint64(1) << (hash >> (6 * word) & 63)
		inNow = inNow && now[word]&bit != 0
		inBefore = inBefore && before[word]&bit != 0
		now[word] |= bit
	}
	if !inNow {
		if g.added++; g.added >= g.most {
			g.turn()
		}
	}
	return inNow || inBefore
}

// turn empties the filter of before and lets it be that of now.
func (g *guard) turn() {
	g.now, g.added = 1-g.now, 0
	for i := range g.lines {
		clear(g.lines[i][g.now][:])
	}
}

// admits reports whether a flow that is not in the table may come in.
func (s *Shard) admits(r *telemetry.Report) bool {
	if s.flows.count < s.flows.max {
		return true
	}
	if s.guard.lines == nil {
		s.guard = newGuard(s.flows.max)
	}
	if s.guard.admits(r.Flow.HashSeed(s.flows.seed)) {
		return true
	}
	s.rejected++
	return false
}

// outsider returns an empty flow for a report, or a packet, whose flow is not in the table: it counts for paths, nodes,
// links, queues and drops all the same. It is valid until the next call, and forgotten by forgetOutsider.
func (s *Shard) outsider(key *telemetry.FlowKey, tag uint32, nowNs int64) *flow {
	s.forgetOutsider()
	s.unkept = flow{key: *key, tag: tag, first: nowNs}
	return &s.unkept
}

// forgetOutsider frees what the flow of outsider holds elsewhere, once: its key may come in with its next report.
func (s *Shard) forgetOutsider() {
	s.release(&s.unkept)
	s.unkept.key = telemetry.FlowKey{}
	s.unkept.paths = [keptPaths]flowPath{}
	if s.intervals != nil {
		s.intervals.ungivenFlows += s.unkept.packets
	}
	s.unkept.packets = 0
}
