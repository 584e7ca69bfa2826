package analyze

import (
	"math/bits"

	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/sampled"
	"github.com/waybill-int/waybill/telemetry"
)

// givenFlow is what of a flow was given so far; it stands for the flow in the same place of the table.
type givenFlow struct {
	reports, packets, bytes uint64
	told                    uint64 // reports, packets and drops when SoFar told of it last
	residence, endToEnd     flowLatency
	drops, pathChanges      uint32
	paths                   [keptPaths]struct {
		path       uint32
		packets    uint32
		generation uint16
		used       bool
	}
}

// flowsUnderLock is how many flows are looked at under the lock of a shard: half a millisecond.
const flowsUnderLock = 512

// maxGone bounds the flows that gave way between two looks.
const maxGone = 1 << 16

// shardIntervals is the part of Intervals that a shard must reach: what was given of its flows and paths. It is guarded
// by the lock of the shard.
type shardIntervals struct {
	flows        [][]givenFlow // chunks as in flowTable
	paths        []*path       // copies; nil: nothing was given
	queues       []givenQueue
	drops        map[drop.Key]uint64
	dropsTo      map[dropToward]uint64
	gone         []telemetry.FlowInterval
	goneReports  ledger.ReportCounts // of the flows in gone
	goneTold     int                 // of gone, by SoFar
	left         map[int][]leftPath  // by place: paths that flows no longer keep
	lefts        int                 // in all
	ungivenFlows uint64
	ungivenPaths uint64
	told         *samples // what nodes tell of, as of the last look at paths
}

// keepIntervals begins to keep them.
func (s *Shard) keepIntervals() (begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intervals = &shardIntervals{
		left: map[int][]leftPath{}, drops: map[drop.Key]uint64{}, dropsTo: map[dropToward]uint64{},
	}
	s.paths.gaveWay = s.forgetPath
	return true
}

// ungiven returns packets that are in no record, see Ungiven.
func (s *Shard) ungiven() Ungiven {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Ungiven{Flows: s.intervals.ungivenFlows, Paths: s.intervals.ungivenPaths}
}

// sampleOf returns of which packets the figures of p, which is in that place, tell, as of the last look at paths.
func (p *shardIntervals) sampleOf(place uint32, now *path) reporting.Sample {
	if int(place) < len(p.paths) {
		if given := p.paths[place]; given != nil && given.hash == now.hash {
			return given.sample
		}
	}
	if p.told == nil {
		return reporting.Sample{Complete: -1}
	}
	return p.told.ofPath(now)
}

// rates are those at which nodes sample by the configuration, as of the last look at paths.
func (p *shardIntervals) rates() map[uint32]telemetry.SampleRate {
	if p.told == nil {
		return nil
	}
	return p.told.configured
}

// A leftPath is how many packets of a flow on a path are not given that the flow no longer keeps, since it took others.
type leftPath struct {
	path    uint64
	packets uint64
	dropped bool // it ends where packets were dropped
	sample  reporting.Sample
}

// leavePath notes what was not given of a path that a flow no longer keeps. The caller holds the lock of the shard.
func (s *Shard) leavePath(f *flow, fp *flowPath) {
	p, at := s.intervals, s.pathOf(fp)
	if p == nil || at == nil {
		return
	}
	place, _, ok := s.flows.find(&f.key, s.flows.tagOf(&f.key))
	if !ok {
		return // a flow that the guard kept outside
	}
	n := uint64(fp.packets - p.flow(place).forget(fp))
	list := p.left[place]
	for i := range list {
		if list[i].path == at.hash {
			list[i].packets += n
			return
		}
	}
	if n > 0 && p.lefts < maxGone { // else they are packets that no path is known of
		p.left[place] = append(list, leftPath{at.hash, n, at.dropped(), p.sampleOf(fp.path, at)})
		p.lefts++
	}
}

