// Package attack finds traffic to a target that is far more than usual there, who sends it, what filters drop of it,
// and when it is over.
//
// Shards count packets in a Counts, by destination: a packet costs two sums. A Search looks at the counts of all shards
// five times a second, and compares them with what is usual and with limits of its Config. What exceeds them is
// watched: shards then count its sources as well, in a Watch. Which kind it is, and whether it is an attack at all, is
// decided by signs that the records tell.
//
// To add a class of packets: 1. its constant, 2. its rule in ClassOf, 3. its kind in kindOf.
package attack

import (
	"math"
	"math/bits"

	"github.com/waybill-int/waybill/telemetry"
)

// A Class is what packets are to an attack.
type Class uint8

// Classes.
const (
	UDP       Class = iota
	Amplified       // UDP from the port of a service that answers with more than it is asked
	SYN             // TCP that asks for a connection
	TCP             // other TCP
	ICMP
	Fragment // that has no ports
	Other
	numClasses
)

// Classes are some of them.
type Classes [numClasses]bool

// classNames are the names in evidence.
var classNames = [numClasses]string{"udp", "amplified_udp", "tcp_syn", "tcp", "icmp", "fragments", "other"}

// ClassOf returns the class of a packet of a flow. opening says that it is a SYN without ACK.
func ClassOf(key *telemetry.FlowKey, opening bool) Class {
	switch key.Protocol {
	case 6:
		switch {
		case key.SrcPort|key.DstPort == 0:
			return Fragment
		case opening:
			return SYN
		}
		return TCP
	case 17:
		switch {
		case key.SrcPort|key.DstPort == 0:
			return Fragment
		case amplifies(key.SrcPort):
			return Amplified
		}
		return UDP
	case 1, 58:
		return ICMP
	}
	return Other
}

// amplifies reports whether services at a UDP port are known to answer with more than they are asked: chargen, DNS,
// TFTP, portmap, NTP, NetBIOS, SNMP, LDAP, RIP, SSDP, ARMS, WS-Discovery, mDNS, CoAP, memcached and others.
func amplifies(port uint16) bool {
	switch port {
	case 17, 19, 53, 69, 111, 123, 137, 161, 389, 520, 1900, 3283, 3702, 5353, 5683, 11211, 27015, 27960:
		return true
	}
	return false
}

// An Amount is of packets, and their bytes as IP packets.
type Amount struct{ Packets, Bytes uint64 }

func (a *Amount) add(packets, bytes uint64) {
	a.Packets += packets
	a.Bytes += bytes
}

// A Tally is what was counted of an address. Where nodes report 1 packet in N, a report counts for N packets.
type Tally struct {
	Out      Amount             // packets from it
	Passed   [numClasses]Amount // packets to it that no filter dropped
	Filtered [numClasses]Amount // packets to it that a filter dropped
	Lost     uint64             // packets of Passed that were dropped otherwise
	Flows    [numClasses]uint32 // flows to it that were new, and packets of flows for which the table had no room
	// Squares is the variance of the number of packets that sampling leaves open.
	Squares uint64
}

func (t *Tally) merge(o *Tally) {
	for c := range t.Passed {
		t.Passed[c].add(o.Passed[c].Packets, o.Passed[c].Bytes)
		t.Filtered[c].add(o.Filtered[c].Packets, o.Filtered[c].Bytes)
		t.Flows[c] += o.Flows[c]
	}
	t.Out.add(o.Out.Packets, o.Out.Bytes)
	t.Lost += o.Lost
	t.Squares += o.Squares
}

// answerable is how many packets somebody could answer, or would not: those that were lost for want of room nobody got.
func (t *Tally) answerable() uint64 {
	sum := t.sum().Packets
	return sum - min(t.Lost, sum)
}

// mayBeAnswered reports whether as many packets come back as where somebody wants them, or so few of them were sampled
// that two standard deviations more would be.
func (t *Tally) mayBeAnswered() bool {
	sent, back := float64(t.answerable()), float64(t.Out.Packets)
	each := 1 + float64(t.Squares)/float64(max(t.sum().Packets, 1)) // packets that one stands for
	unsure := 0.0
	if t.Squares > 0 && back > 0 {
		unsure = 2 * math.Sqrt(each/sent+each/back)
	}
	return sent > 0 && back*(1+unsure) >= answeredShare*sent
}

// flows are those of all classes.
func (t *Tally) flows() (n uint64) {
	for _, of := range t.Flows {
		n += uint64(of)
	}
	return n
}

