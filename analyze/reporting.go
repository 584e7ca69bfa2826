package analyze

import (
	"maps"
	"math/bits"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// Reports do not say why they were sent: because a node reports every packet, or 1 in N, or because something changed.
// It shows in what they tell of some flows. A node that reports a packet if its latency is in another step than that of
// the packet before never reports two packets in a row that are in the same step. And the data of TCP connections has
// gaps where packets were not reported.

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
	// mostPairs is when what was seen begins to count less than what is seen now.
	mostPairs = 1 << 14
	// maxReporters bounds the nodes that are kept: one for so many flows that there is room for, of so many bytes.
	maxReporters, flowsPerReporter, perReporter = 4096, 16, 320
)

// A reporterStat is what reports of a node show.
type reporterStat struct {
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
	latency   uint64
	atNs      int64 // 0: latency is not known
}

// reporters finds out how nodes choose what they report.
type reporters struct {
	mask   uint32 // flows are followed whose tags have none of these bits
	budget int
	step   uint32
	fromNs int64 // of budget
	flows  [followedPlaces]followed
	nodes  map[uint32]*reporterStat
	most   int // nodes
}

func newReporters(flows int) reporters {
	return reporters{nodes: map[uint32]*reporterStat{}, most: min(max(flows/flowsPerReporter, 64), maxReporters)}
}

// refill allows for more looks in a new step.
func (t *reporters) refill(flows int, nowNs int64) {
	if nowNs-t.fromNs >= 0 && nowNs-t.fromNs < lookStepNs {
		return
	}
	if t.budget == 0 {
		t.step++ // reports were left out
	}
	t.budget, t.fromNs = looksPerStep, nowNs
	t.mask = 1<<bits.Len(uint(flows/followedFlows)) - 1
}

