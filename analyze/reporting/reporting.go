// Package reporting finds out how nodes choose what they report. Reports do not say why they were sent: because a node
// reports every packet, or 1 in N, or because something changed. It shows in what they tell of some flows. A node that
// reports a packet if its latency is in another step than that of the packet before never reports two packets in a row
// that are in the same step. And the data of TCP connections has gaps where packets were not reported.
package reporting

import (
	"math/bits"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	// followedFlows is about how many flows of a shard are followed, followedPlaces how many places there are for a
	// flow at a node.
	followedFlows, followedPlaces = 64, 1024
	// looksPerStep is how many reports are looked at in a step of lookStepNs, so that it costs nothing where there are
	// many.
	looksPerStep, lookStepNs = 1024, int64(100e6)
	// pairNs is less than nodes wait until they report a flow again of which nothing changed: usually a second.
	pairNs = int64(500e6)
	// leastStepBits is the smallest step of latencies that a node compares: 256 ns.
	leastStepBits = 8
	// fewPairs and fewBytes say nothing yet.
	fewPairs, fewBytes = 24, 64 << 10
	// longestHole is how many bytes a hole in a stream may have: more is another connection.
	longestHole = 1 << 20
	// mostPairs is when what was seen begins to count less than what is seen now.
	mostPairs = 1 << 14
	// maxReporters bounds the nodes that are kept, of PerReporter bytes: one for FlowsPerReporter flows that there is
	// room for.
	maxReporters, FlowsPerReporter, PerReporter = 4096, 16, 320
)

// A Stat is what reports of a node show.
type Stat struct {
	// pairs are two reports of a flow, one after the other, by the number of bits in which their latencies differ.
	pairs [65]uint32
	// seen is the data of TCP connections that reports told of, and skipped what was not there between them: bytes.
	seen, skipped uint64
}

// A followed flow is what the latest report of a node told of it.
type followed struct {
	tag, node uint32
	step      uint32 // in which reports were looked at one after the other
	next      uint32 // sequence number behind its data; 0: not known
	inner     uint32 // bytes of the latest report, unless it was the first
	latency   uint64
	atNs      int64 // 0: latency is not known
}

// A Table has what the reports of a shard show.
type Table struct {
	mask   uint32 // flows are followed whose tags have none of these bits
	budget int
	step   uint32
	fromNs int64 // of budget
	flows  [followedPlaces]followed
	Nodes  Stats
	most   int // nodes
}

// New returns a table for a shard that has room for so many flows.
func New(flows int) Table {
	return Table{Nodes: Stats{}, most: min(max(flows/FlowsPerReporter, 64), maxReporters)}
}

// Refill allows for more looks in a new step, if there are so many flows.
func (t *Table) Refill(flows int, nowNs int64) {
	if nowNs-t.fromNs >= 0 && nowNs-t.fromNs < lookStepNs {
		return
	}
	if t.budget == 0 {
		t.step++ // reports were left out
	}
	t.budget, t.fromNs = looksPerStep, nowNs
	t.mask = 1<<bits.Len(uint(flows/followedFlows)) - 1
}

// Wants reports whether reports of a flow with that tag are to be looked at.
func (t *Table) Wants(tag uint32) bool { return tag&t.mask == 0 && t.budget > 0 }

// Look compares a report of a flow with the one before by the same node.
func (t *Table) Look(r *telemetry.Report, tag uint32, nowNs int64) {
	const other = telemetry.Dropped | telemetry.Intermediate | telemetry.Discard | telemetry.HopLimit |
		telemetry.MTUExceeded | telemetry.StackCut
	if r.Is(other) || !r.Is(telemetry.Tracked|telemetry.Embedded) {
		return
	}
	last := &r.Local
	if r.Is(telemetry.Embedded) && !r.AddsLocal() && len(r.Hops) > 0 {
		last = &r.Hops[len(r.Hops)-1]
	}
	if last.Has&telemetry.HasNode == 0 {
		return
	}
	t.budget--
	stat := t.Nodes[last.NodeID]
	if stat == nil {
		if len(t.Nodes) >= t.most {
			return
		}
		stat = &Stat{}
		t.Nodes[last.NodeID] = stat
	}
	f := &t.flows[topology.Mix(uint64(tag)<<32|uint64(last.NodeID), 0x9e3779b97f4a7c15)%followedPlaces]
	if f.tag != tag || f.node != last.NodeID || f.step != t.step {
		if r.Is(telemetry.Congested) && !r.Is(telemetry.Embedded) {
			return // it may be the queue alone that the node tells of
		}
		*f = followed{tag: tag, node: last.NodeID, step: t.step}
	}
	if latency, ok := latencyOf(r); ok {
		// A connection that begins or ends, and a long queue, are events of their own.
		if r.StreamTo-r.StreamFrom != 1 && !r.Is(telemetry.Congested) && f.atNs != 0 && nowNs-f.atNs < pairNs {
			stat.pair(latency, f.latency)
		}
		f.latency, f.atNs = latency, nowNs
	}
	if r.StreamFrom != r.StreamTo {
		stat.follow(f, r.StreamFrom, r.StreamTo)
	}
}

