package analyze

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/sampled"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/internal/flat"
	"github.com/waybill-int/waybill/telemetry"
)

// A Collector answers questions about all owners together.
type Collector struct {
	Owners    []Owner
	Exporters []*ledger.Exporters
	Timing    *timing.Timing  // nil: nothing is known of clocks and delays
	Losses    *loss.Estimates // of links, which a Scanner estimates; nil: nobody does

	configured atomic.Pointer[Configured]
	kept       *ledger.Settlements // nil: there is no store
}

// A FlowFilter selects flows; zero fields select all.
type FlowFilter struct {
	Which FlowCondition // nil: every flow
	Order FlowOrder
	Limit int

	After     int64           // ns since 1970: flows of which a report came later; 0: every flow
	Ascending bool            // the smallest first
	Offset    int             // how many of the first are left out
	Stop      <-chan struct{} // ends it before all flows were looked at, when it is closed; may be nil
}

// A FlowCondition selects flows. It may have to travel to who owns them: a type that does is registered with package
// flat.
type FlowCondition interface {
	// Compile returns what selects flows by their keys, and what selects of these by all that is known of them, which
	// costs some µs for each; nil: every flow.
	Compile() (match func(*telemetry.FlowKey) bool, selects func(*telemetry.Flow) bool)
}

// A FlowHash selects the flow whose key has it.
type FlowHash uint64

// Compile implements FlowCondition.
func (h FlowHash) Compile() (func(*telemetry.FlowKey) bool, func(*telemetry.Flow) bool) {
	return func(k *telemetry.FlowKey) bool { return k.Hash() == uint64(h) }, nil
}

func init() { flat.Register[FlowHash]() }

// selectSize is how many flows are selected from before a shard goes on with reports.
const selectSize = 256

// flowRef remembers a flow between two looks at its owner.
type flowRef struct {
	score float64
	owner int
	place int
	key   telemetry.FlowKey
}

// compare orders flows as a list has them: the highest score first. Equal ones are in the order of their keys, so that
// it is always the same of them that a page ends with.
func (r *flowRef) compare(o *flowRef) int {
	if by := cmp.Compare(o.score, r.score); by != 0 {
		return by
	}
	return r.key.Compare(&o.key)
}

// A flowHeap has the last one of the list at the top.
type flowHeap []flowRef

