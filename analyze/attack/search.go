package attack

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// LookNs is how often a Search should look, in nanoseconds: what is told of an attack is told as often.
const LookNs = int64(200 * time.Millisecond)

const (
	second = int64(time.Second)
	// holds is how many looks in a row must exceed the limits until it is decided what it is.
	holds = 3
	// ringLen is for how many looks the counts of a target that is near its limits are kept: 2 s.
	ringLen = 10
	// warm is from which share of the floor on they are.
	warm = 0.05
	// answeredShare is how many packets come back, of those that are sent, where somebody wants them: TCP acknowledges
	// at least every second packet with data.
	answeredShare = 0.3
	// fewSources are so few that they are no crowd.
	fewSources = 8
	// fewFlows are those of one address that gets what others get from the same source.
	fewFlows = 4
	// fewCounted are too few packets to decide anything by.
	fewCounted = 20
	// mitigatedShare is which share filters drop of an attack that is mitigated, and stillShare from which one on it
	// still is.
	mitigatedShare, stillShare = 0.5, 0.3
	// effectLooks is over how many looks effectiveness is told: 2 s.
	effectLooks = 10
	// carpetAddresses are so many that they may be attacked together.
	carpetAddresses = 8
	// faint is which share of the mean of all devices a device has that happens to send the same.
	faint = 0.05
	// maxPoints bounds the history of an attack: then two points become one.
	maxPoints = 240
)

var zeroAddr netip.Addr

// Reporting is what is known of how nodes choose the packets that they tell of.
type Reporting interface {
	// Partly reports whether a node tells of some of its packets only, as far as one knows, and not of 1 in so many.
	Partly(node uint32) bool
	// SomePartly reports whether some node does.
	SomePartly() bool
	// Unknown reports whether one does not know of which packets a node tells.
	Unknown(node uint32) bool
}

// A Shard counts packets by destination, and those of targets that are watched by source. All that a Search asks of it
// are values.
type Shard interface {
	// TakeTallies returns what was counted since the last time, in the memory of empty.
	TakeTallies(empty Tallies) Tallies
	// WatchTarget lets the sources of packets to a target be counted.
	WatchTarget(w WatchOf)
	// UnwatchTarget ends the watch with a number.
	UnwatchTarget(number uint32)
	// WatchedSources returns what was counted in the watch with a number. From now on the attack consists of these
	// classes.
	WatchedSources(number uint32, classes Classes) Watched
}

// A pps is a rate in packets and bits a second.
type rate struct{ pps, bps float64 }

// A look is what was counted of a target between two looks.
type look struct {
	fromNs, toNs int64
	Tally
}

// A state is what is known of a target, or of a prefix.
type state struct {
	Target
	bits   int // of the prefix, as of an IPv6 address
	floor  Limit
	fixed  Limit
	may    bool // be attacked: it is not in the safe-list
	usual  [numClasses]rate
	latest Tally   // of the look at lastNs
	inSec  Tally   // since the latest second began
	before Classes // that came in the second before that
	ring   []look  // the latest, if it is near its limits
	hits   int     // looks that exceed, since it was calm
	first  *onset  // of these; nil: there are none, or more than are kept
	calm   int     // looks in a row that do not
	sends  bool    // packets from it were seen
	watch  *watching
	attack *Attack
	lastNs int64
	level  float64 // bytes of about the latest second, at heardNs
	// heardNs is when packets to it came last.
	heardNs int64
}

// An onset is the first of the looks that exceed the limits, until it is decided what they are. Pulses may be too short
// for that one by one.
type onset struct {
	beginNs int64  // when the rate rose
	gone    []look // those since then that are not in the ring any more, at most maxGone
	hitNs   int64  // end of the latest look that exceeded
	pauseNs int64  // from one before that to it, if others are between them
}

// maxGone is for how many looks it is remembered when the first began.
const maxGone = 6 * ringLen

// A watching is a target whose sources are counted.
type watching struct {
	number  uint32 // at the shards
	spareNs int64  // flows that are older are no part of it; 0: all are
}

