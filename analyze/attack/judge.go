package attack

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"strconv"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/report"
)

// judge decides what goes on at a target, by the look at nowNs.
func (s *Search) judge(st *state, shards []Shard, nowNs int64) {
	if !st.may {
		return
	}
	if st.ring == nil {
		sum := st.latest.sum()
		d := float64(nowNs-s.lastNs) / 1e9
		bps, pps := 8*float64(sum.Bytes)/d, float64(sum.Packets)/d
		if st.floor.of(bps, pps) < warm && st.fixed.of(bps, pps) < warm {
			return
		}
		st.ring = make([]look, 0, ringLen)
	}
	if len(st.ring) == ringLen {
		st.first.keep(&st.ring[0])
		copy(st.ring, st.ring[1:])
		st.ring = st.ring[:ringLen-1]
	}
	st.ring = append(st.ring, look{s.lastNs, nowNs, st.latest})
	times, fixed := s.exceeds(st)
	exceeds := times >= 1 || fixed
	switch {
	case st.attack != nil:
		s.goesOn(st, times, fixed, nowNs)
		if st.attack.EndNs != 0 {
			s.unwatch(st, shards)
			st.attack, st.ring = nil, nil
			st.forgetHits()
		}
	case exceeds && (fixed || !s.isLearning(st, nowNs)) && !s.isCovered(st, nowNs):
		st.hit(s, nowNs)
		if st.watch == nil && (fixed || !st.isTransfer()) {
			s.watch(st, shards)
		}
		if st.hits >= holds {
			s.decide(st, shards, fixed, nowNs)
		}
	case st.ring != nil:
		if st.calm++; st.calm >= 2*ringLen { // pulses come again
			st.forgetHits()
			s.unwatch(st, shards)
		}
		if times < warm && st.hits == 0 && st.calm > ringLen {
			st.ring, st.calm = nil, 0
		}
	}
}

// hit counts the look at nowNs as one that exceeds the limits.
func (st *state) hit(s *Search, nowNs int64) {
	if st.hits == 0 {
		st.first = &onset{beginNs: s.beginOf(st)}
	}
	if f := st.first; f != nil {
		if st.calm > 0 && f.hitNs > 0 {
			f.pauseNs = s.lastNs - f.hitNs
		}
		if f.hitNs = nowNs; len(f.gone) == maxGone {
			st.first = nil
		}
	}
	st.hits++
	st.calm = 0
}

// forgetHits says that what exceeded was no attack, or is over.
func (st *state) forgetHits() { st.hits, st.first = 0, nil }

// keep keeps a look that leaves the ring, if it came since the first that exceeded.
func (f *onset) keep(l *look) {
	if f != nil && l.toNs > f.beginNs && len(f.gone) < maxGone {
		f.gone = append(f.gone, *l)
	}
}

// isCovered reports whether what comes to a target is that of another: an address of a prefix that is attacked, or a
// prefix of which one address gets the most.
func (s *Search) isCovered(st *state, nowNs int64) bool {
	if st.bits == 128 {
		n := 48
		if st.Addr.IP().Is4() {
			n = 96 + 24
		}
		p := s.prefixes[Target{masked(st.Addr, n), st.Tenant}]
		return p != nil && p.attack != nil
	}
	// Only now, as it takes a look at all targets.
	var all, most float64
	addresses := 0
	for one := range s.addressesOf(st, nowNs) {
		level := one.levelAt(nowNs)
		addresses++
		all, most = all+level, max(most, level)
	}
	return addresses < carpetAddresses || 2*most > all
}

// addressesOf are the addresses of a prefix to which something came lately and that are not attacked themselves.
func (s *Search) addressesOf(st *state, nowNs int64) iter.Seq[*state] {
	return func(yield func(*state) bool) {
		for t, one := range s.targets {
			if t.Tenant == st.Tenant && masked(t.Addr, st.bits) == st.Addr && nowNs-one.heardNs <= second &&
				one.attack == nil && !yield(one) {
				return
			}
		}
	}
}

// bombed returns to how many addresses of a prefix packets of a class came lately.
func (s *Search) bombed(st *state, of Class, nowNs int64) (n int) {
	for one := range s.addressesOf(st, nowNs) {
		if one.before[of] || one.latest.offered(of).Packets+one.inSec.offered(of).Packets > 0 {
			n++
		}
	}
	return n
}

