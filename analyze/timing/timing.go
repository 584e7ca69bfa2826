package timing

import (
	"slices"
	"sync"

	"github.com/waybill-int/waybill/analyze/baseline"
	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Timing puts together what packets of all shards say of time: by how much the clocks of nodes differ, how long packets
// are on links and paths without that difference, and what is usual at each hop and link. A Scanner feeds it; answers
// lock it for short whiles.
type Timing struct {
	mu        sync.Mutex
	clocks    *clock.Estimator
	baselines *baseline.Tracker
	links     map[topology.LinkKey]*delayStat
	paths     map[uint64]*delayStat // by hash
	turnedNs  int64
	jumps     map[uint32]clock.Jump // the last of each node
	waiting   []clock.Step          // of the last window: their neighbours may find them a window later
	unplaced  uint64                // delays of links and paths for which there was no room
	missed    uint64                // packets that the shards had no room for
	given     bool                  // delays of links are put aside for DelaysSince
	twins     map[uint32]bool       // nodes whose stamps are of several clocks, or count no nanoseconds
	rates     map[uint32]*stampRate // of the clocks of nodes
}

// maxTwins bounds the nodes that are distrusted.
const maxTwins = 4096

// Distrust says that several devices have the id of a node: its stamps are of several clocks.
func (t *Timing) Distrust(node uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(node)
}

// Trust says that only one device has the id of a node.
func (t *Timing) Trust(node uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.twins, node)
}

// forget forgets what rests on the stamps of a node, and takes no more of them.
func (t *Timing) forget(node uint32) {
	if t.twins[node] || len(t.twins) >= maxTwins {
		return
	}
	if t.twins == nil {
		t.twins = map[uint32]bool{}
	}
	t.twins[node] = true
	t.clocks.Forget(node)
	for k := range t.links {
		if k.From == node || k.To == node {
			delete(t.links, k)
		}
	}
	for hash, s := range t.paths {
		if s.from == node || s.to == node {
			delete(t.paths, hash)
		}
	}
}

const (
	// maxDelays bounds the links, and the paths, whose delays are kept; each takes 2.2 kB, and 2.3 more if it joins two
	// nodes.
	maxDelays = 4096
	// maxJumps bounds the nodes whose last jump is remembered.
	maxJumps = 4096
)

// New returns a Timing that knows nothing yet.
func New() *Timing {
	clocks, _ := clock.New(clock.DefaultConfig()) // defaults are right
	baselines, _ := baseline.New(baseline.DefaultConfig())
	return &Timing{
		clocks: clocks, baselines: baselines, links: map[topology.LinkKey]*delayStat{}, paths: map[uint64]*delayStat{},
		jumps: map[uint32]clock.Jump{},
	}
}

// Take looks at packets that a shard set aside.
func (t *Timing) Take(l *Packets) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missed += l.overflow
	l.overflow = 0
	for packet, hops := range l.All() {
		for j := range hops {
			t.hop(&hops[j], packet)
			t.rate(&hops[j], packet.AtNs)
			if j > 0 && topology.MissingBefore(hops, j) == 0 {
				t.link(&hops[j-1], &hops[j], packet)
			}
		}
		if len(hops) > 0 {
			t.path(packet.Path, &hops[0], &hops[len(hops)-1], packet.AtNs-packet.waitedNs)
		}
	}
}

// hop learns how long packets that find no queue stay in a node on their way to one of its ports: a packet that waits
// behind others says nothing of the node. What is at the port besides is not told apart, since packets that find their
// own queue empty may still wait for the wire: those of an ingress port that come in step with those of another, or
// those of a queue that is served first. The quickest of all show that it is not the node, and a share of packets in
// queues that the port is full.
func (t *Timing) hop(h *telemetry.Hop, packet *Packet) {
	if h.Has&(telemetry.HasNode|telemetry.HasLatency) != telemetry.HasNode|telemetry.HasLatency ||
		h.Has&telemetry.HasDrop != 0 {
		return
	}
	at := topology.HopKeyOf(h)
	key := baseline.Key{Node: at.Node, Out: at.Out}
	v := baseline.Value{Value: h.LatencyNs, AtNs: packet.AtNs, Others: packet.others}
	if h.Has&telemetry.HasQueue != 0 {
		v.Queue, v.HasQueue = h.QueueOccupancy, true
	}
	t.baselines.Observe(&key, &v)
}

// link compares two clocks, and takes the delay between them.
func (t *Timing) link(a, b *telemetry.Hop, packet *Packet) {
	s, ok := sampleOf(a, b, a.Has&telemetry.HasEgressTime != 0, a.EgressNs, b.Has&telemetry.HasIngressTime != 0,
		b.IngressNs, packet.AtNs-packet.waitedNs)
	if !ok || s.From == s.To || t.twins[s.From] || t.twins[s.To] {
		return
	}
	t.clocks.Observe(&s)
	from, to := topology.HopKeyOf(a), topology.HopKeyOf(b)
	k, _ := topology.LinkOf(&from, &to)
	stat := delaysOf(t.links, k, &s)
	if stat == nil {
		t.unplaced++
		return
	}
	if t.given && stat.ungiven == nil {
		stat.ungiven = &delaySum{}
	}
	d := t.clocks.Correct(&s)
	stat.add(&d, s.ArrivalNs >= t.lateNs())
	if !d.OK {
		return
	}
	key := baseline.Key{
		Link: true, Node: k.From, Out: k.FromPort, To: k.To, In: k.ToPort,
		Length: lengthClass(packet.bytes),
	}
	t.baselines.Observe(&key, &baseline.Value{Value: d.DelayNs, BlurNs: d.UncertaintyNs, AtNs: packet.AtNs})
}