// An Attack is what a Search knows of one. Who gets it reads it only.
type Attack struct {
	Target   Target
	Bits     int
	Kind     telemetry.AttackKind
	State    telemetry.AttackState
	BeginNs  int64
	LastNs   int64 // when something of it came or was dropped
	NowNs    int64
	EndNs    int64 // 0: it goes on
	Offered  Amount
	Filtered Amount
	Squares  uint64 // see Tally
	Lost     uint64
	Stray    uint64 // packets to the target that filters dropped and that are no part of it
	Now      rateOf
	Peak     rateOf
	Effect   float64 // share that filters drop now; below 0: none did so far
	Signs    []telemetry.Evidence
	Sources  Sources
	History  []Point
	Pulses   int
	Fixed    bool // a fixed limit says so

	classes Classes
	before  Sources // a second ago
	step    int64   // of History
	second  []look
	quiet   bool
	tied    uint64 // packets that rules dropped and that are in no look yet
	rules   map[RuleKey]*ruleOf

	// Devices by the keys of rules about them and a port.
	keys     map[uint64]uint64
	keyed    map[uint64]bool
	keysPort uint16
}

type ruleOf struct {
	packets uint64
	device  uint64
}

// A rateOf is a rate with the share by which it may be off in 95 of 100 cases.
type rateOf struct {
	PPS, BPS uint64
	Within   float64
}

// A Point is what came of an attack in a while.
type Point struct {
	AtNs, DurationNs int64
	Offered          Amount
	Filtered         uint64
}

// Sources are where an attack comes from.
type Sources struct {
	Devices, Addresses, Gateways, Paths []Source // the most bytes first
	DevicesTotal                        int
	Filters                             []Filter
	Port                                uint16
	HasPort                             bool
	TooMany                             uint64 // packets that one of them may have too many
	Partly                              bool   // where it leaves the network nodes tell of some packets only
	Unsure                              bool   // or that is not known
}

// A Source is a part of an attack by where it comes from.
type Source struct {
	Device      uint64
	Addr        telemetry.Addr
	Node        uint32
	Path        uint64
	HasNode     bool
	HasPath     bool
	Packets     uint64
	Bytes       uint64
	Filtered    uint64
	TooMany     uint64
	Share       float64
	Effect      float64 // share that filters dropped of what came in the latest second with any; below 0: none so far
	FirstNs     int64
	LastNs      int64
	OneExporter bool
}

// A Filter is a node that drops packets of an attack, or a rule of Transparent Security at it.
type Filter struct {
	Node    uint32
	Key     uint64 // of the rule; 0: none is told
	Device  uint64 // that the rule is about
	Packets uint64
}

// Totals are totals of a Search.
type Totals struct {
	Targets   int    // of which is known what is usual
	Watched   int    // whose sources are counted
	Overflow  uint64 // packets and looks at addresses for which there was no room
	Unwatched uint64 // attacks whose sources were not counted from the beginning, as too many are watched
	BPS       uint64 // bits a second that came to all targets, and what filters dropped of it
	Rules     int    // rules of Transparent Security of which nobody knows what they are about
}

// A Search finds attacks in the counts of some shards. One goroutine calls it.
type Search struct {
	// Reporting says of which packets nodes tell; nil: of all.
	Reporting Reporting

	config   Config
	targets  map[Target]*state
	prefixes map[Target]*state
	watched  int
	watches  uint32  // so many there were so far
	tallies  Tallies // memory that goes round
	begunNs  int64
	lastNs   int64
	secondNs int64
	changed  []*Attack
	rules    map[RuleKey]*Rule // whose target is not known
	totals   Totals
	unseen   uint64              // overflow of the shards
	bytes    uint64              // that came to all targets since secondNs
	expected map[expectedAt]bool // what was attacked before a restart
	learned  bool                // what is usual was known before a restart
	touched  []*state            // at this look
	busy     []*state            // those with a ring
}

// NewSearch returns a Search that knows nothing yet.
func NewSearch(c Config) *Search {
	return &Search{
		config: c, targets: map[Target]*state{}, prefixes: map[Target]*state{}, rules: map[RuleKey]*Rule{},
		expected: map[expectedAt]bool{},
	}
}

// Configure changes what an attack is, from the next Look on. Attacks that go on and what is usual stay.
func (s *Search) Configure(c Config) {
	c.MaxTargets = s.config.MaxTargets
	s.config = c
	for _, st := range s.targets {
		st.floor, st.fixed, st.may = c.limits(st.Addr.IP())
	}
	for _, st := range s.prefixes {
		st.floor, _, _ = c.limits(st.Addr.IP())
	}
}

type expectedAt struct {
	Target
	bits int
}

// Expect says that a target was attacked when the process before this one ended: while everything else is learned, what
// comes to it is not usual. bits are those of the prefix, as of an IPv6 address. Call it before the first Look.
func (s *Search) Expect(t Target, bits int) { s.expected[expectedAt{t, bits}] = true }

