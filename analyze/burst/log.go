package burst

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxKept is how many bursts a Log keeps.
const MaxKept = 1024

// maxBurstFlows is how many flows of the time line of a burst are told apart.
const maxBurstFlows = 128

// A Log keeps the details of the latest bursts, as many as there is memory for.
type Log struct {
	mu        sync.Mutex
	maxBytes  uint64
	bytes     uint64
	list      []*Record // the oldest first
	open      []*Record // that are not over
	forgotten uint64
	counters  Counters // of what finds them, at the last look
	unsampled uint64
}

// A Record is a burst and the names of its flows, which may be gone from the flow table by now.
type Record struct {
	Burst
	ID          string
	StartUnixNs int64     // since 1970
	Name        string    // of the node
	Flows       []FlowRef // sorted
	Keys        []telemetry.FlowKey
	Known       []bool // whether there is a key, by flow
}

// NewRecord returns b with places for the names of its flows, which the caller fills in.
func NewRecord(b *Burst) *Record {
	k := &Record{Burst: *b, Flows: listFlows(b)}
	k.Keys, k.Known = make([]telemetry.FlowKey, len(k.Flows)), make([]bool, len(k.Flows))
	return k
}

// Extent returns whose packets were in the burst: of those that were seen, if these are not all.
func (k *Record) Extent() *telemetry.Extent {
	x := &telemetry.Extent{
		Packets: k.SeenPackets, Bytes: k.SeenBytes, Partly: k.Complete < 1 || k.StartSlackNs+k.EndSlackNs > 0,
	}
	if k.SeenBytes == 0 {
		x.Lengthless = k.SeenPackets
	}
	known := uint64(0)
	add := func(flow FlowRef, packets uint64) {
		if at, _ := slices.BinarySearch(k.Flows, flow); k.Known[at] {
			x.AddFlow(&k.Keys[at])
			known += packets
		}
	}
	for i := range k.Culprits {
		add(k.Culprits[i].Flow, k.Culprits[i].Packets)
	}
	for i := range k.Victims {
		add(k.Victims[i].Flow, k.Victims[i].Packets)
	}
	x.Flowless = k.SeenPackets - min(known, k.SeenPackets)
	return x
}

// NewLog returns a log that takes at most maxBytes of memory.
func NewLog(maxBytes uint64) *Log { return &Log{maxBytes: maxBytes} }

// What a burst takes of memory, in bytes.
const (
	perBurst     = 512
	perBurstFlow = 96 // in a list, or by name
	perPoint     = 40
)

// size is how many bytes of memory k takes.
func (k *Record) size() uint64 {
	n := perBurst + perBurstFlow*(cap(k.Culprits)+cap(k.Victims)+len(k.Flows)) + perPoint*cap(k.Timeline)
	for _, row := range k.Stack.Bytes {
		n += 8*len(row) + 24
	}
	return uint64(n)
}

// listFlows lists the flows of a burst, each once: those of its lists, and as many of its time line as there is room
// for.
func listFlows(b *Burst) []FlowRef {
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

// Add keeps a burst; the oldest give way.
func (l *Log) Add(k *Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, k)
	l.bytes += k.size()
	for len(l.list) > MaxKept || l.bytes > l.maxBytes && len(l.list) > 0 {
		l.bytes -= l.list[0].size()
		l.list[0] = nil
		l.list = l.list[1:]
		l.forgotten++
	}
}

// SetOpen takes the bursts that are not over, in place of those of before. They have no id yet.
func (l *Log) SetOpen(open []*Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = open
}

// Open returns the bursts that are not over and match, as of the latest look. What match gets has no flows.
func (l *Log) Open(match func(*telemetry.Burst) bool) (list []telemetry.Burst) {
	l.mu.Lock()
	open := l.open
	l.mu.Unlock()
	for _, k := range open {
		if b := k.answer(); match(&b) {
			k.lists(&b)
			list = append(list, b)
		}
	}
	return list
}

// SetCounters takes what the search for bursts counted.
func (l *Log) SetCounters(c Counters, unsampled uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counters, l.unsampled = c, unsampled
}

// An Order is what bursts are listed by.
type Order string

// Orders of bursts.
const (
	ByLast     Order = "last"     // the latest first
	ByPeak     Order = "peak"     // the longest queue first
	ByDuration Order = "duration" // the longest time first
	ByDrops    Order = "drops"    // the most drops first
)

// Bursts returns the first limit bursts of an order that match, and how many match. Nil matches all. What match gets
// has no flows.
func (l *Log) Bursts(match func(*telemetry.Burst) bool, order Order, limit int) (list []telemetry.Burst, total int) {
	l.mu.Lock()
	kept := slices.Clone(l.list)
	l.mu.Unlock()
	slices.Reverse(kept)
	if match != nil {
		kept = slices.DeleteFunc(kept, func(k *Record) bool {
			b := k.answer()
			return !match(&b)
		})
	}
	slices.SortStableFunc(kept, func(x, y *Record) int {
		switch order {
		case ByPeak:
			return cmp.Compare(peakOf(y), peakOf(x))
		case ByDuration:
			return cmp.Compare(y.EndNs-y.StartNs, x.EndNs-x.StartNs)
		case ByDrops:
			return cmp.Compare(y.Drops, x.Drops)
		}
		return cmp.Compare(y.StartUnixNs, x.StartUnixNs)
	})
	list = make([]telemetry.Burst, 0, min(limit, len(kept)))
	for _, k := range kept[:min(limit, len(kept))] {
		b := k.answer()
		k.lists(&b)
		list = append(list, b)
	}
	return list, len(kept)
}