// flow returns what was given of the flow in that place.
func (p *shardIntervals) flow(place int) *givenFlow {
	for place>>chunkBits >= len(p.flows) {
		p.flows = append(p.flows, make([]givenFlow, chunkSize))
	}
	return &p.flows[place>>chunkBits][place&(chunkSize-1)]
}

// forgetFlow takes what was not given yet of a flow that gives way; false: there is no room for it. The caller holds
// the lock of the shard.
func (s *Shard) forgetFlow(place int, f *flow) bool {
	p := s.intervals
	room := len(p.gone) < maxGone
	if room {
		p.gone = s.flowIntervals(p.gone, f, place)
		p.goneReports.Add(&f.reporters)
	} else {
		p.ungivenFlows += f.packets - p.flow(place).packets
	}
	*p.flow(place) = givenFlow{}
	return room
}

// flowCounts are what was counted of some flows.
type flowCounts struct {
	flows, gone []telemetry.FlowInterval // gone: of those that gave way, where they are told apart
	reports     ledger.ReportCounts      // that they are of
	next        int                      // place to go on from; 0: these were the last ones
}

// flowsSince returns what was counted of flows since they were given last, of some from a place on, and the reports
// that it is of.
func (s *Shard) flowsSince(from int) (c flowCounts) {
	p := s.intervals
	for ; ; from += flowsUnderLock {
		s.mu.Lock()
		if from == 0 {
			c.flows, p.gone = p.gone, nil
			c.reports, p.goneReports, p.goneTold = p.goneReports, nil, 0
			s.dispositions.FlushEvicted(c.reports)
		}
		end := min(from+flowsUnderLock, s.flows.count)
		for place := from; place < end; place++ {
			f, given := s.flows.at(place), p.flow(place)
			// Packets that waited for postcards are counted without a new report.
			if f.reports != given.reports || f.packets != given.packets || f.drops != given.drops {
				c.flows = s.flowIntervals(c.flows, f, place)
				c.reports.Add(&f.reporters)
				s.dispositions.Flush(&f.reporters)
			}
		}
		done := end == s.flows.count
		s.mu.Unlock()
		switch {
		case done:
			return c
		case len(c.flows) >= flowsAtOnce:
			c.next = end
			return c
		}
	}
}

// flowsSoFar returns the flows that have changed since it told of them last, of some from a place on, and those that
// gave way since then.
func (s *Shard) flowsSoFar(from int) (c flowCounts) {
	p := s.intervals
	for ; ; from += flowsUnderLock {
		s.mu.Lock()
		if from == 0 {
			c.gone = append(c.gone, p.gone[p.goneTold:]...)
			p.goneTold = len(p.gone)
		}
		end := min(from+flowsUnderLock, s.flows.count)
		for place := from; place < end; place++ {
			f, given := s.flows.at(place), p.flow(place)
			now := f.reports + f.packets + uint64(f.drops)
			if now != given.reports+given.packets+uint64(given.drops) && now != given.told {
				given.told = now
				c.flows = s.flowSince(c.flows, f, place)
			}
		}
		done := end == s.flows.count
		s.mu.Unlock()
		switch {
		case done:
			return c
		case len(c.flows) >= flowsAtOnce:
			c.next = end
			return c
		}
	}
}

// flowIntervals appends what was counted of f, which is in that place, since it was given last, and notes it as given.
func (s *Shard) flowIntervals(list []telemetry.FlowInterval, f *flow, place int) []telemetry.FlowInterval {
	p := s.intervals
	given := p.flow(place)
	list = s.flowSince(list, f, place)
	if left := p.left[place]; len(left) > 0 {
		delete(p.left, place)
		p.lefts -= len(left)
	}
	given.take(f)
	if samples := s.samplesOf(f); samples != nil {
		samples.Give(samples.Estimate(p.rates()))
	}
	f.residence.Turn()
	f.endToEnd.Turn()
	return list
}

