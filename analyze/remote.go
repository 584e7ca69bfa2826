package analyze

import (
	"maps"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/portcount"
	"github.com/waybill-int/waybill/analyze/queue"
	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/sampled"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/internal/ask"
	"github.com/waybill-int/waybill/telemetry"
)

// A Remote is an Owner in another process, which has a Shard and lets it answer Questions.
//
// To add a question: 1. a method of Owner and of Shard, 2. its row below, 3. the method of Remote that asks it.
type Remote struct {
	ask.Transport
	// Delivered is that of the Shard, in this process.
	Delivered func(nowNs int64) int64
}

// Questions are those that a Remote asks a Shard.
var Questions = ask.New[*Shard]()

// Those of scan.Owner.
var (
	askTallies = ask.NewGet1(Questions, "tallies", (*Shard).TakeTallies)
	askWatch   = ask.NewTell(Questions, "watch", (*Shard).WatchTarget)
	askUnwatch = ask.NewTell(Questions, "unwatch", (*Shard).UnwatchTarget)
	askWatched = ask.NewGet2(Questions, "watched", (*Shard).WatchedSources)
	askObserve = ask.NewGet2(Questions, "observe", (*Shard).Observe)
	askSamples = ask.NewGet1(Questions, "samples", func(s *Shard, most [4]uint32) (t takenSamples) {
		t.list, t.overflow, t.lastNs = s.TakeSamples(nil, most)
		return t
	})
	askTransits = ask.NewGet1(Questions, "transits", (*Shard).TakeTransits)
	askNames    = ask.NewGet2(Questions, "names", func(s *Shard, flows []burst.FlowRef, known []bool) (n namedFlows) {
		n.keys, n.known = make([]telemetry.FlowKey, len(flows)), known
		s.NameFlows(flows, n.keys, n.known)
		return n
	})
	askSampleAt = ask.NewTell(Questions, "sample at", (*Shard).SampleAt)
	askEnded    = ask.NewGet2(Questions, "ended", (*Shard).EndedOn)
	askReached  = ask.NewGet1(Questions, "reached", (*Shard).Reached)
	askStreams  = ask.NewGet3(Questions, "streams", (*Shard).StreamsFrom)
	askCeased   = ask.NewGet3(Questions, "ceased",
		func(s *Shard, flows []telemetry.FlowKey, node uint32, sinceNs int64) (c ceasedFlows) {
			c.n, c.rate = s.Ceased(flows, node, sinceNs)
			return c
		})
)

type (
	takenSamples struct {
		list     []burst.Sample
		overflow uint64
		lastNs   int64
	}
	namedFlows struct {
		keys  []telemetry.FlowKey
		known []bool
	}
	ceasedFlows struct {
		n    int
		rate float64
	}
)

// TakeTallies implements attack.Shard.
func (r *Remote) TakeTallies(attack.Tallies) attack.Tallies {
	return askTallies.Of(r, attack.Tallies{})
}

// WatchTarget implements attack.Shard.
func (r *Remote) WatchTarget(w attack.WatchOf) { askWatch.To(r, w) }

// UnwatchTarget implements attack.Shard.
func (r *Remote) UnwatchTarget(number uint32) { askUnwatch.To(r, number) }

// WatchedSources implements attack.Shard.
func (r *Remote) WatchedSources(number uint32, classes attack.Classes) attack.Watched {
	return askWatched.Of(r, number, classes)
}

// Observe implements scan.Owner.
func (r *Remote) Observe(nowNs int64, hops int) *scan.Observation {
	return askObserve.Of(r, nowNs, hops)
}

// TakeSamples implements scan.Owner.
func (r *Remote) TakeSamples(_ []burst.Sample, most [4]uint32) (list []burst.Sample, overflow uint64, lastNs int64) {
	t := askSamples.Of(r, most)
	return t.list, t.overflow, t.lastNs
}

// TakeTransits implements scan.Owner.
func (r *Remote) TakeTransits(empty timing.Packets) timing.Packets {
	return askTransits.Of(r, empty.Emptied())
}

// NameFlows implements scan.Owner.
func (r *Remote) NameFlows(flows []burst.FlowRef, keys []telemetry.FlowKey, known []bool) {
	named := askNames.Of(r, flows, known)
	for i, is := range named.known {
		if is && !known[i] {
			keys[i], known[i] = named.keys[i], true
		}
	}
}

// SampleAt implements scan.Owner.
func (r *Remote) SampleAt(rates map[uint32]telemetry.SampleRate) { askSampleAt.To(r, rates) }

