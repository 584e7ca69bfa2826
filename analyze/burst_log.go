package analyze

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxBursts is how many bursts a BurstLog keeps.
const MaxBursts = 1024

// maxBurstFlows is how many flows of the time line of a burst are told apart.
const maxBurstFlows = 128

// A BurstLog keeps the details of the latest bursts, as many as there is memory for.
type BurstLog struct {
	mu        sync.Mutex
	maxBytes  uint64
	bytes     uint64
	list      []*keptBurst // the oldest first
	forgotten uint64
	counters  BurstCounters // of what finds them, at the last look
	unsampled uint64
}

// A keptBurst is a burst and the names of its flows, which may be gone from the flow table by now.
type keptBurst struct {
	Burst
	id      string
	startNs int64     // since 1970
	name    string    // of the node
	flows   []FlowRef // sorted
	keys    []telemetry.FlowKey
	known   []bool // whether there is a key, by flow
}

// newKeptBurst returns b with places for the names of its flows, which the caller fills in.
func newKeptBurst(b *Burst) *keptBurst {
	k := &keptBurst{Burst: *b, flows: flowsOfBurst(b)}
	k.keys, k.known = make([]telemetry.FlowKey, len(k.flows)), make([]bool, len(k.flows))
	return k
}

// NewBurstLog returns a log that takes at most maxBytes of memory.
func NewBurstLog(maxBytes uint64) *BurstLog { return &BurstLog{maxBytes: maxBytes} }

// What a burst takes of memory, in bytes.
const (
	perBurst     = 512
	perBurstFlow = 96 // in a list, or by name
	perPoint     = 40
)

// size is how many bytes of memory k takes.
func (k *keptBurst) size() uint64 {
	n := perBurst + perBurstFlow*(cap(k.Culprits)+cap(k.Victims)+len(k.flows)) + perPoint*cap(k.Timeline)
	for _, row := range k.Stack.Bytes {
		n += 8*len(row) + 24
	}
	return uint64(n)
}

// flowsOfBurst lists the flows of a burst, each once: those of its lists, and as many of its time line as there is room for.
func flowsOfBurst(b *Burst) []FlowRef {
	var list []FlowRef
	for i := range b.Culprits {
		list = append(list, b.Culprits[i].Flow)
	}
	for i := range b.Victims {
		list = append(list, b.Victims[i].Flow)
	}
	list = append(list, b.Stack.Flows...)
	slices.Sort(list)
	list = slices.Compact(list)
	for i := 0; i < len(b.Timeline) && len(list) < maxBurstFlows; i++ {
		if at, found := slices.BinarySearch(list, b.Timeline[i].Flow); !found {
			list = slices.Insert(list, at, b.Timeline[i].Flow)
		}
	}
	return slices.Clip(list)
}

// add keeps a burst; the oldest give way.
func (l *BurstLog) add(k *keptBurst) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, k)
	l.bytes += k.size()
	for len(l.list) > MaxBursts || l.bytes > l.maxBytes && len(l.list) > 0 {
		l.bytes -= l.list[0].size()
		l.list[0] = nil
		l.list = l.list[1:]
		l.forgotten++
	}
}

// note takes what the search for bursts counted.
func (l *BurstLog) note(c BurstCounters, unsampled uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counters, l.unsampled = c, unsampled
}

// A BurstOrder is what bursts are listed by.
type BurstOrder string

// Orders of bursts.
const (
	BurstsByLast     BurstOrder = "last"     // the latest first
	BurstsByPeak     BurstOrder = "peak"     // the longest queue first
	BurstsByDuration BurstOrder = "duration" // the longest time first
	BurstsByDrops    BurstOrder = "drops"    // the most drops first
)

// Bursts returns the first limit bursts of an order that match, and how many match. Nil matches all. What match gets has no
// flows.
func (l *BurstLog) Bursts(match func(*telemetry.Burst) bool, order BurstOrder, limit int) (list []telemetry.Burst, total int) {
	l.mu.Lock()
	kept := slices.Clone(l.list)
	l.mu.Unlock()
	slices.Reverse(kept)
	if match != nil {
		kept = slices.DeleteFunc(kept, func(k *keptBurst) bool {
			b := k.answer()
			return !match(&b)
		})
	}
	slices.SortStableFunc(kept, func(x, y *keptBurst) int {
		switch order {
		case BurstsByPeak:
			return cmp.Compare(y.PeakBytes, x.PeakBytes)
		case BurstsByDuration:
			return cmp.Compare(y.EndNs-y.StartNs, x.EndNs-x.StartNs)
		case BurstsByDrops:
			return cmp.Compare(y.Drops, x.Drops)
		}
		return cmp.Compare(y.startNs, x.startNs)
	})
	list = make([]telemetry.Burst, 0, min(limit, len(kept)))
	for _, k := range kept[:min(limit, len(kept))] {
		b := k.answer()
		k.lists(&b)
		list = append(list, b)
	}
	return list, len(kept)
}

// after returns the bursts that were added behind the first n, the oldest first, how many were added in all, and how many of
// them are missing because they gave way.
func (l *BurstLog) after(n uint64) (list []telemetry.Burst, added, missing uint64) {
	l.mu.Lock()
	kept := slices.Clone(l.list)
	added = l.forgotten + uint64(len(kept))
	l.mu.Unlock()
	switch first := added - uint64(len(kept)); {
	case n > first:
		kept = kept[n-first:]
	case n < first:
		missing = first - n
	}
	for _, k := range kept {
		b := k.answer()
		k.lists(&b)
		list = append(list, b)
	}
	return list, added, missing
}