// isTransfer reports whether what came to a target lately is answered and has too few flows for a crowd: there would be
// nothing to tell of its sources.
func (st *state) isTransfer() bool {
	var sum Tally
	for i := range st.ring {
		sum.merge(&st.ring[i].Tally)
	}
	return sum.flows() < fewSources && sum.mayBeAnswered() && 3*sum.offered(SYN).Packets <= sum.offered(TCP).Packets
}

// makeRoom ends the watch of a target that is not attacked, and reports whether there is room for one that may be.
func (s *Search) makeRoom(shards []Shard) bool {
	if s.watched < MaxWatches {
		return true
	}
	var least *state
	for _, st := range s.touched {
		switch a := st.attack; {
		case st.watch == nil, a == nil && st.hits > 0 && st.hits < holds, a != nil && a.Kind != telemetry.AttackSurge:
		case least == nil, least.attack != nil && a == nil:
			least = st
		}
	}
	if least != nil {
		s.unwatch(least, shards)
	}
	return least != nil
}

// watch lets shards count the sources of a target, if there is room.
func (s *Search) watch(st *state, shards []Shard) {
	mayBe := st.attack == nil && st.hits <= holds || st.attack != nil && st.attack.Kind != telemetry.AttackSurge
	if s.watched >= MaxWatches && !(mayBe && s.makeRoom(shards)) {
		return
	}
	s.watched++
	sum, d := st.recent()
	more, all := s.excess(st, &sum, d)
	classes := s.classes(st, more, all)
	// Flows that were there before are usual traffic, if there is some in these classes.
	usual := 0.0
	for c, is := range classes {
		if is {
			usual += st.floor.of(st.usual[c].bps, st.usual[c].pps)
		}
	}
	w := &watching{}
	if usual > 0.1*st.floor.of(all.bps, all.pps) {
		w.spareNs = st.ring[max(len(st.ring)-3, 0)].fromNs
	}
	s.watches++
	w.number = s.watches
	st.watch = w
	for _, shard := range shards {
		shard.WatchTarget(WatchOf{
			Number: w.number, Target: st.Target, Bits: st.bits, Classes: classes, SinceNs: w.spareNs,
		})
	}
}

func (s *Search) unwatch(st *state, shards []Shard) {
	if st.watch == nil {
		return
	}
	s.watched--
	for _, shard := range shards {
		shard.UnwatchTarget(st.watch.number)
	}
	st.watch = nil
}

// classes returns those of which there is more than usual, unless it is a small part.
func (s *Search) classes(st *state, more [numClasses]rate, all rate) (classes Classes) {
	whole := st.floor.of(all.bps, all.pps)
	for c := range more {
		classes[c] = whole > 0 && st.floor.of(more[c].bps, more[c].pps) >= 0.1*whole
	}
	if whole == 0 { // a fixed limit, and nothing is unusual
		for c := range classes {
			classes[c] = true
		}
	}
	return classes
}

// decide decides what it is that came to a target since its first look that exceeds.
func (s *Search) decide(st *state, shards []Shard, fixed bool, nowNs int64) {
	var sum Tally
	d := 0.0
	for i := max(len(st.ring)-max(st.hits, holds)-1, 0); i < len(st.ring); i++ {
		sum.merge(&st.ring[i].Tally)
		d += float64(st.ring[i].toNs-st.ring[i].fromNs) / 1e9
	}
	more, all := s.excess(st, &sum, d)
	if all == (rate{}) && !fixed {
		return // it came in pulses, and these are over
	}
	classes := s.classes(st, more, all)
	sources := s.sources(st, shards, classes)
	counted := float64(sum.sum().Packets) // packets that were really seen
	if sum.Squares > 0 {
		counted *= counted / (float64(sum.Squares) + counted)
	}
	v := s.verdict(st, &sum, more, all, &sources, fixed, nowNs)
	if v.kind == 0 {
		return
	}
	begin := s.beginOf(st)
	var gone []look
	pulses := 0
	if f := st.first; f != nil && begin-f.beginNs > 2*LookNs { // it came in pulses
		begin, gone = f.beginNs, f.gone
		if f.pauseNs > second {
			pulses++
		}
	}
	a := &Attack{
		Target: st.Target, Bits: st.bits, Kind: v.kind, State: telemetry.AttackActive, BeginNs: begin, LastNs: nowNs,
		NowNs: nowNs, Effect: -1, Signs: v.signs, Sources: sources, Fixed: fixed, classes: classes, step: second,
		rules: map[RuleKey]*ruleOf{}, Pulses: pulses,
	}
	if counted < fewCounted && !fixed {
		a.State = telemetry.AttackSuspected
	}
	for _, looks := range [][]look{gone, st.ring} {
		for i := range looks {
			if looks[i].toNs > begin {
				s.addLook(st, a, &looks[i])
			}
		}
	}
	st.first = nil
	if st.attack = a; st.watch == nil {
		s.totals.Unwatched++
	}
	s.changed = append(s.changed, a)
}