func (h flowHeap) Len() int           { return len(h) }
func (h flowHeap) Less(i, j int) bool { return h[i].compare(&h[j]) > 0 }
func (h flowHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *flowHeap) Push(x any)        { *h = append(*h, x.(flowRef)) }
func (h *flowHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Clocks returns the clock of every node against that of its reference, by node.
func (c *Collector) Clocks() []telemetry.Clock { return c.Timing.Clocks(c.Names()) }

// offer adds a flow if it is one of the most first ones.
func (h *flowHeap) offer(ref flowRef, most int) {
	switch {
	case len(*h) < most:
		heap.Push(h, ref)
	case most > 0 && ref.compare(&(*h)[0]) < 0:
		(*h)[0] = ref
		heap.Fix(h, 0)
	}
}

// Flows returns the first flows of an order and how many match in all. Owners are asked side by side, and locked for
// short whiles, so that the answer is of about now, not of one moment.
func (c *Collector) Flows(q FlowFilter) (flows []telemetry.Flow, total int) {
	var best flowHeap
	ranking := flowRanking{q.Which, q.Order, q.Ascending, q.After, q.Offset + q.Limit}
	told := c.samples()
	ranked := make([]flowHeap, len(c.Owners))
	totals := make([]int, len(c.Owners))
	c.each(func(owner int, o Owner) { ranked[owner], totals[owner] = o.rankFlows(&ranking, q.Stop, &told) })
	if isClosed(q.Stop) {
		return nil, 0
	}
	for owner, first := range ranked {
		total += totals[owner]
		for _, ref := range first {
			ref.owner = owner
			best.offer(ref, ranking.most)
		}
	}
	slices.SortFunc(best, func(a, b flowRef) int { return a.compare(&b) })
	best = best[min(q.Offset, len(best)):]
	of := make([][]flowRef, len(c.Owners))
	for _, ref := range best {
		of[ref.owner] = append(of[ref.owner], ref)
	}
	answers := make([][]telemetry.Flow, len(c.Owners))
	c.each(func(owner int, o Owner) {
		if len(of[owner]) > 0 {
			answers[owner] = o.answerFlows(of[owner], &told)
		}
	})
	flows = make([]telemetry.Flow, 0, len(best))
	for _, ref := range best {
		list := &answers[ref.owner]
		if a := &(*list)[0]; a.ID != "" {
			c.Timing.Correct(a)
			flows = append(flows, *a)
		}
		*list = (*list)[1:]
	}
	return flows, total
}

// each calls a function for all owners side by side, and waits.
func (c *Collector) each(ask func(owner int, o Owner)) {
	var asking sync.WaitGroup
	for owner, o := range c.Owners {
		asking.Go(func() { ask(owner, o) })
	}
	asking.Wait()
}

// isClosed reports whether nobody waits for the answer any more.
func isClosed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// A flowRanking says which flows of an owner may be among those that are listed.
type flowRanking struct {
	which     FlowCondition
	order     FlowOrder
	ascending bool
	after     int64
	most      int
}

// rankFlows returns those flows of s that may be among the first ones of all, and how many match. It ends early when
// stop is closed.
func (s *Shard) rankFlows(q *flowRanking, stop <-chan struct{}, told *samples) (best flowHeap, total int) {
	var match func(*telemetry.FlowKey) bool
	var selects func(*telemetry.Flow) bool
	if q.which != nil {
		match, selects = q.which.Compile()
	}
	step := chunkSize
	if selects != nil {
		step = selectSize
	}
	score := q.order.score(q.ascending)
	for from := 0; !isClosed(stop); from += step {
		s.mu.Lock()
		end := min(from+step, s.flows.count)
		for place := from; place < end; place++ {
			f := s.flows.at(place)
			if q.after != 0 && f.last <= q.after || match != nil && !match(&f.key) {
				continue
			}
			if selects != nil {
				if a := s.flowAnswer(f, told); !selects(&a) {
					continue
				}
			}
			total++
			best.offer(flowRef{score: score(f), place: place, key: f.key}, q.most)
		}
		done := end == s.flows.count
		s.mu.Unlock()
		if done {
			break
		}
	}
	return best, total
}

// answerFlows returns the flows that refs name. One that gave way to another meanwhile has no ID.
func (s *Shard) answerFlows(refs []flowRef, told *samples) []telemetry.Flow {
	answers := make([]telemetry.Flow, len(refs))
	for i := range refs {
		s.mu.Lock()
		if f := s.flows.at(refs[i].place); f.key == refs[i].key {
			answers[i] = s.flowAnswer(f, told)
		}
		s.mu.Unlock()
	}
	return answers
}

// flowAnswer returns a flow, without what clocks say of it. The shard is locked.
func (s *Shard) flowAnswer(f *flow, told *samples) telemetry.Flow {
	a := telemetry.Flow{
		ID: fmt.Sprintf("%016x", f.key.Hash()), Endpoints: telemetry.EndpointsOf(&f.key), DSCP: f.dscp,
		First: time.Unix(0, f.first).UTC(), Last: time.Unix(0, f.last).UTC(),
		Reports: f.reports, Packets: f.packets, Probes: s.probes[f.key], Bytes: f.bytes, Drops: uint64(f.drops),
		PathChanges: uint64(f.pathChanges),
		Residence:   f.residence.distribution(), EndToEnd: f.endToEnd.distribution(),
		Paths: []telemetry.FlowPath{},
	}
	if outer, ok := s.outer[f.key]; ok {
		e := telemetry.EndpointsOf(&outer)
		a.Outer = &e
	}
	if f.hasDevice {
		a.Device = telemetry.DeviceText(f.device)
	}
	var all telemetry.SampleSum
	var packets uint64 // in all
	for i := range f.paths {
		fp := &f.paths[i]
		if !fp.used {
			continue
		}
		p := s.pathOf(fp)
		if p == nil {
			continue
		}
		path := telemetry.FlowPath{
			ID: topology.PathID(p.hash), Packets: uint64(fp.packets), First: time.Unix(0, fp.first).UTC(),
			Last: time.Unix(0, fp.last).UTC(),
			Hops: make([]telemetry.PathHop, len(p.hops)), Unknown: told.unknown(p),
		}
		sample := told.ofPath(p)
		path.Sample = sample.Answer()
		sample.AddTo(&all, path.Packets)
		packets += path.Packets
		block := s.slab.block(fp.block, int(fp.hops))
		for j := range p.hops {
			path.Hops[j] = p.hops[j].HopKey.Answer(told.names)
			path.Hops[j].Sample = told.hopAnswer(p, j)
			h := &block[j]
			path.Hops[j].LatencyNs = histogram.Distribution(
				&histogram.Summary{Count: uint64(h.count), Sum: h.sum, Min: h.min, Max: h.max}, &h.Shape, h.buckets[:])
			if h.queueCount > 0 {
				path.Hops[j].Queue = &telemetry.Queue{
					ID: h.queueID, Mean: float64(h.queueSum) / float64(h.queueCount),
					Max: h.queueMax, Unit: told.unitOf(p.hops[j].Node).String(),
				}
			}
		}
		a.Paths = append(a.Paths, path)
	}
	a.Sample = all.Sample(packets, 0)
	if f.numbered && (all.Rate(packets) < telemetry.SamplePart || f.gapsReported) {
		missing := uint64(f.missing)
		a.Missing = &missing
	}
	addSamples(&a, s.sampled.Of(&f.key), told.names, told.configured)
	told.estimateFlow(&a)
	return a
}

// pathSums are copies of paths by hash, those of several shards added up.
type pathSums map[uint64]*path

// add adds a path, which stays who has it.
func (m pathSums) add(p *path) {
	if sum := m[p.hash]; sum != nil {
		sum.merge(p)
		return
	}
	copied := *p
	copied.hops, copied.sinceScan = slices.Clone(p.hops), pathWindow{}
	m[p.hash] = &copied
}

// addPaths adds the paths of s.
func (s *Shard) addPaths(to pathSums) { pieces(func(from int) int { return s.addSomePaths(from, to) }) }

// addSomePaths adds paths from a place on, and returns the place to go on from; 0: these were the last ones. A path is
// copied in about a microsecond.
func (s *Shard) addSomePaths(from int, to pathSums) (next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := min(from+pathsAtOnce, len(s.paths.paths))
	for i := from; i < end; i++ {
		if p := &s.paths.paths[i]; p.used {
			to.add(p)
		}
	}
	if end < len(s.paths.paths) {
		next = end
	}
	return next
}

// mergedPaths returns a copy of every path, those of different shards added up, the most used first.
func (c *Collector) mergedPaths() []*path {
	merged := pathSums{}
	for _, s := range c.Owners {
		s.addPaths(merged)
	}
	list := make([]*path, 0, len(merged))
	for _, p := range merged {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *path) int {
		return cmp.Or(cmp.Compare(b.packets, a.packets), cmp.Compare(a.hash, b.hash))
	})
	return list
}