// samplesOf returns the samples of f, of which, as in addSamples, no report tells more than drops; nil: there are none.
func (s *Shard) samplesOf(f *flow) *sampled.Flow {
	if f.packets > uint64(f.drops) {
		return nil
	}
	return s.sampled.Of(&f.key)
}

// flowSince appends what was counted of f, which is in that place, since it was given last.
func (s *Shard) flowSince(list []telemetry.FlowInterval, f *flow, place int) []telemetry.FlowInterval {
	given := s.intervals.flow(place)
	all := telemetry.FlowInterval{
		Key: f.key, DSCP: f.dscp, Device: f.device, HasDevice: f.hasDevice,
		Reports: f.reports - given.reports, Packets: f.packets - given.packets, Bytes: f.bytes - given.bytes,
		Drops: uint64(f.drops - given.drops), PathChanges: uint64(f.pathChanges - given.pathChanges),
		Residence: f.residence.since(&given.residence), EndToEnd: f.endToEnd.since(&given.endToEnd),
	}
	if samples := s.samplesOf(f); samples != nil {
		e := samples.Since(samples.Estimate(s.intervals.rates()))
		all.PacketsEstimated, all.BytesEstimated = e.Packets, e.Bytes
		all.Sample.Add(e.Rate, -1, 0)
	}
	if f.key.Tunnel != telemetry.TunnelNone {
		outer := s.outer[f.key]
		all.OuterSrc, all.OuterDst = outer.Src, outer.Dst
	}
	var memory [2 * keptPaths]onPath
	parts := memory[:0]
	left := all.Packets
	part := func(path, packets uint64, dropped bool, sample reporting.Sample) {
		packets = min(packets, left)
		left -= packets
		parts = append(parts, onPath{path, packets, dropped, sample})
	}
	for _, l := range s.intervals.left[place] {
		part(l.path, l.packets, l.dropped, l.sample)
	}
	for i := range f.paths {
		fp := &f.paths[i]
		if !fp.used {
			continue
		}
		if p := s.pathOf(fp); p != nil {
			if n := uint64(fp.packets - given.on(fp)); n > 0 || i == 0 && all.Packets == 0 {
				part(p.hash, n, p.dropped(), s.intervals.sampleOf(fp.path, p))
			}
		}
	}
	return shareOut(list, &all, parts)
}

// An onPath is how many packets of a flow took a path, and whether it ends where they were dropped.
type onPath struct {
	path, packets uint64
	dropped       bool
	sample        reporting.Sample
}

// shareOut appends the record of a flow, or one for each of its paths. Packets are counted for each path. What else is
// counted is shared out by packets, but drops belong to paths that end with one, and latencies to those that do not.
// What is left has no path.
func shareOut(list []telemetry.FlowInterval, all *telemetry.FlowInterval, parts []onPath) []telemetry.FlowInterval {
	rest := *all
	arrived, packets := uint64(0), uint64(0) // on paths that packets went to their end, and on all
	for _, p := range parts {
		if packets += p.packets; !p.dropped {
			arrived += p.packets
		}
	}
	for _, p := range parts {
		if p.packets == 0 && all.Packets > 0 {
			continue
		}
		r := rest
		r.Path, r.Packets = p.path, p.packets
		r.PacketsEstimated, r.BytesEstimated, r.Sample = 0, 0, telemetry.SampleSum{}
		p.sample.AddTo(&r.Sample, r.Packets)
		// it is not the last one, with all remainders of the divisions
		if p.packets < packets || packets < rest.Packets {
			for _, n := range []struct{ part, left, whole *uint64 }{
				{&r.Reports, &rest.Reports, &all.Reports},
				{&r.Bytes, &rest.Bytes, &all.Bytes},
				{&r.PathChanges, &rest.PathChanges, &all.PathChanges},
			} {
				*n.part = portion(*n.whole, p.packets, all.Packets)
			}
		}
		packets -= p.packets
		switch {
		case p.dropped:
			r.Drops = min(p.packets, rest.Drops)
		case all.Packets > 0:
			r.Drops = 0
		}
		switch {
		case p.dropped && arrived > 0:
			r.Residence, r.EndToEnd = telemetry.LatencySummary{}, telemetry.LatencySummary{}
		case !p.dropped && p.packets < arrived:
			shareSummary(&r.Residence, p.packets, arrived)
			shareSummary(&r.EndToEnd, p.packets, arrived)
		}
		if !p.dropped {
			arrived -= p.packets
		}
		take(&rest, &r)
		list = append(list, r)
	}
	// What no path accounts for: packets that no path is known of, or of paths that were forgotten since.
	if rest.Reports+rest.Packets+rest.Bytes+rest.Drops+rest.PathChanges+rest.Residence.Count+rest.EndToEnd.Count+
		rest.PacketsEstimated > 0 || len(parts) == 0 {
		if len(parts) > 0 { // the same nodes told of it
			rest.Sample.Add(parts[0].sample.Rate, -1, rest.Packets)
		}
		list = append(list, rest)
	}
	return list
}