// Offered is what came of a class, whether a filter dropped it or not.
func (t *Tally) offered(c Class) Amount {
	a := t.Passed[c]
	a.add(t.Filtered[c].Packets, t.Filtered[c].Bytes)
	return a
}

// A Target is what may be attacked: an address, as a tenant has it.
type Target struct {
	Addr   telemetry.Addr
	Tenant uint32 // tunnel id; 0 outside of tunnels
}

// TargetOf returns the target to which packets of a flow go.
func TargetOf(key *telemetry.FlowKey) Target { return Target{key.Dst, key.TunnelID} }

func (t *Target) hash(seed uint64) uint64 {
	hi, lo := bits.Mul64(t.Addr.Hi^seed^0xa0761d6478bd642f, t.Addr.Lo^uint64(t.Tenant)<<32^0xe7037ed1a0b428db)
	return hi ^ lo
}

// A row counts for one address since the last look. What most packets count stands together, at its beginning: to reach
// another cache line takes longer than to count.
type row struct {
	target Target
	watch  uint8  // place in Counts.watches, from 1
	round  uint32 // in which it counted last
	Tally
}

// A group is what has to be known of the rows in which a target may be to find it, or to see that all of them count for
// others: it is not counted then. It is within a cache line or two, so that packets to addresses without a row cost no
// more than others.
type group struct {
	tags   tags
	rounds [ways]uint32 // as in the row
}

// Ends are the rows of the destination and of the source of a flow, which it remembers: places from 1, 0 if there is
// none yet. The zero value is that of a new flow.
type Ends struct {
	dst, src uint32
	misses   uint8 // packets until the row of the source is looked for again
	from     place // of the device, or the address if it tells none, in the watch of the destination
}

// missed is for how many packets of a flow the row of its source is not looked for when there was none.
const missed = 31

// When no source of manyFlows new flows has a row, the source is looked for in one of strangers of the next ones, which
// stands for all of them: where addresses are forged, hardly one is found.
const (
	manyFlows = 64
	strangers = 8
)

// Counts counts packets by destination. Its owner locks it.
type Counts struct {
	seed    uint64
	rows    []row
	groups  []group // of ways rows each
	round   uint32
	touched []uint32 // rows that counted since the last look
	latest  uint32   // row of the destination of a new flow, from 1; 0: none
	watches []*Watch
	rules   map[RuleKey]*Rule

	newFlows uint32 // first packets
	strange  bool   // no source of so many of them had a row
	known    bool   // one of the latest of them had

	// Overflow counts packets to or from addresses for which there was no row, and reports of rules for which there was
	// no room.
	Overflow uint64
}

// A RuleKey is a rule of Transparent Security at a node.
type RuleKey struct {
	Key  uint64 // report.TSDropKey
	Node uint32
}

// A Rule is what a rule of Transparent Security dropped since the last look.
type Rule struct {
	Packets uint64
	LastNs  int64
}

// maxRules bounds the rules of a Counts.
const maxRules = 4096

// RowBytes is what a row of Counts takes of memory.
const RowBytes = 325

// NewCounts returns counts of at most so many addresses, rounded up to a power of two.
func NewCounts(targets int, seed uint64) *Counts {
	n := 1 << bits.Len(uint(max(targets, 8*ways)-1))
	return &Counts{
		seed: seed, rows: make([]row, n), groups: make([]group, n/ways), touched: make([]uint32, 0, n),
		round: 1, rules: map[RuleKey]*Rule{},
	}
}

// at returns the row of a target; nil if there is no room. place is where it was when the flow was seen before.
func (c *Counts) at(place *uint32, t Target) *row {
	if *place == 0 {
		*place = c.latest // a flood has many new flows, to the same address
	}
	if *place == 0 || c.rows[*place-1].target != t {
		var hash uint64
		if *place, hash = c.find(t); *place == 0 {
			if *place = c.insert(t, hash); *place == 0 {
				c.Overflow++
				return nil
			}
		}
		c.latest = *place
	}
	return c.touch(*place)
}

// rowOf returns the row of a target if there is one: an address that only sends is no target, and may be forged.
func (c *Counts) rowOf(place *uint32, t Target) *row {
	if *place == 0 || c.rows[*place-1].target != t {
		if *place, _ = c.find(t); *place == 0 {
			return nil
		}
	}
	return c.touch(*place)
}