// Paths returns the limit most used paths and how many there are.
func (c *Collector) Paths(limit int) ([]telemetry.Path, int) {
	paths := c.mergedPaths()
	answer := make([]telemetry.Path, 0, min(limit, len(paths)))
	told := c.samples()
	for _, p := range paths[:min(limit, len(paths))] {
		a := p.answer(&told)
		a.Delay = c.Timing.Path(p.hash)
		a.PacketsEstimated = told.estimate(a.Hops, a.Packets+a.Incomplete)
		answer = append(answer, a)
	}
	return answer, len(paths)
}

// Nodes returns every node on any path or behind any drop, by id.
func (c *Collector) Nodes() []telemetry.Node {
	type gathered struct {
		telemetry.Node
		latency histogram.Histogram
		sample  telemetry.SampleSum
		told    uint64 // packets of sample
		missing int64
		ports   map[uint32]bool
	}
	nodes := map[uint32]*gathered{}
	get := func(id uint32, first, last time.Time) *gathered {
		n := nodes[id]
		if n == nil {
			n = &gathered{
				Node:  telemetry.Node{ID: id, Name: c.Names()[id], First: first, Last: last},
				ports: map[uint32]bool{},
			}
			nodes[id] = n
		}
		if first.Before(n.First) {
			n.First = first
		}
		if last.After(n.Last) {
			n.Last = last
		}
		return n
	}
	told := c.samples()
	for _, p := range c.mergedPaths() {
		for i := range p.hops {
			h := &p.hops[i]
			if h.Has&telemetry.HasNode == 0 {
				continue
			}
			n := get(h.Node, time.Unix(0, p.first).UTC(), time.Unix(0, p.last).UTC())
			n.Packets += p.packets
			if h.latency.Count > 0 {
				told.ofHop(p, i).AddTo(&n.sample, p.packets+h.parts)
				n.told += p.packets + h.parts
				n.missing += p.missingAt(i)
			}
			n.latency.Merge(&h.latency)
			if h.Has&telemetry.HasIngressPort != 0 {
				n.ports[h.In] = true
			}
			if h.Has&telemetry.HasEgressPort != 0 && h.Has&telemetry.HasDrop == 0 {
				n.ports[h.Out] = true
			}
			if h.queue.count > 0 && (n.QueueMax == nil || *n.QueueMax < h.queue.max) {
				high := h.queue.max
				n.QueueMax, n.QueueUnit = &high, told.unitOf(h.Node).String()
			}
		}
	}
	for _, s := range c.Owners {
		for id, seen := range s.sampledNodes() {
			n := get(id, time.Unix(0, seen.First).UTC(), time.Unix(0, seen.Last).UTC())
			maps.Copy(n.ports, seen.Ports)
		}
	}
	for _, p := range c.countedPorts() {
		get(p.Node, p.First, p.Last).ports[p.Port] = true
	}
	for _, d := range c.Drops(nil) {
		if d.Node != nil {
			get(*d.Node, d.First, d.Last).Drops += d.Packets
		}
	}
	list := make([]telemetry.Node, 0, len(nodes))
	for _, n := range nodes {
		if n.LatencyNs = n.latency.Distribution(); n.LatencyNs != nil {
			n.Sample = n.sample.Sample(n.told, n.missing)
		}
		n.Ports = make([]uint32, 0, len(n.ports))
		for port := range n.ports {
			n.Ports = append(n.Ports, port)
		}
		slices.Sort(n.Ports)
		list = append(list, n.Node)
	}
	slices.SortFunc(list, func(a, b telemetry.Node) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Links returns the links that paths show: two hops next to each other, both known.
func (c *Collector) Links() []telemetry.Link {
	type gathered struct {
		telemetry.Link
		use    topology.Use
		sample telemetry.SampleSum
	}
	links, told, paths := map[topology.LinkKey]*gathered{}, c.samples(), c.mergedPaths()
	units := c.utilizationUnits(paths)
	for _, p := range paths {
		if p.uncertain {
			continue // the order of its hops is not known
		}
		for i := 1; i < len(p.hops); i++ {
			a, b := &p.hops[i-1], &p.hops[i]
			k, ok := topology.LinkOf(&a.HopKey, &b.HopKey)
			if !ok {
				continue
			}
			first, last := time.Unix(0, p.first).UTC(), time.Unix(0, p.last).UTC()
			l := links[k]
			if l == nil {
				l = &gathered{Link: telemetry.Link{
					From: a.Node, FromName: c.Names()[a.Node], To: b.Node,
					ToName: c.Names()[b.Node], First: first, Last: last,
				}}
				l.Delay, l.Loss = c.Timing.Link(k), c.Losses.Of(k)
				l.FromPort, l.ToPort = a.HopKey.Answer(nil).EgressPort, b.HopKey.Answer(nil).IngressPort
				links[k] = l
			}
			told.ofNodes(p).AddTo(&l.sample, p.packets)
			l.Packets += p.packets
			l.Incomplete += p.incomplete
			if first.Before(l.First) {
				l.First = first
			}
			if last.After(l.Last) {
				l.Last = last
			}
			l.use.MergeUse(&a.utilization)
		}
	}
	list := make([]telemetry.Link, 0, len(links))
	for _, l := range links {
		l.Utilization, l.Sample = l.use.Answer(units[l.From]), l.sample.Sample(l.Packets, int64(l.Incomplete))
		list = append(list, l.Link)
	}
	topology.RateLinks(list)
	slices.SortFunc(list, func(a, b telemetry.Link) int {
		return cmp.Or(cmp.Compare(a.From, b.From),
			cmp.Compare(topology.PortOf(a.FromPort), topology.PortOf(b.FromPort)),
			cmp.Compare(a.To, b.To), cmp.Compare(topology.PortOf(a.ToPort), topology.PortOf(b.ToPort)))
	})
	return list
}

// Drops returns all drops by place and reason, the most frequent first. match selects by place; nil selects all.
func (c *Collector) Drops(match func(*telemetry.Drop) bool) []telemetry.Drop {
	all := drop.Sums{}
	for _, s := range c.Owners {
		s.addDrops(all)
	}
	return all.Answer(c.Names(), match)
}

// addDrops adds the drops of s.
func (s *Shard) addDrops(to drop.Sums) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.AddTable(&s.drops)
}

// sampledNodes returns the devices that told of samples.
func (s *Shard) sampledNodes() map[uint32]sampled.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := make(map[uint32]sampled.Node, len(s.sampled.Nodes))
	for id, n := range s.sampled.Nodes {
		nodes[id] = sampled.Node{First: n.First, Last: n.Last, Ports: maps.Clone(n.Ports)}
	}
	return nodes
}