// lengthClass puts lengths together that differ by less than half: the longer a packet, the longer it takes onto the
// link, so that what is usual for one is not for another.
func lengthClass(bytes uint32) uint8 {
	return uint8(histogram.Index(uint64(bytes)) >> (histogram.MaxScale - 1))
}

// path takes the delay from end to end: from when the packet came to the first node to when it left the last.
func (t *Timing) path(hash uint64, first, last *telemetry.Hop, atNs int64) {
	s, ok := sampleOf(first, last, first.Has&telemetry.HasIngressTime != 0, first.IngressNs,
		last.Has&telemetry.HasEgressTime != 0, last.EgressNs, atNs)
	if !ok || t.twins[s.From] || t.twins[s.To] {
		return
	}
	stat := delaysOf(t.paths, hash, &s)
	if stat == nil {
		t.unplaced++
		return
	}
	d := t.clocks.Correct(&s)
	stat.add(&d, s.ArrivalNs >= t.lateNs())
}

// lateNs is from when on samples are of the last part of the window of the clocks.
func (t *Timing) lateNs() int64 { return t.clocks.WindowEndNs() - soonNs }

// delaysOf returns the delays of a link or path, nil if there are too many.
func delaysOf[K comparable](stats map[K]*delayStat, k K, s *clock.Sample) *delayStat {
	stat := stats[k]
	if stat == nil && len(stats) < maxDelays {
		stat = &delayStat{from: s.From, to: s.To}
		stats[k] = stat
	}
	return stat
}

// sampleOf returns what two nodes say of a packet that was at a at one moment and at b at another.
func sampleOf(a, b *telemetry.Hop, hasA bool, atA uint64, hasB bool, atB uint64, arrivalNs int64) (s clock.Sample,
	ok bool,
) {
	if a.Has&b.Has&telemetry.HasNode == 0 || !hasA || !hasB {
		return s, false
	}
	s = clock.Sample{From: a.NodeID, To: b.NodeID, EgressNs: atA, IngressNs: atB, ArrivalNs: arrivalNs}
	s.WrapNs = clock.LesserWrap(a.Has.WrapNs(), b.Has.WrapNs())
	if (a.Has|b.Has)&telemetry.HasMicroTimes != 0 {
		s.ResolutionNs = 1000
	}
	return s, true
}

// Advance tells the time, nanoseconds since 1970. It returns the jumps and the anomalies that were found.
func (t *Timing) Advance(nowNs int64) ([]clock.Jump, []baseline.Anomaly) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if away := nowNs - t.turnedNs; away >= delayTurnNs || away < 0 {
		t.turnedNs = nowNs
		turnAll(t.links)
		turnAll(t.paths)
	}
	jumps := t.jumped(nowNs)
	return jumps, t.baselines.Advance(nowNs)
}

// jumped ends the window of the clocks, if it is over, and returns the jumps of the window before: only when both are
// over it is known which of two neighbours differs from all others.
func (t *Timing) jumped(nowNs int64) []clock.Jump {
	window, lateNs := t.clocks.WindowStartNs(), t.lateNs()
	steps := t.clocks.Advance(nowNs)
	if t.clocks.WindowStartNs() == window {
		return nil
	}
	t.roundTrips()
	settleAll(t.links, t.clocks, lateNs, nowNs)
	settleAll(t.paths, t.clocks, lateNs, nowNs)
	if len(steps) == 0 && len(t.waiting) == 0 {
		return nil
	}
	if len(t.waiting) == 0 {
		t.waiting = slices.Clone(steps)
		return nil
	}
	jumps := clock.JumpsOf(append(t.waiting, steps...))
	t.waiting = t.waiting[:0]
	for _, j := range jumps {
		if _, ok := t.jumps[j.Node]; j.Known && (ok || len(t.jumps) < maxJumps) {
			t.jumps[j.Node] = j
		}
	}
	return jumps
}

// settleAll ends the window of delays, when that of the clocks is over.
func settleAll[K comparable](stats map[K]*delayStat, clocks *clock.Estimator, lateNs, nowNs int64) {
	for _, s := range stats {
		toldNs, why := clocks.Shaken(s.from, s.to)
		s.settle(lateNs, nowNs, toldNs, why)
	}
}

func turnAll[K comparable](stats map[K]*delayStat) {
	for k, s := range stats {
		if !s.turn() {
			delete(stats, k)
		}
	}
}