// A verdict is what signs say.
type verdict struct {
	kind  telemetry.AttackKind // 0: nothing that anybody needs to know
	signs []telemetry.Evidence
}

// kindOf are the kinds of attacks by the class that most of it is of.
var kindOf = [numClasses]telemetry.AttackKind{
	UDP: telemetry.AttackUDP, Amplified: telemetry.AttackReflection, SYN: telemetry.AttackSYN, TCP: telemetry.AttackTCP,
	ICMP: telemetry.AttackICMP, Fragment: telemetry.AttackFragments, Other: telemetry.AttackOther,
}

// verdict says what came to a target. It is no attack if somebody wants it: hosts that are sent what they asked for
// answer, and a single flow is a transfer.
func (s *Search) verdict(st *state, t *Tally, more [numClasses]rate, all rate, sources *Sources, fixed bool,
	nowNs int64,
) verdict {
	worst := UDP
	for c := range numClasses {
		if st.floor.of(more[c].bps, more[c].pps) > st.floor.of(more[worst].bps, more[worst].pps) {
			worst = c
		}
	}
	sum := t.sum()
	opened, used := t.offered(SYN).Packets, t.offered(TCP).Packets
	// Fewer than three packets for each that opens a connection: nobody uses it.
	if (worst == TCP || worst == SYN) && opened > 0 {
		if worst = TCP; used < 3*opened {
			worst = SYN
		}
	}
	of := t.offered(worst)
	answered := float64(t.Out.Packets) / float64(max(t.answerable(), 1))
	kind := kindOf[worst]
	if st.bits < 128 {
		kind = telemetry.AttackCarpet
	}
	v := verdict{kind: kind, signs: []telemetry.Evidence{
		{Name: "times_the_floor", Value: round(st.floor.of(all.bps, all.pps))},
		{Name: "usual", Value: round(st.usual[worst].pps), Unit: "packets/s"},
		{Name: classNames[worst], Value: round(float64(of.Packets) / float64(max(sum.Packets, 1)))},
		{Name: "answered", Value: round(answered)},
		{Name: "mean_length", Value: round(float64(of.Bytes) / float64(max(of.Packets, 1))), Unit: "B"},
		{Name: "new_flows", Value: float64(t.flows())},
	}}
	addresses := 0
	if st.bits < 128 {
		addresses = s.bombed(st, worst, nowNs)
		v.signs = append(v.signs, telemetry.Evidence{Name: "addresses", Value: float64(addresses)})
	}
	if fixed {
		v.signs = append(v.signs, telemetry.Evidence{Name: "fixed_limit", Value: 1})
		return v
	}
	froms := max(len(sources.Addresses), sources.DevicesTotal)
	// Where nodes tell of some packets only, nobody knows whether connections are used, nor what comes back of their
	// data.
	partly := s.Reporting != nil && s.Reporting.SomePartly()
	isAnswered := (worst != SYN || partly) && t.mayBeAnswered()
	unsure := worst == TCP && (!st.sends || partly) // no telemetry of the way back, or of a part of it
	switch {
	case st.bits < 128 && addresses < carpetAddresses: // others get other packets
		return verdict{}
	case isAnswered && froms < fewSources, unsure && froms < fewSources:
		return verdict{}
	case isAnswered, unsure:
		v.kind = telemetry.AttackSurge
	case worst != SYN && st.bits == 128 && froms <= 1 && t.flows() <= 1, // a transfer, or a camera
		worst != SYN && st.bits < 128 && froms <= 1 && int(t.Flows[worst]) <= fewFlows*addresses: // all see one film
		v.kind = telemetry.AttackSurge
	}
	return v
}