// isLearning reports whether it is not known yet what is usual at a target.
func (s *Search) isLearning(st *state, nowNs int64) bool {
	return !s.learned && nowNs-s.begunNs <= s.config.Learn.Nanoseconds() && !s.expected[expectedAt{st.Target, st.bits}]
}

// Within returns by which share the packets of an attack may be off in 95 of 100 cases.
func (a *Attack) Within() float64 { return withinOf(a.Squares, a.Offered.Packets) }

// Look takes what the shards have counted since the last look, and returns the attacks that began, go on or have ended
// since, until the next call. nowNs is the time by the clock of the shards.
func (s *Search) Look(shards []Shard, nowNs int64) []*Attack {
	if s.begunNs == 0 || nowNs < s.lastNs { // it begins, or the clock was set back
		s.begunNs, s.lastNs, s.secondNs = nowNs, nowNs, nowNs
		for _, shard := range shards {
			s.tallies = shard.TakeTallies(s.tallies)
		}
		return nil
	}
	if nowNs-s.lastNs < LookNs {
		return nil
	}
	isSecond := nowNs-s.secondNs >= second
	s.unseen, s.touched, s.changed = 0, s.touched[:0], s.changed[:0]
	for _, shard := range shards {
		s.tallies = shard.TakeTallies(s.tallies)
		s.unseen += s.tallies.Overflow
		for i := range s.tallies.Targets {
			s.take(s.tallies.Targets[i].Target, &s.tallies.Targets[i].Tally, nowNs)
		}
		for i := range s.tallies.Rules {
			s.takeRule(s.tallies.Rules[i].RuleKey, &s.tallies.Rules[i].Rule)
		}
	}
	s.takePrefixes(nowNs)
	for _, st := range s.busy {
		if st.lastNs != nowNs {
			st.lastNs, st.latest = nowNs, Tally{}
			s.touched = append(s.touched, st)
		}
	}
	s.busy = s.busy[:0]
	slices.SortStableFunc(s.touched, func(a, b *state) int { return cmp.Compare(a.bits, b.bits) }) // prefixes first
	for _, st := range s.touched {
		st.inSec.merge(&st.latest)
		s.judge(st, shards, nowNs)
		if st.ring != nil {
			s.busy = append(s.busy, st)
		}
	}
	if isSecond {
		s.totals.BPS = uint64(8e9 * float64(s.bytes) / float64(nowNs-s.secondNs))
		s.bytes = 0
		s.tell(shards, nowNs)
		s.learn(nowNs)
		s.secondNs = nowNs
	}
	s.lastNs = nowNs
	slices.SortFunc(s.changed, func(a, b *Attack) int {
		return cmp.Or(cmp.Compare(a.BeginNs, b.BeginNs), a.Target.Addr.IP().Compare(b.Target.Addr.IP()))
	})
	return s.changed
}

// Totals returns totals.
func (s *Search) Totals() Totals {
	t := s.totals
	t.Targets, t.Watched, t.Rules, t.Overflow = len(s.targets), s.watched, len(s.rules), t.Overflow+s.unseen
	return t
}

// take adds what a shard counted of a target.
func (s *Search) take(t Target, tally *Tally, nowNs int64) {
	s.bytes += tally.sum().Bytes
	st := s.targets[t]
	if st == nil {
		if len(s.targets) >= s.config.MaxTargets {
			s.totals.Overflow++
			return
		}
		st = &state{Target: t, bits: 128}
		st.floor, st.fixed, st.may = s.config.limits(t.Addr.IP())
		s.targets[t] = st
	}
	s.add(st, tally, nowNs)
}

// add adds what was counted to the look at nowNs.
func (s *Search) add(st *state, tally *Tally, nowNs int64) {
	if st.lastNs != nowNs {
		st.lastNs, st.latest = nowNs, Tally{}
		s.touched = append(s.touched, st)
	}
	st.latest.merge(tally)
	st.sends = st.sends || tally.Out.Packets > 0
}

// takePrefixes sums up the addresses of prefixes, but for those that are attacked by themselves.
func (s *Search) takePrefixes(nowNs int64) {
	for _, st := range s.touched {
		if st.attack != nil || !st.may {
			continue
		}
		n := 48
		if st.Addr.IP().Is4() {
			n = 96 + 24
		}
		key := Target{masked(st.Addr, n), st.Tenant}
		p := s.prefixes[key]
		if p == nil {
			if len(s.prefixes) >= s.config.MaxTargets/4 {
				s.totals.Overflow++
				continue
			}
			p = &state{Target: key, bits: n, floor: st.floor, may: true}
			s.prefixes[key] = p
		}
		s.add(p, &st.latest, nowNs)
		if sum := st.latest.sum(); sum.Packets > 0 {
			st.level = st.levelAt(nowNs) + float64(sum.Bytes)
			st.heardNs = nowNs
		}
	}
}