func (c *Counts) touch(place uint32) *row {
	r := &c.rows[place-1]
	if r.round != c.round {
		r.round = c.round
		c.groups[(place-1)/ways].rounds[(place-1)%ways] = c.round
		c.touched = append(c.touched, place-1)
	}
	return r
}

// find returns the place of the row of a target, from 1; 0 if there is none.
func (c *Counts) find(t Target) (place uint32, hash uint64) {
	hash = t.hash(c.seed)
	in := uint32(hash) & uint32(len(c.groups)-1)
	for like := c.groups[in].tags.like(tagOf(hash)); like != 0; like &= like - 1 {
		if at := in*ways + uint32(firstOf(like)); c.rows[at].target == t {
			return at + 1, hash
		}
	}
	return 0, hash
}

// insert gives a target a row, which it may take from one to which nothing was sent since the last look; 0 if there is
// none.
func (c *Counts) insert(t Target, hash uint64) uint32 {
	in := uint32(hash) & uint32(len(c.groups)-1)
	g, idle := &c.groups[in], -1
	if free := g.tags.like(0); free != 0 {
		idle = firstOf(free)
	} else {
		for i, round := range g.rounds {
			if round != c.round && c.rows[in*ways+uint32(i)].watch == 0 && (idle < 0 || round < g.rounds[idle]) {
				idle = i
			}
		}
	}
	if idle < 0 {
		return 0
	}
	g.tags.set(idle, tagOf(hash))
	g.rounds[idle] = 0
	place := in*ways + uint32(idle)
	c.rows[place] = row{target: t, watch: c.watchOf(t)}
	return place + 1
}

// sourceStandsFor returns for how many packets the source of one is looked for; 0: it is not.
func (c *Counts) sourceStandsFor(isNew bool) uint64 {
	if !isNew {
		return 1
	}
	c.newFlows++
	if c.newFlows%manyFlows == 0 {
		c.strange, c.known = !c.known, false
	}
	switch {
	case !c.strange:
		return 1
	case c.newFlows*0x9e3779b1 < 1<<32/strangers: // as if by chance
		return strangers
	}
	return 0
}

// Passed counts a packet of a flow that no filter dropped. Weight is for how many packets it stands. It returns the
// watch of who watches its destination, or nil.
func (c *Counts) Passed(e *Ends, key *telemetry.FlowKey, class Class, bytes, weight uint32) *Watch {
	w := uint64(max(weight, 1))
	isNew := e.dst == 0
	if e.misses > 0 {
		e.misses--
	} else if n := w * c.sourceStandsFor(isNew); n > 0 {
		if o := c.rowOf(&e.src, Target{key.Src, key.TunnelID}); o != nil {
			o.Out.add(n, n*uint64(bytes))
			c.known = true
		} else {
			e.misses = missed
		}
	}
	r := c.at(&e.dst, Target{key.Dst, key.TunnelID})
	if r == nil {
		return nil
	}
	r.Tally.Passed[class].add(w, w*uint64(bytes))
	if w > 1 {
		r.Squares += w * (w - 1)
	}
	if isNew {
		r.Flows[class]++
	}
	if r.watch == 0 {
		return nil
	}
	return c.watches[r.watch-1]
}

// TakeBack takes back what Passed counted of a packet, as far as nobody has looked yet: it is counted otherwise.
func (c *Counts) TakeBack(e *Ends, key *telemetry.FlowKey, class Class, bytes, weight uint32) {
	r := c.rowOf(&e.dst, Target{key.Dst, key.TunnelID})
	if r == nil {
		return
	}
	w := uint64(max(weight, 1))
	a := &r.Tally.Passed[class]
	a.Packets -= min(a.Packets, w)
	a.Bytes -= min(a.Bytes, w*uint64(bytes))
	r.Squares -= min(r.Squares, w*(w-1))
}

// Restate says for how many packets one stands that Passed counted as another number of them, which somebody may have
// looked at meanwhile. It returns the watch of who watches its destination, or nil.
func (c *Counts) Restate(e *Ends, key *telemetry.FlowKey, class Class, bytes, stood, stands uint32) *Watch {
	switch stood, stands = max(stood, 1), max(stands, 1); {
	case stands > stood:
		return c.Passed(e, key, class, bytes, stands-stood)
	case stands < stood:
		c.TakeBack(e, key, class, bytes, stood-stands)
	case len(c.watches) == 0:
		return nil
	}
	r := c.rowOf(&e.dst, Target{key.Dst, key.TunnelID})
	if r == nil || r.watch == 0 {
		return nil
	}
	return c.watches[r.watch-1]
}