// Burst returns one burst with all that is kept of it; false if there is none.
func (l *BurstLog) Burst(id string) (telemetry.BurstDetail, bool) {
	l.mu.Lock()
	at := slices.IndexFunc(l.list, func(k *keptBurst) bool { return k.id == id })
	var k *keptBurst
	if at >= 0 {
		k = l.list[at]
	}
	l.mu.Unlock()
	if k == nil {
		return telemetry.BurstDetail{}, false
	}
	return k.detail(), true
}

// answer returns all but the flows. A keptBurst does not change, so that this needs no lock.
func (k *keptBurst) answer() telemetry.Burst {
	at := func(ns uint64) time.Time { return time.Unix(0, k.startNs+int64(ns-k.StartNs)).UTC() }
	return telemetry.Burst{
		ID: k.id, Node: k.Node, Name: k.name, Port: k.Port, Queue: k.Queue,
		Start: at(k.StartNs), Peak: at(k.PeakNs), End: at(k.EndNs), DurationNs: k.EndNs - k.StartNs,
		StartSlackNs: k.StartSlackNs, EndSlackNs: k.EndSlackNs, Open: k.Open,
		PeakBytes: k.PeakBytes, PeakDelayNs: k.PeakDelayNs, AboveBytes: k.AboveBytes, BelowBytes: k.BelowBytes,
		Packets: k.Packets, Bytes: k.Bytes, Drops: k.Drops, Complete: k.Complete,
		Sources: k.Sources, MainSources: k.MainSources, Incast: k.Incast, OtherFlows: k.OtherFlows, OtherBytes: k.OtherBytes,
	}
}

// endpoints returns the ends of a flow, nil if it is not known.
func (k *keptBurst) endpoints(flow FlowRef) *telemetry.Endpoints {
	at, found := slices.BinarySearch(k.flows, flow)
	if !found || !k.known[at] {
		return nil
	}
	e := telemetry.EndpointsOf(&k.keys[at])
	return &e
}

func (k *keptBurst) lists(b *telemetry.Burst) {
	b.Culprits, b.Victims = make([]telemetry.Culprit, len(k.Culprits)), make([]telemetry.Victim, len(k.Victims))
	for i := range k.Culprits {
		c := &k.Culprits[i]
		b.Culprits[i] = telemetry.Culprit{
			Flow: k.endpoints(c.Flow), Packets: c.Packets, Bytes: c.Bytes, Drops: c.Drops, BuildUpBytes: c.BuildUpBytes, Share: c.Share,
		}
	}
	for i := range k.Victims {
		v := &k.Victims[i]
		b.Victims[i] = telemetry.Victim{
			Flow: k.endpoints(v.Flow), Packets: v.Packets, Bytes: v.Bytes, Drops: v.Drops, ExtraNs: v.ExtraNs, MaxExtraNs: v.MaxExtraNs,
		}
	}
}

func (k *keptBurst) detail() telemetry.BurstDetail {
	d := telemetry.BurstDetail{
		Burst: k.answer(), Samples: k.Samples, Flows: make([]*telemetry.Endpoints, len(k.flows)), Timeline: make([]telemetry.BurstPoint, len(k.Timeline)),
		Stack: telemetry.BurstStack{StepNs: k.Stack.StepNs, Flows: make([]int, len(k.Stack.Flows)), Bytes: k.Stack.Bytes},
	}
	k.lists(&d.Burst)
	place := func(flow FlowRef) int {
		if at, found := slices.BinarySearch(k.flows, flow); found {
			return at
		}
		return -1
	}
	for i, flow := range k.flows {
		d.Flows[i] = k.endpoints(flow)
	}
	for i := range k.Timeline {
		p := &k.Timeline[i]
		d.Timeline[i] = telemetry.BurstPoint{
			AtNs: int64(p.AtNs - k.StartNs), Depth: p.Depth, Bytes: p.Bytes, Flow: place(p.Flow), ExtraNs: p.ExtraNs, Dropped: p.Dropped,
		}
	}
	for i, flow := range k.Stack.Flows {
		d.Stack.Flows[i] = place(flow)
	}
	if d.Stack.Bytes == nil {
		d.Stack.Bytes = [][]uint64{}
	}
	return d
}

// BurstTotals are totals of a BurstLog.
type BurstTotals struct {
	Kept             int
	Found, Forgotten uint64 // bursts that are over, and those that gave way to newer ones
	SamplesLost      uint64 // what packets met at queues and did not count, for want of room or of a possible time
	SamplesThinned   uint64 // of long bursts, that gave way to newer ones of the same burst
}

// Totals returns totals.
func (l *BurstLog) Totals() BurstTotals {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.counters
	return BurstTotals{
		Kept: len(l.list), Found: c.Bursts, Forgotten: l.forgotten + c.LeftBursts,
		SamplesLost: l.unsampled + c.Untimed + c.Impossible + c.Late + c.Stray + c.Overflow, SamplesThinned: c.Thinned,
	}
}