// EndedOn implements scan.Owner.
func (r *Remote) EndedOn(paths map[uint64]bool, sinceNs int64) scan.Ended {
	return askEnded.Of(r, paths, sinceNs)
}

// Reached implements scan.Owner.
func (r *Remote) Reached(to map[telemetry.Addr]bool) bool { return askReached.Of(r, to) }

// StreamsFrom implements scan.Owner.
func (r *Remote) StreamsFrom(node uint32, sinceNs int64, most int) map[telemetry.FlowKey]uint32 {
	return askStreams.Of(r, node, sinceNs, most)
}

// Ceased implements scan.Owner.
func (r *Remote) Ceased(flows []telemetry.FlowKey, node uint32, sinceNs int64) (ceased int, rate float64) {
	c := askCeased.Of(r, flows, node, sinceNs)
	return c.n, c.rate
}

// Those about the time, and about what is configured and kept.
var (
	askTick         = ask.NewTell2(Questions, "tick", (*Shard).tick).InOrder()
	askFinish       = ask.NewTell(Questions, "finish", (*Shard).Finish).InOrder()
	askPolicy       = ask.NewTell(Questions, "policy", (*Shard).SetPolicy).InOrder()
	askHold         = ask.NewTell(Questions, "hold", (*Shard).hold).InOrder()
	askWaiting      = ask.NewGet(Questions, "waiting", (*Shard).waiting).InOrder()
	askWait         = ask.NewTell2(Questions, "wait", (*Shard).restoreWaiting).InOrder()
	askDropCounters = ask.NewGet(Questions, "drop counters", (*Shard).dropCounters).InOrder()
	askRestoreDrops = ask.NewTell(Questions, "restore drop counters", (*Shard).restoreDropCounters).InOrder()
)

// Tick implements Owner.
func (r *Remote) Tick(nowNs int64) { askTick.To(r, nowNs, nowNs-r.Delivered(nowNs)) }

// Finish implements Owner.
func (r *Remote) Finish(nowNs int64) { askFinish.To(r, nowNs) }

// SetPolicy implements Owner.
func (r *Remote) SetPolicy(p finding.Policy) { askPolicy.To(r, p) }

func (r *Remote) hold(n int) { askHold.To(r, n) }

func (r *Remote) waiting() []waitingPacket { return askWaiting.Of(r) }

func (r *Remote) restoreWaiting(list []waitingPacket, nowNs int64) { askWait.To(r, list, nowNs) }

func (r *Remote) dropCounters() drop.TableCounters { return askDropCounters.Of(r) }

func (r *Remote) restoreDropCounters(counters []drop.Counter) { askRestoreDrops.To(r, counters) }

// Those of Collector.
var (
	askRank = ask.NewGet2(Questions, "rank", func(s *Shard, q flowRanking, told samples) (k rankedFlows) {
		k.best, k.total = s.rankFlows(&q, nil, &told)
		return k
	})
	askFlows = ask.NewGet2(Questions, "flows", func(s *Shard, refs []flowRef, told samples) []telemetry.Flow {
		return s.answerFlows(refs, &told)
	})
	askPaths = ask.NewGet1(Questions, "paths", func(s *Shard, from int) (p somePaths) {
		p.paths, p.next = pathSums{}, from
		morePieces(func() bool {
			p.next = s.addSomePaths(p.next, p.paths)
			return p.next != 0
		})
		return p
	})
	askQueues = ask.NewGet(Questions, "queues", func(s *Shard) queue.Sums { return added(s.addQueues) })
	askDrops  = ask.NewGet(Questions, "drops", func(s *Shard) drop.Sums { return added(s.addDrops) })
	askHosts  = ask.NewGet1(Questions, "hosts", func(s *Shard, inner topology.Inner) topology.Hosts {
		hosts := topology.NewHosts()
		hosts.Inner = inner
		s.addHosts(hosts)
		hosts.Inner = nil
		return *hosts
	})
	askReporting = ask.NewGet(Questions, "reporting", func(s *Shard) reporting.Stats { return added(s.addReporting) })
	askPorts     = ask.NewGet(Questions, "ports", func(s *Shard) (p toldPorts) {
		p.inner, p.units = topology.Inner{}, map[uint32]telemetry.QueueUnit{}
		s.addPorts(p.inner, p.units)
		return p
	})
	askSampled      = ask.NewGet(Questions, "sampled", (*Shard).sampledNodes)
	askCounted      = ask.NewGet(Questions, "counted", (*Shard).countedPorts)
	askCounters     = ask.NewGet(Questions, "counters", (*Shard).counters)
	askDispositions = ask.NewGet1(Questions, "dispositions", (*Shard).takeDispositions).InOrder()
)

