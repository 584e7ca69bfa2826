// Package analyze turns reports into answers: flows, their paths, latencies, queues, drops, and what was lost on the
// way here. State is split into Shards, each owned by one goroutine and bounded in size; a flow belongs to one shard,
// so that none needs to look at another. Readers (the API) take a shard's lock for short whiles; shards never wait for
// each other.
//
// To add an analysis: 1. a package below this one with its table, bounded, with a counter for what did not fit, and
// with what it answers; it takes values and does not know Shard, 2. a call in Shard.process, 3. its answer in
// snapshot.go, over all shards, 4. a row in docs/explanation/design.md.
package analyze

import (
	"math"
	"sync"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/checksum"
	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/join"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/portcount"
	"github.com/waybill-int/waybill/analyze/queue"
	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/sampled"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Config bounds a Shard. Use DefaultConfig and change what is needed.
type Config struct {
	// MaxFlows, MaxPaths and MaxDrops bound the tables of one shard. A flow with a path of 5 hops takes about 740
	// bytes, a path 1.6 kB and 0.85 kB for each hop.
	MaxFlows, MaxPaths, MaxDrops int
	// MaxQueues bounds the queues whose length is kept, 1.1 kB each.
	MaxQueues int
	// MaxTargets bounds the addresses to which packets are counted for attacks, 0.3 kB each.
	MaxTargets int
	// MaxSampled bounds the flows of which samples are kept, 0.6 kB each at most.
	MaxSampled int
	// JoinPlaces is how many packets may wait for the postcards of further nodes; a power of two.
	JoinPlaces int
	// JoinWindowNs is how long they wait, in nanoseconds.
	JoinWindowNs int64
	// HashSeed makes the flow table's collisions unpredictable.
	HashSeed uint64
	// Policy is what paths are compared with; nil: none.
	Policy finding.Policy
}

// DefaultConfig returns the bounds that fit in about 512 MiB.
func DefaultConfig() Config {
	return Config{
		MaxFlows: 600_000, MaxPaths: 8192, MaxDrops: 16384, MaxQueues: 8192, JoinPlaces: 8192,
		JoinWindowNs: 500e6, MaxTargets: 4096, MaxSampled: 32768,
	}
}

// ConfigFor returns bounds for shards shards that together stay below bytes.
func ConfigFor(bytes uint64, shards int) Config {
	c := DefaultConfig()
	const perFlow, perPath = 740 + reporting.PerReporter/reporting.FlowsPerReporter, 1600 + 5*850
	const perPlace, perDrop, perQueue = 1260, 450, 1090
	each := bytes / uint64(max(shards, 1))
	c.JoinPlaces = 256
	for c.JoinPlaces < 8192 && uint64(c.JoinPlaces)*2*perPlace < each/32 {
		c.JoinPlaces *= 2
	}
	c.MaxPaths = int(max(min(each/8/perPath, 65536), 64))
	c.MaxDrops = int(max(min(each/32/perDrop, 65536), 64))
	c.MaxQueues = int(max(min(each/64/perQueue, 65536), 64))
	c.MaxTargets = 64
	for c.MaxTargets < 8192 && uint64(c.MaxTargets)*2*attack.RowBytes < each/512 {
		c.MaxTargets *= 2
	}
	rest := each - min(each, uint64(c.JoinPlaces)*perPlace+uint64(c.MaxPaths)*perPath+uint64(c.MaxDrops)*perDrop+
		uint64(c.MaxQueues)*perQueue+uint64(c.MaxTargets)*attack.RowBytes)
	c.MaxFlows = int(max(rest/(perFlow+guardBytes), 256))
	// One that only samples tell of has no hops in the flow table, for which perFlow has room: about as much.
	c.MaxSampled = max(c.MaxFlows/16, 64)
	return c
}

// A Shard holds the state of the flows that it owns.
type Shard struct {
	// Delivered returns up to when all that arrived was handed over, at nowNs; nil: there is nothing but batches. Set
	// it before the first of them.
	Delivered func(nowNs int64) int64

	mu        sync.Mutex
	flows     flowTable
	slab      hopSlab
	paths     pathTable
	join      join.Table
	drops     drop.Table
	changes   changeTable
	samples   burst.Waiting
	queues    queue.Table
	guard     guard
	unkept    flow // of a report whose flow the guard did not let in
	transits  timing.Packets
	reporting reporting.Table
	inner     topology.Inner // as paths show them
	holes     loss.Holes
	gaps      loss.Gaps
	probes    map[telemetry.FlowKey]uint64            // copies, and packets that were not delivered; bounded as flows
	outer     map[telemetry.FlowKey]telemetry.FlowKey // tunnelled flow -> the flow that carries it; as bounded as flows

	reports  uint64
	flowless uint64 // reports without a flow
	rejected uint64 // reports of flows that the guard did not let in
	unjudged uint64 // of these, those that were not compared with the policy for that

	policy   finding.Policy
	findings finding.Table

	checksums checksum.Table

	attacks attackCounts

	sampled sampled.Table
	counted portcount.Table

	dispositions ledger.Dispositions

	intervals *shardIntervals // nil: nobody keeps them

	lastNs int64 // time of the latest batch or tick
	held   int   // see Collector.Hold

	// For a Scanner:
	newFlows scan.NewFlowCounts
	scanNs   int64 // time of the latest scan of the paths
	// crowdedNs is when a packet last gave way to others before all of its postcards could be there.
	crowdedNs int64
	waitedNs  int64 // how long ago the first report of the packet at hand came, if it waited for others
	hits      loss.Hits

	route  [topology.MaxHops]topology.HopKey
	merged [topology.MaxHops]telemetry.Hop
	places [join.MaxHops]uint8
	local  [1]telemetry.Hop
	probe  bool // the packet at hand is a copy or a probe
	copied bool // it is a copy
	alike  bool // its hops may be of two packets

	tags    [reachAhead]uint32 // of the flows of the reports at hand
	reached int64              // so that the compiler leaves in what reach reads

	followedNs int64 // when the latest follow-up packet was reported; 0: never
}

// NewShard returns an empty shard.
func NewShard(c Config) *Shard {
	return &Shard{
		flows: newFlowTable(c.MaxFlows, c.HashSeed), paths: newPathTable(c.MaxPaths), drops: drop.New(c.MaxDrops),
		queues: queue.New(c.MaxQueues), join: join.New(c.JoinPlaces, c.JoinWindowNs),
		outer: map[telemetry.FlowKey]telemetry.FlowKey{}, probes: map[telemetry.FlowKey]uint64{},
		changes: changeTable{changes: map[scan.ChangeKey]*scan.Change{}, turned: map[turn]int64{}},
		policy:  c.Policy, findings: finding.New(scan.QuietNs), checksums: checksum.New(), holes: loss.NewHoles(),
		sampled: sampled.New(c.MaxSampled), counted: portcount.New(),
		inner: topology.Inner{}, reporting: reporting.New(c.MaxFlows),
		attacks: attackCounts{counts: attack.NewCounts(c.MaxTargets, c.HashSeed)},
	}
}

// Process takes the reports of a batch that arrived at nowNs (nanoseconds since 1970). The batch stays the caller's.
func (s *Shard) Process(b *telemetry.Batch, nowNs int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass(max(nowNs, s.lastNs)) // batches of several receivers, and ticks, overtake each other
	s.reporting.Refill(s.flows.count, nowNs)
	s.dispositions.Begin(b.Origin)
	for first := 0; first < len(b.Reports); first += reachAhead {
		next := b.Reports[first:min(first+reachAhead, len(b.Reports))]
		s.reach(next)
		for i := range next {
			s.process(&next[i], s.tags[i], nowNs)
		}
	}
	for i := range b.Counters {
		s.counted.Add(&b.Counters[i], nowNs)
	}
	b.KeepDatagrams = s.policy != nil || s.findings.Lacking
	s.sweep(nowNs)
}

// Tick finishes what waited long enough; call it some times a second when no batches come. Unlike the time of a batch,
// nowNs is what the clock shows now: if it is earlier than before, the clock was set back.
func (s *Shard) Tick(nowNs int64) {
	behind := int64(0)
	if s.Delivered != nil {
		behind = nowNs - s.Delivered(nowNs)
	}
	s.tick(nowNs, behind)
}

// tick is Tick, with how far what was handed over is behind what arrived.
func (s *Shard) tick(nowNs, behind int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held > 0 {
		return
	}
	s.pass(nowNs)
	s.join.Arrived(behind)
	s.sweep(nowNs)
}

// pass lets the time pass by which postcards wait.
func (s *Shard) pass(nowNs int64) {
	s.join.Pass(nowNs - s.lastNs)
	if s.Delivered == nil {
		s.join.Arrived(0)
	}
	s.lastNs = nowNs
}

// reachAhead is for how many reports the flows are reached for before the first of them is processed.
const reachAhead = 16

// reach hashes the flows of reports, and reads where in memory each will be needed. Where a flow is not in the
// processor's cache, it waits for memory for longer than the report takes otherwise: reads that do not depend on each
// other wait at the same time.
func (s *Shard) reach(reports []telemetry.Report) {
	for i := range reports {
		if r := &reports[i]; r.Is(telemetry.HasFlow) {
			s.tags[i] = s.flows.tagOf(&r.Flow)
		}
	}
	if s.flows.count < chunkSize {
		return // they are in the cache
	}
	var places [reachAhead]uint32 // from 1
	var waiting [reachAhead]int32 // places of packets, from 1
	for i := range reports {
		r := &reports[i]
		if !r.Is(telemetry.HasFlow) {
			continue
		}
		places[i] = s.flows.likely(s.tags[i])
		if !r.Is(telemetry.Embedded) {
			waiting[i] = s.join.First(join.Hash(r.PacketID, s.tags[i]))
		}
	}
	var blocks [reachAhead]uint32
	reached := int64(0)
	for i, place := range places[:len(reports)] {
		if p := waiting[i]; p > 0 {
			reached += s.join.Read(p)
		}
		if place == 0 {
			continue
		}
		f := s.flows.at(int(place - 1))
		reached += f.last + int64(f.tag) + int64(f.weight) + int64(f.residence.Count) + int64(f.endToEnd.Count)
		if fp := &f.paths[0]; fp.used {
			blocks[i] = fp.block + 1
		}
	}
	for _, block := range blocks[:len(reports)] {
		if block > 0 {
			reached += int64(s.slab.block(block-1, 1)[0].count)
		}
	}
	s.reached = reached
}

func (s *Shard) process(r *telemetry.Report, tag uint32, nowNs int64) {
	s.reports++
	s.findings.Distrust(r, nowNs)
	if r.Is(telemetry.DropSummary) {
		packets := s.drops.Summary(r, nowNs)
		if r.Is(telemetry.HasFlow) && !r.Is(telemetry.HasFlowSequence) {
			f := s.flow(r, tag, nowNs)
			f.reports++
			f.last = nowNs
			f.packets += packets // as each one that is told alone, see countPacket
			f.drops += uint32(packets)
			if f == &s.unkept {
				s.forgetOutsider()
			}
			return
		}
		s.dispositions.Of(r).Flowless++
		s.attackSummary(r, packets, nowNs)
		s.reportedGap(r, nowNs)
		return
	}
	if r.Is(telemetry.Dropped) {
		s.drops.Packet(r, nowNs)
	}
	if r.Is(telemetry.HopLimit | telemetry.MTUExceeded | telemetry.WrongChecksum) {
		s.findings.Exceeded(r, nowNs)
		s.checksums.Wrong(r, nowNs)
	}
	if r.Is(telemetry.CheckedL4) {
		s.checksums.LookL4(r, nowNs)
	}
	if s.reports&checksum.Sample == 0 {
		s.checksums.Look(r)
	}
	if !r.Is(telemetry.HasFlow) {
		if !r.Is(telemetry.Dropped) {
			s.queues.AddReport(&r.Local, nowNs)
		}
		s.flowless++
		s.dispositions.Of(r).Flowless++
		return
	}
	f := s.flow(r, tag, nowNs)
	f.reports++
	f.last = nowNs
	f.dscp = r.DSCP
	if r.Is(telemetry.Sampled) {
		if f == &s.unkept {
			s.sampled.Overflow++
			s.forgetOutsider()
			return
		}
		s.sampled.Add(r, nowNs)
		return
	}
	const noStory = telemetry.Intermediate | telemetry.FollowUp | telemetry.Discard | telemetry.Dropped
	contradicts := r.Is(telemetry.Embedded) && !r.Is(noStory) &&
		s.findings.ToldOtherwise(r, join.Hash(r.PacketID, tag), nowNs)
	if !contradicts {
		s.sample(r, tag, nowNs)
	}
	if s.reporting.Wants(tag) {
		s.reporting.Look(r, tag, nowNs)
	}
	if r.Is(telemetry.HasDevice) {
		f.device, f.hasDevice = r.Device, true
	}
	if r.Is(telemetry.Dropped) && !r.Is(telemetry.Discard|telemetry.FollowUp) {
		s.noteDrop(f, tag, r)
		s.attackDrop(f, r, nowNs)
	}
	switch {
	case contradicts:
	case r.Is(telemetry.FollowUp):
		s.followUp(f, tag, r, nowNs)
	case r.Is(telemetry.Intermediate):
		f.partial = true
		s.intermediate(r, tag, nowNs)
	case r.Is(telemetry.Embedded):
		f.stacked, f.stackAt = true, stackTime(nowNs)
		s.countPacket(f, r.Is(telemetry.Discard), r.Is(telemetry.Dropped), r.Bytes)
		s.probe, s.copied = r.Is(telemetry.Discard), r.Is(telemetry.Copied)
		s.stack(f, tag, r, nowNs)
		s.probe, s.copied = false, false
		if !r.Is(telemetry.Dropped | telemetry.Discard) {
			s.attackPacket(f, r.Bytes, r.Is(telemetry.Opening), s.dispositions.Exporter(r), false, nowNs)
		}
		switch {
		case r.Is(telemetry.Dropped | telemetry.Discard):
		case r.Is(telemetry.HasFlowSequence):
			s.followNumbers(f, tag, r, nowNs)
		case r.StreamFrom != r.StreamTo && !f.numbered:
			s.follow(f, tag, r, nowNs)
		}
	// a node tells of its queue, and others have no reason to tell of the packet
	case !r.Is(telemetry.Tracked | telemetry.Dropped):
		s.queueReport(f, &r.Local, nowNs)
	case !r.Is(telemetry.Dropped) && f.hasStacks(nowNs):
		s.local[0] = r.Local
		s.beside(f, s.local[:], nowNs)
	default:
		s.postcard(f, r, tag, nowNs)
	}
	if f == &s.unkept {
		s.forgetOutsider()
		if s.policy != nil {
			s.unjudged++
		}
		return // nobody remembers a verdict for the next packet
	}
	if f.verdict != finding.NothingBad {
		s.verify(f, r, nowNs)
	}
}

// flow returns the flow of r, which it adds if it is new and may come in.
func (s *Shard) flow(r *telemetry.Report, tag uint32, nowNs int64) *flow {
	if place, _, ok := s.flows.find(&r.Flow, tag); ok {
		f := s.flows.at(place)
		f.touched = true
		s.dispositions.Admit(&f.reporters, r)
		return f
	}
	if !s.admits(r) {
		s.dispositions.Of(r).Rejected++
		return s.outsider(&r.Flow, tag, nowNs)
	}
	f := s.flows.insert(&r.Flow, tag, s.forget)
	f.first = nowNs
	s.dispositions.Admit(&f.reporters, r)
	if r.Flow.Tunnel != telemetry.TunnelNone {
		s.outer[r.Flow] = r.Outer
	}
	return f
}

// forget frees what an evicted flow holds elsewhere.
func (s *Shard) forget(place int, f *flow) {
	if s.intervals == nil || !s.forgetFlow(place, f) {
		s.dispositions.Evict(&f.reporters)
	}
	s.release(f)
}

// release frees what a flow holds in other tables.
func (s *Shard) release(f *flow) {
	for i := range f.paths {
		fp := &f.paths[i]
		if !fp.used {
			continue
		}
		if p := s.pathOf(fp); p != nil && i == 0 {
			p.flows--
		}
		s.slab.give(fp.block, int(fp.hops))
	}
	if f.key.Tunnel != telemetry.TunnelNone {
		delete(s.outer, f.key)
	}
	if len(s.probes) > 0 {
		delete(s.probes, f.key)
	}
	s.sampled.Forget(&f.key)
}

// pathOf returns the path that fp refers to, or nil if it gave way to another. There may be no path at all yet.
func (s *Shard) pathOf(fp *flowPath) *path {
	if int(fp.path) >= len(s.paths.paths) {
		return nil
	}
	p := &s.paths.paths[fp.path]
	if p.generation != fp.generation {
		return nil
	}
	return p
}

// stack takes the path of a packet from the INT stack in r: older hops that an intermediate report told of, the stack,
// and the node that sent the report unless the stack has it (TR 2.0 §3.4).
func (s *Shard) stack(f *flow, tag uint32, r *telemetry.Report, nowNs int64) {
	hops := r.Hops
	if f.ttl != r.TTL && !r.Is(telemetry.Dropped) { // other nodes without INT
		f.ttl, f.verdict = r.TTL, finding.NotJudged
	}
	var older []telemetry.Hop
	if f.partial {
		older = join.WithoutNewest(s.olderHops(r, tag), hops)
	}
	if r.AddsLocal() || len(older) > 0 ||
		r.Is(telemetry.Dropped|telemetry.HopLimit|telemetry.MTUExceeded|telemetry.StackCut) {
		n := copy(s.merged[:], older)
		if r.Is(telemetry.StackCut) {
			n = s.addUnknown(n)
		}
		n += copy(s.merged[n:], r.Hops)
		if r.Is(telemetry.HopLimit | telemetry.MTUExceeded) {
			n = s.addUnknown(n)
		}
		if r.AddsLocal() && n < len(s.merged) {
			s.merged[n] = r.Local
			n++
		}
		if n > 0 && r.Is(telemetry.Dropped) { // the node that reports a drop is where it happened (TR 2.0 §2.5)
			s.merged[n-1].Has |= telemetry.HasDrop
		}
		hops = s.merged[:n]
	}
	routers := routersTo(r)
	if r.Is(telemetry.SlowPaths) && s.awaits(r, hops, routers) {
		s.await(r, tag, hops, routers, nowNs)
		return
	}
	hops, uncertain := s.spread(hops, routers)
	s.observePath(f, hops, r.Bytes, nowNs, uncertain)
}

// routersTo returns how many routers took one from the TTL of the packet of r, as far as its source told the sink the
// TTL that it came with; 0: nobody knows, or nodes are known to be missing already. A packet that was dropped is
// reported as it came to the last of them.
func routersTo(r *telemetry.Report) int {
	const notWhole = telemetry.HopLimit | telemetry.MTUExceeded | telemetry.StackCut
	if !r.Is(telemetry.HasFirstTTL) || r.Is(notWhole) {
		return 0
	}
	n := int(r.FirstTTL) - int(r.TTL)
	if r.Is(telemetry.Dropped) {
		n++
	}
	return n
}

// spread puts routers between hops that told nothing, if there are more routers than hops. Nothing says between which:
// of more than two hops it is between the last two, and the order is uncertain.
func (s *Shard) spread(hops []telemetry.Hop, routers int) (spread []telemetry.Hop, uncertain bool) {
	n := len(hops)
	if routers <= n || n < 2 || n > len(s.merged) {
		return hops, false
	}
	spread = s.merged[:copy(s.merged[:], hops)]
	for i := range spread {
		spread[i].Has |= telemetry.HasTTL
		spread[i].TTL = uint8(255 - i)
	}
	spread[n-1].TTL = uint8(256 - routers)
	return spread, n > 2
}

// addUnknown adds nodes of which nobody knows which and how many they are to the n that are merged.
func (s *Shard) addUnknown(n int) int {
	if n < len(s.merged) {
		s.merged[n] = telemetry.Hop{}
		n++
	}
	return n
}

// stackTime is a time in steps of 17 s. For the step in which a stack came, and three more, the other reports of a flow
// tell of no packets that stacks do not tell of.
func stackTime(ns int64) uint8 { return uint8(ns >> 34) }

// hasStacks reports whether stacks tell of the packets of f. Then other nodes tell of themselves, and not of another
// packet.
func (f *flow) hasStacks(nowNs int64) bool {
	f.stacked = f.stacked && stackTime(nowNs)-f.stackAt < 4
	return f.stacked
}

// countPacket counts a packet of f. Copies and probes are counted apart: they are no packets that a host sent to
// another.
func (s *Shard) countPacket(f *flow, probe, dropped bool, bytes uint32) {
	if probe {
		if f != &s.unkept {
			s.probes[f.key]++
		}
		return
	}
	f.packets++
	f.bytes += uint64(bytes)
	if dropped {
		f.drops++
	}
}

// beside takes what nodes tell of themselves besides the stacks of a flow. The last one may tell in a report of its own
// what its stacks lack; all others tell of their queues.
func (s *Shard) beside(f *flow, hops []telemetry.Hop, nowNs int64) {
	for i := range hops {
		fp, h := &f.paths[0], &hops[i]
		completes := false
		if p := s.pathOf(fp); fp.used && p != nil {
			last := &p.hops[len(p.hops)-1].HopKey
			completes = h.Has&last.Has&telemetry.HasNode != 0 && last.Node == h.NodeID &&
				s.atHop(f, h, uint64(fp.packets), nowNs) != nil
		}
		if !completes {
			s.queueReport(f, h, nowNs)
		}
	}
}

// queueReport takes what a node tells of its port and queue, since that was long. Its packet is none that all packets
// are like, and others may tell of it as well: its latency counts nowhere.
func (s *Shard) queueReport(f *flow, h *telemetry.Hop, nowNs int64) {
	s.queues.AddReport(h, nowNs)
	port := *h
	port.Has &^= telemetry.HasLatency | telemetry.HasQueue | telemetry.HasCongestion
	s.atHop(f, &port, math.MaxUint64, nowNs)
}

// atHop adds what a node tells of itself to its hop on the path that the flow takes, and returns that. It is nil if the
// node is not there, or has told of the latency of so many packets of the flow.
func (s *Shard) atHop(f *flow, h *telemetry.Hop, packets uint64, nowNs int64) *pathHop {
	fp := &f.paths[0]
	if !fp.used {
		return nil
	}
	p := s.pathOf(fp)
	if p == nil {
		return nil
	}
	block := s.slab.block(fp.block, int(fp.hops))
	for i := len(p.hops) - 1; i >= 0; i-- {
		if at := &p.hops[i]; at.Has&h.Has&telemetry.HasNode != 0 && at.Node == h.NodeID {
			if uint64(block[i].count) >= packets {
				return nil
			}
			s.measure(at, &block[i], h)
			s.meet(p, fp)
			p.last, fp.last = nowNs, nowNs
			return at
		}
	}
	return nil
}

// observePath records that a packet of f took the path along hops, and what it met there. bytes is its IP length, 0 if
// unknown.
func (s *Shard) observePath(f *flow, hops []telemetry.Hop, bytes uint32, nowNs int64, uncertain bool) {
	if len(hops) == 0 {
		return
	}
	if s.apart(f) {
		s.observeProbe(hops, nowNs)
		return
	}
	p := s.again(f, hops)
	if p == nil {
		p = s.takes(f, hops, nowNs)
	}
	fp := &f.paths[0]
	p.touched = true
	p.packets++
	s.meet(p, fp)
	p.last = max(p.last, s.cameNs(nowNs))
	p.uncertain = p.uncertain || uncertain
	fp.packets++
	fp.last = nowNs
	block := s.slab.block(fp.block, len(p.hops))
	var residence uint64
	complete := true
	next := 0
	for i := range block {
		at := &p.hops[i]
		if at.Missing > 0 {
			complete = false
			continue
		}
		h := &hops[next]
		next++
		s.measure(at, &block[i], h)
		complete = complete && h.Has&telemetry.HasLatency != 0
		residence += h.LatencyNs
	}
	if p.packets&p.skip == 0 && !p.uncertain && !s.alike {
		s.transits.Add(p.hash, p.skip, hops[:next], bytes, nowNs, s.waitedNs)
	}
	if !complete {
		return
	}
	index := histogram.Index(residence)
	p.residence.Add(residence, index)
	f.residence.addIndexed(residence, index)
	first, last := &hops[0], &hops[next-1]
	if first.Has&telemetry.HasIngressTime != 0 && last.Has&telemetry.HasEgressTime != 0 &&
		first.Has&last.Has&telemetry.HasWideTimes != 0 {
		if d := last.EgressNs - first.IngressNs; d >= residence && d < 1<<40 {
			index = histogram.Index(d)
			p.endToEnd.Add(d, index)
			f.endToEnd.addIndexed(d, index)
		} else {
			p.clockErrors++
		}
	}
}

// cameNs is when the first report of the packet at hand came.
func (s *Shard) cameNs(nowNs int64) int64 { return nowNs - s.waitedNs }

// apart reports whether the packet at hand says nothing of the path of its flow. A copy takes another way than the
// packet that it was made of, and may come first. Of a flow of which nothing but probes is known, they tell the path.
func (s *Shard) apart(f *flow) bool { return s.copied || s.probe && f.packets > 0 }

// observeProbe records the path along hops of a copy or a probe for all flows together.
func (s *Shard) observeProbe(hops []telemetry.Hop, nowNs int64) {
	cameNs := s.cameNs(nowNs)
	p := &s.paths.paths[s.paths.get(s.routeOf(hops), cameNs)]
	p.touched = true
	p.packets++
	p.last = max(p.last, cameNs)
	var unused hopStat
	next := 0
	for i := range p.hops {
		if p.hops[i].Missing == 0 {
			s.measure(&p.hops[i], &unused, &hops[next])
			next++
		}
	}
}

// again returns the path that f takes if hops lead along it as they did for the packet before: most packets do.
func (s *Shard) again(f *flow, hops []telemetry.Hop) *path {
	fp := &f.paths[0]
	if !fp.used || int(fp.hops) != len(hops) || hops[0].Has&telemetry.HasTTL != 0 { // TTLs tell of nodes between hops
		return nil
	}
	p := s.pathOf(fp)
	if p == nil {
		return nil
	}
	for i := range p.hops {
		if !p.hops[i].IsAt(&hops[i]) {
			return nil
		}
	}
	return p
}

// takes makes the path along hops the one that f takes and returns it.
func (s *Shard) takes(f *flow, hops []telemetry.Hop, nowNs int64) *path {
	route := s.routeOf(hops)
	if fp := &f.paths[0]; fp.used {
		if p := s.pathOf(fp); p != nil {
			if p.is(route) {
				return p
			}
			p.flows--
			p.noteArrival(route)
			if p.loops() {
				f.verdict = finding.NotJudged // that of the loop
			}
		}
	} else if !s.probe && (len(route) == 1 && route[0].Has&telemetry.HasNode == 0 ||
		!s.inner.Begins(&route[0])) { // else its beginning is not known
		// Of packets that wait, a later one may be the first of which all has come.
		s.newFlows.Note(&route[0], &f.key, max(f.first, s.cameNs(nowNs)-s.join.WindowNs))
	}
	place := s.paths.get(route, s.cameNs(nowNs))
	p := &s.paths.paths[place]
	if p.flows++; p.packets+p.incomplete == 0 {
		s.inner.Learn(hops)
	}
	p.postcards = p.postcards || !f.stacked
	// a packet that was dropped did not take another path
	if route[len(route)-1].Has&telemetry.HasDrop == 0 && !s.probe {
		s.arrives(f, place, route, &hops[0], nowNs)
	}
	for i := 1; i < keptPaths; i++ { // a path that the flow took before
		if f.paths[i].used && f.paths[i].path == place && f.paths[i].generation == p.generation {
			f.paths[0], f.paths[i] = f.paths[i], f.paths[0]
			return p
		}
	}
	if oldest := &f.paths[keptPaths-1]; oldest.used {
		s.leavePath(f, oldest)
		s.slab.give(oldest.block, int(oldest.hops))
	}
	copy(f.paths[1:], f.paths[:])
	f.paths[0] = flowPath{
		path: place, generation: p.generation, hops: uint8(len(route)), used: true,
		block: s.slab.take(len(route)), first: nowNs,
	}
	f.weight = s.attacks.weightOf(&route[0])
	return p
}

// routeOf returns the elements along hops, and those that are known to be missing between them, until it is called
// again.
func (s *Shard) routeOf(hops []telemetry.Hop) []topology.HopKey {
	route := s.route[:0]
	for i := range hops {
		if len(route)+1 >= topology.MaxHops {
			break
		}
		if away := topology.MissingBefore(hops, i); away > 0 {
			route = append(route, topology.HopKey{Missing: away})
		}
		route = append(route, topology.HopKeyOf(&hops[i]))
	}
	return route
}

// measure adds the latency and queue that h tells of to the hop of the path and to that of the flow.
func (s *Shard) measure(p *pathHop, f *hopStat, h *telemetry.Hop) {
	if h.Has&telemetry.HasLatency != 0 {
		v := h.LatencyNs
		index := histogram.Index(v)
		p.latency.Add(v, index)
		if f.count == 0 || v < f.min {
			f.min = v
		}
		f.max = max(f.max, v)
		f.sum += v
		f.count++
		histogram.Add(&f.Shape, f.buckets[:], index)
	}
	if h.Has&telemetry.HasTxUtil != 0 {
		p.utilization.Add(h.TxUtil, h.Has.UtilizationUnit(), s.lastNs)
	}
	if h.Has&telemetry.HasQueue != 0 {
		p.queue.add(h)
		f.queueSum += uint64(h.QueueOccupancy)
		f.queueCount++
		f.queueMax = max(f.queueMax, h.QueueOccupancy)
		f.queueID = h.QueueID
	}
	if h.Has&(telemetry.HasQueue|telemetry.HasCongestion) != 0 {
		s.noteQueue(p, h)
	}
}