// ExporterList returns the account of every exporter, by source and node.
func (c *Collector) ExporterList() []telemetry.Exporter {
	list := []telemetry.Exporter{}
	for _, e := range c.Exporters {
		list = e.Snapshot(list)
	}
	hwID := func(e *telemetry.Exporter) int {
		if e.HWID == nil {
			return -1
		}
		return int(*e.HWID)
	}
	for i := range list {
		if list[i].Node != nil {
			list[i].Name = c.Names()[*list[i].Node]
		}
	}
	slices.SortFunc(list, func(a, b telemetry.Exporter) int {
		return cmp.Or(a.Source.Compare(b.Source), cmp.Compare(topology.PortOf(a.Node), topology.PortOf(b.Node)),
			cmp.Compare(a.Version, b.Version), cmp.Compare(hwID(&a), hwID(&b)))
	})
	return list
}

// Forget removes the accounts of exporters that match selects, and returns what they said; see Exporters.Forget.
func (c *Collector) Forget(match func(*telemetry.Exporter) bool) (forgotten []telemetry.Exporter) {
	names := c.Names()
	named := func(x *telemetry.Exporter) bool {
		if x.Node != nil {
			x.Name = names[*x.Node]
		}
		return match(x)
	}
	for _, e := range c.Exporters {
		forgotten = append(forgotten, e.Forget(named)...)
	}
	return forgotten
}