// round leaves three digits of a number.
func round(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return v
}

// beginOf returns when the rate rose: in the look before the first that is as much as those behind it, at the place
// that its part of their rate says.
func (s *Search) beginOf(st *state) int64 {
	of := func(i int) float64 {
		l := &st.ring[i]
		_, more := s.excess(st, &l.Tally, float64(l.toNs-l.fromNs)/1e9)
		return st.floor.of(more.bps, more.pps)
	}
	last := len(st.ring) - 1
	steady := (of(last) + of(max(last-1, 0))) / 2
	first := last
	for first > 0 && of(first-1) >= 0.05*steady {
		first--
	}
	l := &st.ring[first]
	part := min(of(first)/max(steady, 1e-9), 1)
	if st.ring[last].Squares > 0 { // a few packets say nothing of parts
		return l.fromNs
	}
	return l.toNs - int64(part*float64(l.toNs-l.fromNs))
}

// addLook adds what came in a look to an attack.
func (s *Search) addLook(st *state, a *Attack, l *look) {
	d := float64(l.toNs-l.fromNs) / 1e9
	var offered, filtered Amount
	for c := range numClasses {
		if !a.classes[c] {
			a.Stray += l.Filtered[c].Packets
			continue
		}
		o, f := l.offered(c), l.Filtered[c]
		usualPackets, usualBytes := uint64(st.usual[c].pps*d), uint64(st.usual[c].bps*d/8)
		offered.add(max(o.Packets, usualPackets)-usualPackets, max(o.Bytes, usualBytes)-usualBytes)
		filtered.add(f.Packets, f.Bytes)
	}
	offered.Packets, offered.Bytes = max(offered.Packets, filtered.Packets), max(offered.Bytes, filtered.Bytes)
	a.Offered.add(offered.Packets, offered.Bytes)
	a.Filtered.add(filtered.Packets, filtered.Bytes)
	a.Squares += l.Squares
	a.Lost += l.Lost
	one := look{fromNs: l.fromNs, toNs: l.toNs}
	one.Tally.Passed[0], one.Tally.Filtered[0], one.Squares = offered, filtered, l.Squares
	if a.second = append(a.second, one); len(a.second) > effectLooks {
		a.second = slices.Delete(a.second, 0, 1)
	}
	a.point(l, offered, filtered)
	a.rates()
}

// point adds to the history.
func (a *Attack) point(l *look, offered, filtered Amount) {
	if n := len(a.History); n > 0 {
		if p := &a.History[n-1]; l.toNs-p.AtNs <= a.step {
			p.DurationNs = l.toNs - p.AtNs
			p.Offered.add(offered.Packets, offered.Bytes)
			p.Filtered += filtered.Packets
			return
		}
		if n == maxPoints {
			for i := range n / 2 {
				p, q := a.History[2*i], &a.History[2*i+1]
				p.Offered.add(q.Offered.Packets, q.Offered.Bytes)
				p.Filtered += q.Filtered
				p.DurationNs = q.AtNs + q.DurationNs - p.AtNs
				a.History[i] = p
			}
			a.History, a.step = a.History[:n/2], 2*a.step
		}
	}
	a.History = append(a.History, Point{l.fromNs, l.toNs - l.fromNs, offered, filtered.Packets})
}

// rates computes the rates of now and the peak, of the latest second.
func (a *Attack) rates() {
	var sum, all, filtered Amount
	var squares uint64
	fromNs := a.second[len(a.second)-1].toNs - second
	d := 0.0
	for i := range a.second {
		l := &a.second[i]
		all.add(l.Passed0().Packets, 0)
		filtered.add(l.Filtered[0].Packets, 0)
		if l.toNs <= fromNs {
			continue
		}
		sum.add(l.Passed0().Packets, l.Passed0().Bytes)
		squares += l.Squares
		d += float64(l.toNs-l.fromNs) / 1e9
	}
	d = max(d, 1) // of a second, also where it began within it
	a.Now = rateOf{uint64(float64(sum.Packets) / d), uint64(8 * float64(sum.Bytes) / d), withinOf(squares, sum.Packets)}
	if a.Now.BPS > a.Peak.BPS {
		a.Peak.BPS, a.Peak.Within = a.Now.BPS, a.Now.Within
	}
	a.Peak.PPS = max(a.Peak.PPS, a.Now.PPS)
	if a.Filtered.Packets > 0 && all.Packets > 0 && !a.quiet { // when nothing comes, filters have nothing to do
		a.Effect = float64(filtered.Packets) / float64(all.Packets)
	}
}