// After returns the bursts that were added behind the first n, the oldest first, how many were added in all, and how
// many of them are missing because they gave way.
func (l *Log) After(n uint64) (list []telemetry.Burst, added, missing uint64) {
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
func (l *Log) Burst(id string) (telemetry.BurstDetail, bool) {
	l.mu.Lock()
	at := slices.IndexFunc(l.list, func(k *Record) bool { return k.ID == id })
	var k *Record
	if at >= 0 {
		k = l.list[at]
	}
	l.mu.Unlock()
	if k == nil {
		return telemetry.BurstDetail{}, false
	}
	return k.detail(), true
}

// peakOf is what bursts are ordered by: bytes where these are known.
func peakOf(k *Record) uint64 {
	if n, exact := k.Unit.Bytes(k.Peak); exact {
		return n
	}
	return k.Peak
}

// answer returns all but the flows. A Record does not change, so that this needs no lock.
func (k *Record) answer() telemetry.Burst {
	bytes := func(depth uint64) *uint64 {
		if n, exact := k.Unit.Bytes(depth); exact {
			return &n
		}
		return nil
	}
	at := func(ns uint64) time.Time { return time.Unix(0, k.StartUnixNs+int64(ns-k.StartNs)).UTC() }
	return telemetry.Burst{
		ID: k.ID, Node: k.Node, Name: k.Name, Port: k.Port, Queue: k.Queue,
		Start: at(k.StartNs), Peak: at(k.PeakNs), End: at(k.EndNs), DurationNs: k.EndNs - k.StartNs,
		StartSlackNs: k.StartSlackNs, EndSlackNs: k.EndSlackNs, Open: k.Open,
		UncertaintyNs: k.UncertaintyNs, Unit: k.Unit.String(), PeakDepth: k.Burst.Peak, AboveDepth: k.Above,
		BelowDepth: k.Below, PeakBytes: bytes(k.Burst.Peak), AboveBytes: bytes(k.Above), BelowBytes: bytes(k.Below),
		PeakDelayNs: k.PeakDelayNs,
		Packets:     k.Packets, Bytes: k.Bytes, Drops: k.Drops, Complete: k.Complete,
		Sources: k.Sources, MainSources: k.MainSources, MainFlows: k.MainFlows, Incast: k.Incast,
		OtherFlows: k.OtherFlows, OtherBytes: k.OtherBytes,
	}
}

// Endpoints returns the ends of a flow, nil if it is not known.
func (k *Record) Endpoints(flow FlowRef) *telemetry.Endpoints {
	at, found := slices.BinarySearch(k.Flows, flow)
	if !found || !k.Known[at] {
		return nil
	}
	e := telemetry.EndpointsOf(&k.Keys[at])
	return &e
}

func (k *Record) lists(b *telemetry.Burst) {
	b.Culprits, b.Victims = make([]telemetry.Culprit, len(k.Culprits)), make([]telemetry.Victim, len(k.Victims))
	for i := range k.Culprits {
		c := &k.Culprits[i]
		b.Culprits[i] = telemetry.Culprit{
			Flow: k.Endpoints(c.Flow), Packets: c.Packets, Bytes: c.Bytes, Drops: c.Drops, BuildUpBytes: c.BuildUpBytes,
			Share: c.Share, MaxExtraNs: c.MaxExtraNs,
		}
	}
	for i := range k.Victims {
		v := &k.Victims[i]
		b.Victims[i] = telemetry.Victim{
			Flow: k.Endpoints(v.Flow), Packets: v.Packets, Bytes: v.Bytes, Drops: v.Drops, ExtraNs: v.ExtraNs,
			MaxExtraNs: v.MaxExtraNs,
		}
	}
}

func (k *Record) detail() telemetry.BurstDetail {
	d := telemetry.BurstDetail{
		Burst: k.answer(), Samples: k.Samples, Flows: make([]*telemetry.Endpoints, len(k.Flows)),
		Timeline: make([]telemetry.BurstPoint, len(k.Timeline)),
		Stack: telemetry.BurstStack{
			StepNs: k.Stack.StepNs, Flows: make([]int, len(k.Stack.Flows)),
			Bytes: k.Stack.Bytes,
		},
	}
	k.lists(&d.Burst)
	place := func(flow FlowRef) int {
		if at, found := slices.BinarySearch(k.Flows, flow); found {
			return at
		}
		return -1
	}
	for i, flow := range k.Flows {
		d.Flows[i] = k.Endpoints(flow)
	}
	for i := range k.Timeline {
		p := &k.Timeline[i]
		d.Timeline[i] = telemetry.BurstPoint{
			AtNs: int64(p.AtNs - k.StartNs), Depth: p.Depth, Bytes: p.Bytes, Flow: place(p.Flow), ExtraNs: p.ExtraNs,
			Dropped: p.Dropped,
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

// Totals are totals of a Log.
type Totals struct {
	Kept             int
	Found, Forgotten uint64 // bursts that are over, and those that gave way to newer ones
	SamplesLost      uint64 // what packets met at queues and did not count, for want of room or of a possible time
	SamplesThinned   uint64 // of long bursts, that gave way to newer ones of the same burst
}

// Totals returns totals.
func (l *Log) Totals() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.counters
	return Totals{
		Kept: len(l.list), Found: c.Bursts, Forgotten: l.forgotten + c.LeftBursts,
		SamplesLost: l.unsampled + c.Untimed + c.Impossible + c.Late + c.Stray + c.Overflow, SamplesThinned: c.Thinned,
	}
}