// Completeness says which share of the reports arrived that the tables rest on.
func (c *Collector) Completeness() telemetry.Completeness {
	return ledger.Completeness(c.Exporters, c.Names())
}

// Counters are totals for metrics.
type Counters struct {
	Reports, Flowless                     uint64
	Flows, Paths, DropPlaces              int
	FlowsEvicted, PathsEvicted, JoinEarly uint64
	DropsOverflow, ExportersOverflow      uint64
	JudgementsPostponed, FindingsOverflow uint64
	// reports of flows outside the full flow table that were not compared with the policy
	JudgementsLeftOut             uint64
	SamplesOverflow               uint64
	SampledFlows                  int    // flows of which sFlow, NetFlow or IPFIX told
	SampledOverflow               uint64 // reports of these for which there was no place
	CountedPorts                  int    // ports of which devices tell counters
	CountersOverflow              uint64 // samples of these for which there was no place
	CountersPassedBy              uint64 // and that came again, too late, or of a second agent
	WrongChecksums                uint64 // reports of packets whose IPv4 header has a wrong checksum
	WrongL4Checksums              uint64 // the same of TCP and UDP, of the packets that were looked at
	Exporters, FlowLimit          int
	Queues                        int
	QueuesOverflow, FlowsRejected uint64
	IntervalsEarly                uint64 // of exporters, that left the ledger before their time
}