// Passed0 is what a look of an attack has of all its classes.
func (l *look) Passed0() Amount { return l.Passed[0] }

// goesOn adds a look to an attack that goes on, and ends it if it is over.
func (s *Search) goesOn(st *state, times float64, fixed bool, nowNs int64) {
	a := st.attack
	l := &st.ring[len(st.ring)-1]
	var filtered uint64
	for c := range numClasses {
		if a.classes[c] {
			filtered += l.Filtered[c].Packets
		}
	}
	rules := a.tied
	a.tied = 0
	if rules > 0 { // of reports that tell no flow: nobody knows how long the packets were
		filtered += rules
	}
	a.NowNs = nowNs
	isThere := times >= 0.5 || fixed
	if isThere || filtered > 0 {
		if a.quiet && nowNs-a.LastNs > second {
			a.Pulses++
		}
		a.quiet = false
		a.LastNs = nowNs
	} else {
		a.quiet = true
	}
	one := *l
	if rules > 0 {
		c := Class(0)
		for !a.classes[c] {
			c++
		}
		one.Filtered[c].add(rules, 0)
	}
	if nowNs-a.LastNs >= s.config.EndAfter.Nanoseconds() {
		a.EndNs, a.State = s.endOf(st), telemetry.AttackEnded
		a.Now = rateOf{}
		s.changed = append(s.changed, a)
		return
	}
	s.addLook(st, a, &one)
	before := a.State
	switch {
	case a.Kind == telemetry.AttackSurge:
	case a.Effect >= mitigatedShare && filtered > 0 && (a.Effect == 1 || !a.Sources.Partly):
		a.State = telemetry.AttackMitigated
	case a.State == telemetry.AttackMitigated && isThere &&
		(a.Effect < stillShare || a.Sources.Partly && a.Effect < 1):
		a.State = telemetry.AttackActive
	}
	if a.State != before {
		s.changed = append(s.changed, a)
	}
}

// endOf returns when the latest packet of an attack came, as exactly as looks are.
func (s *Search) endOf(st *state) int64 { return st.attack.LastNs }

// tell completes the attacks that go on with their sources, once a second.
func (s *Search) tell(shards []Shard, nowNs int64) {
	for _, st := range s.busy {
		a := st.attack
		if a == nil {
			continue
		}
		if a.Kind == telemetry.AttackSurge || a.State == telemetry.AttackSuspected {
			s.reconsider(st, shards, nowNs)
		}
		if st.watch == nil {
			s.watch(st, shards)
		}
		if st.watch != nil {
			a.before = a.Sources
			a.Sources = s.sources(st, shards, a.classes)
		}
		if !slices.Contains(s.changed, a) {
			s.changed = append(s.changed, a)
		}
	}
	for _, st := range s.busy {
		if st.attack != nil && len(s.rules) > 0 {
			st.attack.name()
		}
	}
	s.tie(nowNs)
	for _, st := range s.busy {
		if st.attack != nil {
			st.attack.tellRules()
			st.attack.tellEffects()
		}
	}
}

// tellEffects says which share filters dropped of what came from each source since it was told before.
func (a *Attack) tellEffects() {
	for _, of := range [][2][]Source{
		{a.before.Devices, a.Sources.Devices},
		{a.before.Gateways, a.Sources.Gateways},
		{a.before.Addresses, a.Sources.Addresses},
	} {
		known := map[sourceKey]*Source{}
		for i := range of[0] {
			known[of[0][i].key()] = &of[0][i]
		}
		for i := range of[1] {
			s, before := &of[1][i], known[of[1][i].key()]
			if before == nil {
				before = &Source{Effect: -1}
			}
			s.Effect = before.Effect
			if s.Filtered > 0 && s.Packets > before.Packets {
				s.Effect = float64(s.Filtered-min(before.Filtered, s.Filtered)) / float64(s.Packets-before.Packets)
			}
		}
	}
}

// A sourceKey says which source of its list one is.
type sourceKey struct {
	device uint64
	addr   telemetry.Addr
	node   uint32
}