// latencyOf is what a node compares: the latency of the whole way that it knows of.
func latencyOf(r *telemetry.Report) (sum uint64, ok bool) {
	if !r.Is(telemetry.Embedded) {
		return r.Local.LatencyNs, r.Local.Has&telemetry.HasLatency != 0
	}
	for i := range r.Hops {
		if r.Hops[i].Has&telemetry.HasLatency == 0 {
			return 0, false
		}
		sum += r.Hops[i].LatencyNs
	}
	if r.AddsLocal() {
		sum += r.Local.LatencyNs
	}
	return sum, true
}

func (s *Stat) pair(a, b uint64) {
	n := &s.pairs[bits.Len64(a^b)]
	if *n++; *n >= mostPairs {
		for i := range s.pairs {
			s.pairs[i] /= 2
		}
	}
}

// follow adds data of a TCP connection. That of the first and of the latest report does not count: where a node tells
// of some packets, so many of those between two that it tells of are told as of all, but these two always are.
func (s *Stat) follow(f *followed, from, to uint32) {
	size, ahead := uint64(to-from), int32(from-f.next)
	switch {
	case f.next == 0 || size > longestHole || ahead > longestHole || ahead < -longestHole:
		f.inner = 0
	case ahead < 0: // it was sent again, or overtaken
		s.skipped -= min(s.skipped, size)
		s.seen += size
		if int32(to-f.next) <= 0 {
			return
		}
	default:
		s.skipped += uint64(ahead)
		s.seen += uint64(f.inner)
		f.inner = uint32(size)
	}
	f.next = to
	if s.seen > 1<<32 {
		s.seen, s.skipped = s.seen/2, s.skipped/2
	}
}

// Merge adds what o, the same node in another shard, shows.
func (s *Stat) Merge(o *Stat) {
	for i, n := range o.pairs {
		s.pairs[i] += n
	}
	s.seen += o.seen
	s.skipped += o.skipped
}

// Stats are what reports show, by node.
type Stats map[uint32]*Stat

// Add adds what others show, which stay who has them.
func (s Stats) Add(o Stats) {
	for node, stat := range o {
		if s[node] == nil {
			s[node] = &Stat{}
		}
		s[node].Merge(stat)
	}
}

// onEvent reports whether two latencies in a row are never in the same step although many are in neighbouring ones.
// Where every packet is reported, or one in N, about as many are in the same step of any size as are in the two halves
// of one of twice that size.
func (s *Stat) onEvent() bool {
	same := uint64(0)
	for i, n := range s.pairs {
		if i > leastStepBits && n >= fewPairs && same*4 < uint64(n) {
			return true
		}
		same += uint64(n)
	}
	return false
}

// complete is the share of the data that was reported; -1: not known.
func (s *Stat) complete() float64 {
	if s.seen+s.skipped < fewBytes {
		return -1
	}
	return float64(s.seen) / float64(s.seen+s.skipped)
}

// A Sample is which packets a node tells of.
type Sample struct {
	Rate     telemetry.SampleRate
	Complete float64 // share of the data that was reported; -1: not known
}

// Sample returns of which packets the node tells.
func (s *Stat) Sample() Sample {
	a := Sample{Complete: s.complete()}
	switch {
	case s.onEvent():
		a.Rate = telemetry.SampleOnEvent
	case a.Complete >= telemetry.EveryShare:
		a.Rate = telemetry.SampleEvery
	case a.Complete >= 0:
		a.Rate = telemetry.SamplePart
	}
	return a
}

// Worse is what is told of packets of which both are needed.
func (s Sample) Worse(o Sample) Sample {
	a := Sample{s.Rate.Worse(o.Rate), max(s.Complete, o.Complete)}
	if s.Complete >= 0 && o.Complete >= 0 {
		a.Complete = min(s.Complete, o.Complete)
	}
	return a
}

// Answer returns s as answers have it.
func (s Sample) Answer() *telemetry.Sample { return s.Rate.Sample(s.Complete) }

// AddTo adds so many packets to a sum.
func (s Sample) AddTo(sum *telemetry.SampleSum, packets uint64) {
	sum.Add(s.Rate, s.Complete, packets)
}