// look compares a report of a flow with the one before by the same node.
func (t *reporters) look(r *telemetry.Report, tag uint32, nowNs int64) {
	const other = telemetry.Dropped | telemetry.Intermediate | telemetry.Discard | telemetry.HopLimit |
		telemetry.MTUExceeded | telemetry.StackCut
	if r.Is(other) || !r.Is(telemetry.Tracked|telemetry.Embedded) {
		return
	}
	last := &r.Local
	if r.Is(telemetry.Embedded) && !addsLocal(r) && len(r.Hops) > 0 {
		last = &r.Hops[len(r.Hops)-1]
	}
	if last.Has&telemetry.HasNode == 0 {
		return
	}
	t.budget--
	stat := t.nodes[last.NodeID]
	if stat == nil {
		if len(t.nodes) >= t.most {
			return
		}
		stat = &reporterStat{}
		t.nodes[last.NodeID] = stat
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
	if addsLocal(r) {
		sum += r.Local.LatencyNs
	}
	return sum, true
}

func (s *reporterStat) pair(a, b uint64) {
	n := &s.pairs[bits.Len64(a^b)]
	if *n++; *n >= mostPairs {
		for i := range s.pairs {
			s.pairs[i] /= 2
		}
	}
}

// follow adds data of a TCP connection.
func (s *reporterStat) follow(f *followed, from, to uint32) {
	size, ahead := uint64(to-from), int32(from-f.next)
	switch {
	case f.next == 0 || size > longestHole:
	case ahead < 0: // it was sent again, or overtaken
		s.skipped -= min(s.skipped, size)
		s.seen += size
		if int32(to-f.next) <= 0 {
			return
		}
	default:
		s.skipped += uint64(ahead)
		s.seen += size
	}
	f.next = to
	if s.seen > 1<<32 {
		s.seen, s.skipped = s.seen/2, s.skipped/2
	}
}

func (s *reporterStat) merge(o *reporterStat) {
	for i, n := range o.pairs {
		s.pairs[i] += n
	}
	s.seen += o.seen
	s.skipped += o.skipped
}

// onEvent reports whether two latencies in a row are never in the same step although many are in neighbouring ones.
// Where every packet is reported, or one in N, about as many are in the same step of any size as are in the two halves
// of one of twice that size.
func (s *reporterStat) onEvent() bool {
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
func (s *reporterStat) complete() float64 {
	if s.seen+s.skipped < fewBytes {
		return -1
	}
	return float64(s.seen) / float64(s.seen+s.skipped)
}

// A nodeSample is what a node tells of.
type nodeSample struct {
	rate     telemetry.SampleRate
	complete float64 // -1: not known
}

func (s *reporterStat) sample() nodeSample {
	a := nodeSample{complete: s.complete()}
	switch {
	case s.onEvent():
		a.rate = telemetry.SampleOnEvent
	case a.complete >= telemetry.EveryShare:
		a.rate = telemetry.SampleEvery
	case a.complete >= 0:
		a.rate = telemetry.SamplePart
	}
	return a
}

// worse is what is told of packets of which both are needed.
func (s nodeSample) worse(o nodeSample) nodeSample {
	a := nodeSample{s.rate.Worse(o.rate), max(s.complete, o.complete)}
	if s.complete >= 0 && o.complete >= 0 {
		a.complete = min(s.complete, o.complete)
	}
	return a
}

func (s nodeSample) answer() *telemetry.Sample { return s.rate.Sample(s.complete) }

// addTo adds so many packets to a sum.
func (s nodeSample) addTo(sum *telemetry.SampleSum, packets uint64) {
	sum.Add(s.rate, s.complete, packets)
}

// samples are what nodes tell of, as configured or else as their reports show.
type samples struct {
	nodes      map[uint32]nodeSample
	configured map[uint32]telemetry.SampleRate
	inner      topology.Inner // no way begins or ends there
	units      map[uint32]telemetry.QueueUnit
}

// samples returns what nodes tell of.
func (c *Collector) samples() samples {
	list := c.nodeSamples()
	list.inner, list.units = topology.Inner{}, map[uint32]telemetry.QueueUnit{}
	for _, s := range c.Shards {
		s.mu.Lock()
		maps.Copy(list.inner, s.inner)
		for i := range s.queues.queues {
			if q := &s.queues.queues[i]; q.unit != codepoint.UnitUnknown {
				list.units[q.node] = q.unit
			}
		}
		s.mu.Unlock()
	}
	maps.Copy(list.units, c.Configured().QueueUnits)
	return list
}

// nodeSamples is samples without ports and units.
func (c *Collector) nodeSamples() samples {
	merged := map[uint32]*reporterStat{}
	list := samples{nodes: map[uint32]nodeSample{}, configured: c.Configured().Sampling}
	for _, s := range c.Shards {
		s.mu.Lock()
		for node, stat := range s.reporting.nodes {
			if merged[node] == nil {
				merged[node] = &reporterStat{}
			}
			merged[node].merge(stat)
		}
		s.mu.Unlock()
	}
	for node, stat := range merged {
		list.nodes[node] = stat.sample()
	}
	return list
}

// unitOf returns what a node counts its queues in.
func (l *samples) unitOf(node uint32) telemetry.QueueUnit { return l.units[node] }

// of returns what a node tells of.
func (l *samples) of(node uint32) nodeSample {
	a, ok := l.nodes[node]
	if !ok {
		a.complete = -1
	}
	if rate, ok := l.configured[node]; ok {
		a.rate = rate
	}
	return a
}

// ofHop returns of which packets hop i of a path tells. A sink tells of all hops of its stacks, of those packets that
// the source chose.
func (l *samples) ofHop(p *path, i int) nodeSample {
	at := &p.hops[i]
	if !p.postcards {
		at = &p.hops[len(p.hops)-1]
	}
	a := nodeSample{complete: -1}
	if at.Has&telemetry.HasNode != 0 {
		a = l.of(at.Node)
	}
	if source := &p.hops[0]; source.Has&telemetry.HasNode != 0 {
		if rate := l.configured[source.Node]; rate > telemetry.SampleEvery {
			a.rate = a.rate.Worse(rate)
		} else if a.rate == telemetry.SampleUnknown && !p.postcards {
			a.rate = rate
		}
	}
	return a
}

// ofPath returns of which packets the figures of a whole path tell.
func (l *samples) ofPath(p *path) nodeSample {
	var sum telemetry.SampleSum
	a := l.ofNodes(p)
	a.addTo(&sum, p.packets)
	a.complete = sum.Complete(p.packets, int64(p.incomplete))
	return a
}

// ofNodes returns of which packets the nodes of a path tell, but for those of which some postcards are missing.
func (l *samples) ofNodes(p *path) nodeSample {
	a := l.ofHop(p, len(p.hops)-1)
	for i := range p.hops {
		if p.hops[i].Missing == 0 && p.postcards {
			a = a.worse(l.ofHop(p, i))
		}
	}
	return a
}

// missingAt is how many packets of a path hop i did not tell of although others did.
func (p *path) missingAt(i int) int64 { return int64(p.incomplete) - int64(p.hops[i].parts) }

// hopAnswer returns of which packets the figures of hop i of a path tell.
func (l *samples) hopAnswer(p *path, i int) *telemetry.Sample {
	var sum telemetry.SampleSum
	n := p.packets + p.hops[i].parts
	l.ofHop(p, i).addTo(&sum, n)
	if p.hops[i].Missing > 0 {
		return sum.Sample(n, 0)
	}
	return sum.Sample(n, p.missingAt(i))
}

// unknown returns the parts of a path of which nobody told.
func (l *samples) unknown(p *path) (parts []string) {
	last := len(p.hops) - 1
	if l.inner.Begins(&p.hops[0].HopKey) {
		parts = append(parts, "beginning")
	}
	for i := 1; i < last; i++ {
		if p.hops[i].Has&telemetry.HasNode == 0 {
			parts = append(parts, "middle")
			break
		}
	}
	if l.inner.Ends(&p.hops[last].HopKey) {
		parts = append(parts, "end")
	}
	return parts
}