func (s *Source) key() sourceKey {
	k := sourceKey{device: s.Device, addr: s.Addr}
	if k == (sourceKey{}) {
		k.node = s.Node
	}
	return k
}

// reconsider looks again at what was no attack, or not sure.
func (s *Search) reconsider(st *state, shards []Shard, nowNs int64) {
	var sum Tally
	d := 0.0
	for i := range st.ring {
		sum.merge(&st.ring[i].Tally)
		d += float64(st.ring[i].toNs-st.ring[i].fromNs) / 1e9
	}
	more, all := s.excess(st, &sum, d)
	if st.floor.of(all.bps, all.pps) < 1 {
		return
	}
	a := st.attack
	sources := s.sources(st, shards, a.classes)
	if v := s.verdict(st, &sum, more, all, &sources, a.Fixed, nowNs); v.kind != 0 {
		if v.kind != telemetry.AttackSurge || a.State == telemetry.AttackSuspected {
			a.Kind, a.Signs = v.kind, v.signs
		}
	}
	if a.State == telemetry.AttackSuspected &&
		float64(a.Offered.Packets)*float64(a.Offered.Packets) >= fewCounted*float64(a.Squares+a.Offered.Packets) {
		a.State = telemetry.AttackActive
	}
}

// sources puts together what the shards counted of the sources of a target.
func (s *Search) sources(st *state, shards []Shard, classes Classes) (all Sources) {
	if st.watch == nil {
		return all
	}
	type table = map[[2]uint64]*SourceTally
	devices, addresses, gateways, paths, filters := table{}, table{}, table{}, table{}, table{}
	ports := map[uint16]uint64{}
	var last []uint32
	var bytes, packets uint64
	for _, shard := range shards {
		w := shard.WatchedSources(st.watch.number, classes)
		for _, part := range []struct {
			of []SourceTally
			to table
		}{
			{w.Devices, devices},
			{w.Addresses, addresses},
			{w.Gateways, gateways},
			{w.Paths, paths},
			{w.Filters, filters},
		} {
			for i := range part.of {
				one := &part.of[i]
				key := [2]uint64{one.Key, one.Key2}
				if before := part.to[key]; before != nil {
					before.merge(one)
				} else {
					part.to[key] = one
				}
			}
		}
		last = append(last, w.Last...)
		ports[w.Port] += w.PortVotes
		bytes += w.Bytes
		packets += w.Packets
	}
	if s.Reporting != nil {
		all.Partly = slices.ContainsFunc(last, s.Reporting.Partly)
		all.Unsure = slices.ContainsFunc(last, s.Reporting.Unknown)
		if len(last) == 0 { // as any: what got through came before its sources were counted, or filters drop all of it
			all.Partly = s.Reporting.SomePartly()
		}
	}
	isSYN := classes[SYN] && !classes[TCP]
	all.Devices = list(devices, bytes, func(o *Source, s *SourceTally) bool {
		o.Device, o.OneExporter = s.Key, !s.Several
		return !isSYN || s.Packets > s.Other // who opens connections and uses them is a user
	})
	all.Devices = withoutFaint(all.Devices)
	all.DevicesTotal = len(all.Devices)
	all.Addresses = list(addresses, bytes, func(o *Source, s *SourceTally) bool {
		o.Addr, o.OneExporter = telemetry.Addr{Hi: s.Key, Lo: s.Key2}, !s.Several
		return true
	})
	all.Gateways = list(gateways, bytes, func(o *Source, s *SourceTally) bool {
		o.Node, o.HasNode = uint32(s.Key), true
		return true
	})
	all.Paths = list(paths, bytes, func(o *Source, s *SourceTally) bool {
		o.Path, o.HasPath = s.Key, true
		return true
	})
	for _, of := range [][]Source{all.Devices, all.Addresses, all.Gateways, all.Paths} {
		for i := range of {
			all.TooMany = max(all.TooMany, of[i].TooMany)
		}
	}
	for key, f := range filters {
		all.Filters = append(all.Filters, Filter{Node: uint32(key[0]), Packets: f.Packets})
	}
	slices.SortFunc(all.Filters, func(a, b Filter) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(a.Node, b.Node))
	})
	most := packets / 2 // votes for one less those for others: with less it may be a port of few packets
	for port, votes := range ports {
		if votes > most {
			all.Port, all.HasPort, most = port, port != 0, votes
		}
	}
	return all
}