// on is how many packets on a path were given.
func (g *givenFlow) on(fp *flowPath) uint32 {
	for i := range g.paths {
		if q := &g.paths[i]; q.used && q.path == fp.path && q.generation == fp.generation && q.packets <= fp.packets {
			return q.packets
		}
	}
	return 0
}

// forget returns how many packets on a path were given, and forgets it: when it is kept again, it begins anew.
func (g *givenFlow) forget(fp *flowPath) uint32 {
	n := g.on(fp)
	for i := range g.paths {
		if q := &g.paths[i]; q.path == fp.path && q.generation == fp.generation {
			q.used = false
		}
	}
	return n
}

// take makes f what was given.
func (g *givenFlow) take(f *flow) {
	g.reports, g.packets, g.bytes, g.drops, g.pathChanges = f.reports, f.packets, f.bytes, f.drops, f.pathChanges
	g.residence, g.endToEnd = f.residence, f.endToEnd
	for i := range f.paths {
		q, fp := &g.paths[i], &f.paths[i]
		q.path, q.generation, q.packets, q.used = fp.path, fp.generation, fp.packets, fp.used
	}
}

// portion is the share of n that so many of all packets have.
func portion(n, packets, all uint64) uint64 {
	hi, lo := bits.Mul64(n, packets)
	q, _ := bits.Div64(hi, lo, all)
	return q
}

// shareSummary makes m the share that so many of all packets have of what is left.
func shareSummary(m *telemetry.LatencySummary, packets, all uint64) {
	if m.Count > 0 {
		count := portion(m.Count, packets, all)
		m.Sum, m.Count = portion(m.Sum, count, m.Count), count // in this order the mean stays within the extremes
	}
}

// take subtracts a part.
func take(rest, part *telemetry.FlowInterval) {
	parts := counters(part)
	for i, c := range counters(rest) {
		*c -= *parts[i]
	}
}

// counters are what of a record adds up.
func counters(v *telemetry.FlowInterval) [9]*uint64 {
	return [...]*uint64{
		&v.Reports, &v.Packets, &v.Bytes, &v.Drops, &v.PathChanges, &v.Residence.Count, &v.Residence.Sum,
		&v.EndToEnd.Count, &v.EndToEnd.Sum,
	}
}

// since is what l counted after an earlier state of it.
func (l *flowLatency) since(before *flowLatency) telemetry.LatencySummary {
	var memory [len(l.buckets)]uint64
	h := histogram.Since(&l.Summary, &l.Shape, l.buckets[:], &before.Summary, &before.Shape, before.buckets[:],
		memory[:])
	if h.Count == 0 {
		return telemetry.LatencySummary{}
	}
	return telemetry.LatencySummary{
		Count: h.Count, Sum: h.Sum, Min: h.Min, Max: h.Max, P50: h.Quantile(0.5),
		P99: h.Quantile(0.99),
	}
}
