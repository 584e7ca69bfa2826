package loss

// A Gap is numbers of a flow that have not come, and what came behind them.
type Gap struct {
	Ns         int64 // of the join's time, when it was seen; 0: no gap
	ArrivedNs  int64 // the same since 1970
	Tag        uint32
	From, To   uint32
	Missing    uint32 // of these numbers
	Path       uint32 // of the packet behind them
	Full       uint32 // see fullQueues
	Generation uint16
}

// A Gaps keeps the latest gaps of all flows of a shard, until it is certain that nothing fills them.
type Gaps struct {
	sets      [][perSet]Gap // none until a packet has a number
	Open      int
	settledNs int64
}

const (
	// gapWaitNs is how long the numbers in a gap may still come, of packets that were overtaken or dropped.
	gapWaitNs       = int64(400e6)
	gapSets, perSet = 1024, 4
)

// Fill takes a number out of the gap of a flow that it belongs to; false if there is none.
func (t *Gaps) Fill(tag, number uint32) bool {
	if t.sets == nil {
		return false
	}
	set := &t.sets[tag%gapSets]
	for i := range set {
		g := &set[i]
		if g.Ns == 0 || g.Tag != tag || int32(number-g.From) < 0 || int32(g.To-number) <= 0 {
			continue
		}
		if g.Missing--; g.Missing == 0 {
			g.Ns = 0
			t.Open--
		}
		return true
	}
	return false
}

// Add keeps a gap. It returns the oldest one of its set, which gives way to it.
func (t *Gaps) Add(g *Gap) Gap {
	if t.sets == nil {
		t.sets = make([][perSet]Gap, gapSets)
	}
	set := &t.sets[g.Tag%gapSets]
	at := &set[0]
	for i := range set {
		if set[i].Ns < at.Ns {
			at = &set[i]
		}
	}
	oldest := *at
	*at = *g
	if oldest.Ns == 0 {
		t.Open++
	}
	return oldest
}

// Settle gives the gaps that nothing fills any more, if it is time to look. atNs is up to when all that arrived is
// known, in the time of gaps.
func (t *Gaps) Settle(atNs int64, give func(*Gap)) {
	if t.Open == 0 || atNs-t.settledNs < gapWaitNs/4 {
		return
	}
	t.settledNs = atNs
	for i := range t.sets {
		for j := range t.sets[i] {
			if g := &t.sets[i][j]; g.Ns > 0 && atNs-g.Ns >= gapWaitNs {
				give(g)
				g.Ns = 0
				t.Open--
			}
		}
	}
}