type (
	rankedFlows struct {
		best  flowHeap
		total int
	}
	somePaths struct {
		paths pathSums
		next  int
	}
	toldPorts struct {
		inner topology.Inner
		units map[uint32]telemetry.QueueUnit
	}
)

// added returns what a function adds to nothing.
func added[K comparable, V any, M ~map[K]V](add func(M)) M {
	to := M{}
	add(to)
	return to
}

// morePieces takes as many pieces as are asked for at once, or until there are no more.
func morePieces(take func() (more bool)) {
	for n := 0; n < 16 && take(); n++ {
	}
}

func (r *Remote) rankFlows(q *flowRanking, _ <-chan struct{}, told *samples) (best flowHeap, total int) {
	k := askRank.Of(r, *q, *told)
	return k.best, k.total
}

func (r *Remote) answerFlows(refs []flowRef, told *samples) []telemetry.Flow {
	return askFlows.Of(r, refs, *told)
}

func (r *Remote) addPaths(to pathSums) {
	pieces(func(from int) int {
		p := askPaths.Of(r, from)
		for _, one := range p.paths {
			to.add(one)
		}
		return p.next
	})
}

func (r *Remote) addQueues(to queue.Sums) {
	for _, q := range askQueues.Of(r) {
		to.Add(q)
	}
}

func (r *Remote) addDrops(to drop.Sums) { to.Add(askDrops.Of(r)) }

func (r *Remote) addHosts(to *topology.Hosts) {
	hosts := askHosts.Of(r, to.Inner)
	to.Add(&hosts)
}

func (r *Remote) addReporting(to reporting.Stats) { to.Add(askReporting.Of(r)) }

func (r *Remote) addPorts(inner topology.Inner, units map[uint32]telemetry.QueueUnit) {
	p := askPorts.Of(r)
	maps.Copy(inner, p.inner)
	maps.Copy(units, p.units)
}

func (r *Remote) sampledNodes() map[uint32]sampled.Node { return askSampled.Of(r) }

func (r *Remote) countedPorts() []portcount.Port { return askCounted.Of(r) }

func (r *Remote) counters() Counters { return askCounters.Of(r) }

func (r *Remote) takeDispositions(list []ledger.AccountDisposition) []ledger.AccountDisposition {
	return append(list, askDispositions.Of(r, nil)...)
}

// Those of Intervals.
var (
	askKeep       = ask.NewGet(Questions, "keep intervals", (*Shard).keepIntervals).InOrder()
	askPathsSince = ask.NewGet2(Questions, "paths since", func(s *Shard, from int, told samples) (p somePathCounts) {
		p.next = from
		morePieces(func() bool {
			list, next := s.pathsSince(p.next, &told)
			p.list, p.next = append(p.list, list...), next
			return next != 0
		})
		return p
	}).InOrder()
	askQueuesSince = ask.NewGet1(Questions, "queues since", (*Shard).queuesSince).InOrder()
	askDropsSince  = ask.NewGet1(Questions, "drops since", (*Shard).dropsSince).InOrder()
	askFlowsSince  = ask.NewGet1(Questions, "flows since", (*Shard).flowsSince).InOrder()
	askFlowsSoFar  = ask.NewGet1(Questions, "flows so far", (*Shard).flowsSoFar).InOrder()
	askUngiven     = ask.NewGet(Questions, "ungiven", (*Shard).ungiven)
)

type somePathCounts struct {
	list []pathCount
	next int
}

func (r *Remote) keepIntervals() (begun bool) { return askKeep.Of(r) }

func (r *Remote) pathsSince(from int, told *samples) (list []pathCount, next int) {
	p := askPathsSince.Of(r, from, *told)
	return p.list, p.next
}

func (r *Remote) queuesSince(give bool) []queueCount { return askQueuesSince.Of(r, give) }

func (r *Remote) dropsSince(give bool) []telemetry.DropInterval { return askDropsSince.Of(r, give) }

func (r *Remote) flowsSince(from int) flowCounts { return askFlowsSince.Of(r, from) }

func (r *Remote) flowsSoFar(from int) flowCounts { return askFlowsSoFar.Of(r, from) }

func (r *Remote) ungiven() Ungiven { return askUngiven.Of(r) }