// Dropped counts a packet of a flow that a node reported as dropped, by a filter or otherwise. Weight is for how many
// packets it stands.
func (c *Counts) Dropped(e *Ends, key *telemetry.FlowKey, class Class, bytes, weight uint32, filter bool) *Watch {
	w := uint64(max(weight, 1))
	isNew := e.dst == 0
	r := c.at(&e.dst, Target{key.Dst, key.TunnelID})
	if r == nil {
		return nil
	}
	if isNew {
		r.Flows[class]++
	}
	r.Squares += w * (w - 1)
	if filter {
		r.Filtered[class].add(w, w*uint64(bytes))
	} else {
		r.Tally.Passed[class].add(w, w*uint64(bytes))
		r.Lost += w
	}
	if r.watch == 0 {
		return nil
	}
	return c.watches[r.watch-1]
}

// DroppedByRule counts packets that a rule of Transparent Security dropped: its report tells a key, and no flow.
func (c *Counts) DroppedByRule(key RuleKey, packets uint64, nowNs int64) {
	r := c.rules[key]
	if r == nil {
		if len(c.rules) >= maxRules {
			c.Overflow++
			return
		}
		r = &Rule{}
		c.rules[key] = r
	}
	r.Packets += packets
	r.LastNs = nowNs
}

// Look gives what was counted since the last look, and begins anew. What visit gets is valid until it returns.
func (c *Counts) Look(visit func(Target, *Tally), rule func(RuleKey, *Rule)) {
	for _, i := range c.touched {
		r := &c.rows[i]
		visit(r.target, &r.Tally)
		r.Tally = Tally{}
	}
	c.touched = c.touched[:0]
	c.round++
	for key, r := range c.rules {
		rule(key, r)
		delete(c.rules, key)
	}
}

// Tallies are what a Counts counted since the last look.
type Tallies struct {
	Targets []TargetTally
	Rules   []RuleTally
	// Overflow is that of the Counts, since it began.
	Overflow uint64
}

// A TargetTally is what was counted of a target.
type TargetTally struct {
	Target
	Tally
}

// A RuleTally is what a rule of Transparent Security dropped.
type RuleTally struct {
	RuleKey
	Rule
}

// Take is Look for who keeps what was counted, in the memory of empty.
func (c *Counts) Take(empty Tallies) Tallies {
	t := Tallies{Targets: empty.Targets[:0], Rules: empty.Rules[:0], Overflow: c.Overflow}
	c.Look(
		func(target Target, tally *Tally) { t.Targets = append(t.Targets, TargetTally{target, *tally}) },
		func(key RuleKey, r *Rule) { t.Rules = append(t.Rules, RuleTally{key, *r}) },
	)
	return t
}

// watchOf returns the place of the watch of a target, 0 if nobody watches it.
func (c *Counts) watchOf(t Target) uint8 {
	for i, w := range c.watches {
		if w != nil && w.holds(t) {
			return uint8(i + 1)
		}
	}
	return 0
}

// Watched returns what was counted in the watch with a number. From now on the attack consists of these classes.
func (c *Counts) Watched(number uint32, classes Classes) Watched {
	for _, w := range c.watches {
		if w != nil && w.Number == number {
			w.Classes = classes
			return w.watched()
		}
	}
	return Watched{}
}

// Watch lets the sources of packets to a target be counted. It does nothing if there are too many watches.
func (c *Counts) Watch(of WatchOf) {
	w := newWatch(of)
	place := -1
	for i := range c.watches {
		if c.watches[i] == nil {
			place = i
			break
		}
	}
	if place < 0 {
		if len(c.watches) >= MaxWatches {
			return
		}
		c.watches = append(c.watches, nil)
		place = len(c.watches) - 1
	}
	c.watches[place] = w
	for i := range c.rows {
		if r := &c.rows[i]; c.groups[i/ways].tags.has(i%ways) && r.watch == 0 && w.holds(r.target) {
			r.watch = uint8(place + 1)
		}
	}
}

// Unwatch ends the watch with a number.
func (c *Counts) Unwatch(number uint32) {
	for i, w := range c.watches {
		if w == nil || w.Number != number {
			continue
		}
		c.watches[i] = nil
		for j := range c.rows {
			if c.rows[j].watch == uint8(i+1) {
				c.rows[j].watch = c.watchOf(c.rows[j].target)
			}
		}
	}
}