// list returns sources with what fill says of them, if it wants them, the most bytes first.
func list(of map[[2]uint64]*SourceTally, bytes uint64, fill func(*Source, *SourceTally) bool) []Source {
	var all []Source
	for _, s := range of {
		one := Source{
			Node: s.Node, HasNode: s.HasNode, Path: s.Path, HasPath: s.HasWay, Packets: s.Packets, Bytes: s.Bytes,
			Filtered: s.Filtered, Effect: -1, TooMany: s.TooMany, FirstNs: s.FirstNs, LastNs: s.LastNs,
		}
		if bytes > 0 {
			one.Share = float64(s.Bytes) / float64(bytes)
		}
		if fill(&one, s) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Node, b.Node),
			a.Addr.IP().Compare(b.Addr.IP()), cmp.Compare(a.Path, b.Path))
	})
	return all
}

// withoutFaint leaves out the devices at the end of the list that send far less than others, as users do.
func withoutFaint(devices []Source) []Source {
	var sum uint64
	for i := range devices {
		sum += devices[i].Bytes
	}
	for n := len(devices); n > 1; n-- {
		last := &devices[n-1]
		if mean := float64(sum) / float64(n); float64(last.Bytes) >= faint*mean {
			return devices[:n]
		}
		sum -= last.Bytes
	}
	return devices
}

// takeRule adds what a rule of Transparent Security dropped.
func (s *Search) takeRule(key RuleKey, r *Rule) {
	known := s.rules[key]
	if known == nil {
		if len(s.rules) >= maxRules {
			s.totals.Overflow++
			return
		}
		known = &Rule{}
		s.rules[key] = known
	}
	known.Packets += r.Packets
	known.LastNs = r.LastNs
}

// tie adds what rules dropped to the attacks whose devices they are about, and forgets rules of which nothing is told
// any more.
func (s *Search) tie(nowNs int64) {
	for key, r := range s.rules {
		if a, device := s.attackOf(key); a != nil {
			of := a.rules[key]
			if of == nil {
				of = &ruleOf{device: device}
				a.rules[key] = of
			}
			of.packets += r.Packets
			a.tied += r.Packets
			delete(s.rules, key)
		} else if nowNs-r.LastNs > forgetNs {
			delete(s.rules, key)
		}
	}
}

// attackOf returns the attack that a rule is about, and the device.
func (s *Search) attackOf(key RuleKey) (*Attack, uint64) {
	for _, st := range s.busy {
		a := st.attack
		if a == nil || st.bits < 128 { // rules are about an address
			continue
		}
		if device, ok := a.keys[key.Key]; ok {
			return a, device
		}
	}
	return nil, 0
}

// name computes the keys that rules about the devices of an attack have.
func (a *Attack) name() {
	if a.keys == nil || a.keysPort != a.Sources.Port {
		a.keys, a.keyed, a.keysPort = map[uint64]uint64{}, map[uint64]bool{}, a.Sources.Port
	}
	for i := range a.Sources.Devices {
		if device := a.Sources.Devices[i].Device; !a.keyed[device] && len(a.keyed) < maxDevices {
			a.keyed[device] = true
			a.keys[dropKeyOf(device, a.keysPort, a.Target.Addr)] = device
		}
	}
}

// dropKeyOf returns the key of the rule that drops what a device sends to a port of an address.
func dropKeyOf(device uint64, port uint16, to telemetry.Addr) uint64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], device)
	ip := to.IP()
	if ip.Is4() {
		return report.TSDropKey([6]byte(b[:6]), port, ip, zeroAddr)
	}
	return report.TSDropKey([6]byte(b[:6]), port, zeroAddr, ip)
}

// tellRules adds the rules to what drops an attack.
func (a *Attack) tellRules() {
	for key, r := range a.rules {
		one := Filter{Node: key.Node, Key: key.Key, Device: r.device, Packets: r.packets}
		a.Sources.Filters = append(a.Sources.Filters, one)
		for i := range a.Sources.Devices {
			if d := &a.Sources.Devices[i]; d.Device == r.device {
				d.Filtered += r.packets
				d.Packets += r.packets
			}
		}
	}
	slices.SortStableFunc(a.Sources.Filters, func(a, b Filter) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Key, b.Key))
	})
}