// levelAt is about how many bytes came in the second up to nowNs.
func (st *state) levelAt(nowNs int64) float64 {
	return st.level * math.Exp2(-float64(nowNs-st.heardNs)/float64(second))
}

// sum is what came of all classes.
func (t *Tally) sum() (sum Amount) {
	for c := range numClasses {
		o := t.offered(c)
		sum.add(o.Packets, o.Bytes)
	}
	return sum
}

// learn makes what came in the latest second a part of what is usual, where nothing unusual goes on, and forgets
// targets to which nothing comes any more.
func (s *Search) learn(nowNs int64) {
	d := float64(nowNs-s.secondNs) / 1e9
	for _, of := range []map[Target]*state{s.targets, s.prefixes} {
		for t, st := range of {
			if st.attack == nil && st.hits == 0 {
				isLearning := s.isLearning(st, nowNs)
				for c := range st.usual {
					o := st.inSec.offered(Class(c))
					now := rate{float64(o.Packets) / d, 8 * float64(o.Bytes) / d}
					st.usual[c].learn(now, isLearning, d)
				}
			}
			for c := range st.before {
				st.before[c] = st.inSec.offered(Class(c)).Packets > 0
			}
			st.inSec = Tally{}
			if st.ring == nil && nowNs-st.lastNs > forgetNs && len(of) > s.config.MaxTargets/2 && of[t] == st {
				delete(of, t)
			}
		}
	}
}

// forgetNs is after how long without packets a target may be forgotten.
const forgetNs = 60 * second

// learn goes toward a rate: at once while everything is new, else within a minute if it is more, within an hour if it
// is less.
func (r *rate) learn(now rate, isLearning bool, d float64) {
	toward := func(usual *float64, now float64) {
		switch {
		case now > *usual && isLearning:
			*usual = now
		case now > *usual:
			*usual += (now - *usual) * min(d/60, 1)
		default:
			*usual += (now - *usual) * min(d/3600, 1)
		}
	}
	toward(&r.pps, now.pps)
	toward(&r.bps, now.bps)
}

// excess returns what is more than usual in a tally of so many seconds, by class.
func (s *Search) excess(st *state, t *Tally, d float64) (more [numClasses]rate, sum rate) {
	for c := range numClasses {
		o := t.offered(c)
		now := rate{float64(o.Packets) / d, 8 * float64(o.Bytes) / d}
		if now.pps > s.config.Factor*st.usual[c].pps || now.bps > s.config.Factor*st.usual[c].bps {
			more[c] = rate{max(now.pps-st.usual[c].pps, 0), max(now.bps-st.usual[c].bps, 0)}
		}
		sum.pps += more[c].pps
		sum.bps += more[c].bps
	}
	return more, sum
}

// recent returns what came in the latest looks: the very latest where each packet is reported, those of a second where
// it is 1 in N and few packets stand for many.
func (st *state) recent() (sum Tally, d float64) {
	n := len(st.ring)
	from := n - 1
	if st.ring[from].Squares > 0 || n > 1 && st.ring[n-2].Squares > 0 {
		from = max(n-int(second/LookNs), 0)
	}
	for i := from; i < n; i++ {
		sum.merge(&st.ring[i].Tally)
		d += float64(st.ring[i].toNs-st.ring[i].fromNs) / 1e9
	}
	return sum, d
}

// exceeds returns how many times its limits what came lately is, as little as sampling leaves open, and whether a fixed
// limit is exceeded.
func (s *Search) exceeds(st *state) (times float64, fixed bool) {
	sum, d := st.recent()
	_, more := s.excess(st, &sum, d)
	all := sum.sum()
	sure := 1 - min(withinOf(sum.Squares, all.Packets), 1)
	times = st.floor.of(more.bps*sure, more.pps*sure)
	fixed = st.fixed.of(8*float64(all.Bytes)/d*sure, float64(all.Packets)/d*sure) >= 1
	return times, fixed
}

// withinOf returns by which share a number of packets may be off in 95 of 100 cases.
func withinOf(squares, packets uint64) float64 {
	if squares == 0 || packets == 0 {
		return 0
	}
	return 1.96 * math.Sqrt(float64(squares)) / float64(packets)
}