// Counters adds up the counters of all shards.
func (c *Collector) Counters() Counters {
	var n Counters
	for _, s := range c.Owners {
		n.add(s.counters())
	}
	for _, e := range c.Exporters {
		x := e.Counters()
		n.Exporters += x.Exporters
		n.ExportersOverflow += x.Overflow
		n.SamplesOverflow += x.SamplesOverflow
		n.IntervalsEarly += x.IntervalsEarly
	}
	return n
}

// counters returns those of s.
func (s *Shard) counters() Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Counters{
		Reports: s.reports, Flowless: s.flowless, Flows: s.flows.count, FlowLimit: s.flows.max,
		Paths: len(s.paths.paths), DropPlaces: len(s.drops.Drops), FlowsEvicted: s.flows.evicted,
		FlowsRejected: s.rejected, PathsEvicted: s.paths.evicted, Queues: len(s.queues.Queues),
		QueuesOverflow: s.queues.Overflow, JoinEarly: s.join.Early, DropsOverflow: s.drops.Overflow,
		JudgementsPostponed: s.findings.Postponed, JudgementsLeftOut: s.unjudged,
		FindingsOverflow: s.findings.Overflow + s.checksums.Overflow, WrongChecksums: s.checksums.Total,
		WrongL4Checksums: s.checksums.L4, SampledFlows: s.sampled.Len(), SampledOverflow: s.sampled.Overflow,
		CountedPorts: s.counted.Len(), CountersOverflow: s.counted.Overflow, CountersPassedBy: s.counted.PassedBy,
	}
}

// add adds those of another shard.
func (n *Counters) add(o Counters) {
	to, from := reflect.ValueOf(n).Elem(), reflect.ValueOf(&o).Elem()
	for i := range to.NumField() {
		if f := to.Field(i); f.CanInt() {
			f.SetInt(f.Int() + from.Field(i).Int())
		} else {
			f.SetUint(f.Uint() + from.Field(i).Uint())
		}
	}
}

// TakeDispositions appends what became of reports since the last call, for a Ledger: first what the store settled, then
// what the tables did.
func (c *Collector) TakeDispositions(list []ledger.AccountDisposition) []ledger.AccountDisposition {
	list = c.kept.Take(list)
	for _, s := range c.Owners {
		list = s.takeDispositions(list)
	}
	return list
}

// takeDispositions appends what became of reports since the last call.
func (s *Shard) takeDispositions(list []ledger.AccountDisposition) []ledger.AccountDisposition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dispositions.Take(list)
}

// Stored reports whether what the tables count goes to a store.
func (c *Collector) Stored() bool { return c.kept != nil }

// TableLoss returns what became of the reports that the tables got.
func (c *Collector) TableLoss() telemetry.TableLoss {
	n := c.Counters()
	return telemetry.TableLoss{
		Stored: n.Reports, DropsUnplaced: n.DropsOverflow, Flowless: n.Flowless,
		FlowsEvicted: n.FlowsEvicted, PathsEvicted: n.PathsEvicted, JoinsCut: n.JoinEarly,
	}
}
