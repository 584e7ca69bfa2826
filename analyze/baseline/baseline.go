// Package baseline knows what is usual, and tells when it is not. It knows keys and values, and no tables. A Tracker is
// not for concurrent use.
//
// What is normal differs from hop to hop and from hour to hour, so each key has its own idea of it: the values of a
// window become one value, their quantile; the values of past windows have a median and a median absolute deviation
// (MAD), which a few odd windows do not move. A window is out if it is more than k deviations away. Several of them in
// a row are an anomaly, and several that are clearly not end it.
package baseline

import (
	"fmt"
	"math"
)

// Config bounds a Tracker. Use DefaultConfig and change what is needed.
type Config struct {
	// MaxKeys is how many keys are kept; each takes 2.7 kB with 24 slots of the day.
	MaxKeys int
	// WindowNs is the length of a window, in nanoseconds.
	WindowNs int64
	// DaySlots is into how many parts of equal length the day (UTC) is divided, each with its own baseline; 1 for none.
	DaySlots int
	// Quantile of the values of a window is its value.
	Quantile float64
	// MinSamples is how many values a window needs to be judged, and MinShare which share of all that came, those that
	// found a queue included: the few that find none at a port that is full come right behind another packet. Other
	// windows are left out.
	MinSamples uint64
	MinShare   float64
	// LearnWindows is how many windows make a baseline. Up to YoungWindows it is little more than a guess: one
	// deviation is wider by the square root of what is missing. 0 for none.
	LearnWindows, YoungWindows int
	// DayWindows is how many windows make the baseline of a time of day, which then counts instead of that of all day.
	DayWindows int
	// MemoryWindows is how many windows a baseline remembers: when it has more, each counts half.
	MemoryWindows int
	// Begin and End are how many deviations off a window must be to count as out, and within how many to count as calm.
	Begin, End float64
	// BeginWindows in a row that are out begin an anomaly; EndWindows in a row that are calm end it.
	BeginWindows, EndWindows int
	// HighOnly leaves values alone that are lower than usual: they are learned.
	HighOnly bool
	// GoneWindows in a row without values end it as well.
	GoneWindows int
	// AdoptWindows is after how many windows the anomaly has become the new normal: the key learns anew.
	AdoptWindows int
	// FloorNs and FloorShare (of the median) are the smallest deviation: in a series that never changes each change
	// would be infinitely many.
	FloorNs    float64
	FloorShare float64
}

// DefaultConfig returns bounds that need about 11 MB. A window of half a second is short enough to tell soon, and to
// tell when; a second and a half of values are enough to see that a latency is many times as long, a minute for one and
// a half times.
func DefaultConfig() Config {
	return Config{
		MaxKeys: 4096, WindowNs: 500e6, DaySlots: 24, Quantile: 0.02, MinSamples: 3, MinShare: 0.25, LearnWindows: 3,
		YoungWindows: 120, DayWindows: 1200,
		MemoryWindows: 28800, Begin: 6, End: 3, BeginWindows: 3, EndWindows: 2, HighOnly: true, GoneWindows: 6,
		AdoptWindows: 7200,
		FloorNs:      500, FloorShare: 0.1,
	}
}

// check returns the first thing that is wrong.
func (c *Config) check() error {
	switch {
	case c.MaxKeys < 1:
		return fmt.Errorf("baseline keys: got %d, want at least 1", c.MaxKeys)
	case c.WindowNs < 1 || c.WindowNs > dayNs:
		return fmt.Errorf("baseline window: got %d ns, want 1 ns to a day", c.WindowNs)
	case c.DaySlots < 1 || c.DaySlots > 288:
		return fmt.Errorf("slots of a day: got %d, want 1 to 288", c.DaySlots)
	case !(c.Quantile > 0 && c.Quantile <= 1):
		return fmt.Errorf("baseline quantile: got %v, want more than 0, at most 1", c.Quantile)
	case !(c.MinShare >= 0 && c.MinShare <= 1):
		return fmt.Errorf("share of values that a window needs: got %v, want 0 to 1", c.MinShare)
	case c.LearnWindows < 3 || c.MemoryWindows < 2*c.LearnWindows || c.MemoryWindows > 30000:
		return fmt.Errorf(
			"windows to learn and to remember: got %d and %d, want at least 3, and twice that up to 30000",
			c.LearnWindows, c.MemoryWindows)
	case c.YoungWindows < 0 || c.DayWindows < c.LearnWindows:
		return fmt.Errorf(
			"windows of a baseline: got %d until it is no guess and %d for a time of day, want at least 0, and as many as to learn",
			c.YoungWindows, c.DayWindows)
	case !(c.End > 0 && c.Begin >= c.End):
		return fmt.Errorf("deviations that begin and end an anomaly: got %v and %v, want Begin >= End > 0", c.Begin,
			c.End)
	case c.BeginWindows < 1 || c.EndWindows < 1 || c.GoneWindows < 1 || c.AdoptWindows < c.BeginWindows:
		return fmt.Errorf(
			"windows that begin and end an anomaly: got %d, %d, %d, %d, want at least 1, and no adoption before",
			c.BeginWindows, c.EndWindows, c.GoneWindows, c.AdoptWindows)
	case !(c.FloorNs > 0 && c.FloorShare >= 0):
		return fmt.Errorf("smallest deviation: got %v ns and share %v, want more than 0 and at least 0", c.FloorNs,
			c.FloorShare)
	}
	return nil
}

const dayNs = 24 * 3600e9

// A Key says what the values are of: a port of a node (Node, Out), or a hop (In and Queue as well), a link (Link, from
// Node, Out to To, In, and Length), or a flow by the hash of its key.
type Key struct {
	Flow    uint64 // 0 of a hop
	Node    uint32
	In, Out uint32 // ports
	To      uint32 // node at the end of a link
	Queue   uint8
	Length  uint8 // class of the packets' length
	Link    bool
}

// A Value is what one packet met.
type Value struct {
	Value  uint64 // nanoseconds
	BlurNs uint64 // the value can be wrong by so much
	AtNs   int64  // nanoseconds since 1970
	// Queue is the occupancy that it found, in the unit of the device. Of a key whose values have one only those count
	// that found the least that was ever seen there: what a packet waits for behind others says how many others there
	// are.
	Queue    uint32
	HasQueue bool
	Others   uint32 // values that this one stands for, besides itself; they count for MinShare
}

// Tracker knows for each key what is normal, and tells when it is not. It is not for concurrent use.
type Tracker struct {
	config   Config
	open     bool  // a window is
	startNs  int64 // of the open window
	places   map[Key]int32
	free     []int32
	keys     []series
	sketches []sketch  // of each key one over all, then one for each slot of the day
	events   []Anomaly // of the last window
	counters Counters
}

// Counters say what became of values.
type Counters struct {
	Values    uint64 // that came
	Late      uint64 // of a window that was closed
	Overflow  uint64 // of a key that there was no room for
	Queued    uint64 // that found a queue
	Sparse    uint64 // windows of a key with too few values, or with too many others
	Keys      int
	Anomalies int // at the moment
}

// New returns a Tracker that knows nothing yet. All memory for values is set aside here.
func New(c Config) (*Tracker, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Tracker{
		config: c, places: make(map[Key]int32, c.MaxKeys), free: make([]int32, 0, c.MaxKeys),
		keys: make([]series, 0, c.MaxKeys), sketches: make([]sketch, c.MaxKeys*(c.DaySlots+1)),
	}, nil
}

// Observe takes a value. It is left out if its window is closed. It counts in the open window even if it is of later:
// call Advance first.
func (b *Tracker) Observe(key *Key, v *Value) {
	b.counters.Values++
	if !b.open {
		b.openAt(v.AtNs)
	}
	if v.AtNs < b.startNs {
		b.counters.Late++
		return
	}
	k := b.keyFor(key)
	if k == nil {
		b.counters.Overflow++
		return
	}
	k.came += 1 + uint64(v.Others)
	if v.HasQueue {
		if !k.queued || v.Queue < k.queue {
			k.queued, k.queue = true, v.Queue
		}
		if v.Queue > k.queue {
			b.counters.Queued++
			k.waited += 1 + uint64(v.Others)
			return
		}
	}
	k.blurNs = max(k.blurNs, v.BlurNs)
	k.window.add(v.Value)
}

// Advance tells the time. When a window is over it returns the anomalies that began or ended, valid up to the next
// call.
func (b *Tracker) Advance(nowNs int64) []Anomaly {
	if !b.open {
		b.openAt(nowNs)
		return nil
	}
	// A clock that is set back a little is waited for; one that is set back by more begins anew.
	if away := nowNs - b.startNs; away > -b.config.WindowNs && away < b.config.WindowNs {
		return nil
	}
	b.events = b.events[:0]
	ended := b.startNs
	b.openAt(nowNs)
	passed := max((b.startNs-ended)/b.config.WindowNs, 1)
	for i := range b.keys {
		k := &b.keys[i]
		if !k.used {
			continue
		}
		if k.window.Count > 0 {
			k.idle = 0
			b.judge(int32(i), ended)
			k.window, k.blurNs, k.came, k.waited = window{}, 0, 0, 0
		}
		if k.idle += passed; k.idle > 1 {
			b.rest(int32(i), ended+b.config.WindowNs)
		}
	}
	return b.events
}

// openAt opens the window of a moment.
func (b *Tracker) openAt(nowNs int64) {
	b.open = true
	b.startNs = nowNs - sinceMultiple(nowNs, b.config.WindowNs)
}

// Counters returns what was counted so far.
func (b *Tracker) Counters() Counters {
	n := b.counters
	n.Keys = len(b.places)
	for i := range b.keys {
		if b.keys[i].used && b.keys[i].on {
			n.Anomalies++
		}
	}
	return n
}

// keyFor returns what is kept of a key, which it adds if there is room; else nil.
func (b *Tracker) keyFor(key *Key) *series {
	if place, ok := b.places[*key]; ok {
		return &b.keys[place]
	}
	var place int32
	switch {
	case len(b.free) > 0:
		place = b.free[len(b.free)-1]
		b.free = b.free[:len(b.free)-1]
	case len(b.keys) < cap(b.keys):
		place = int32(len(b.keys))
		b.keys = b.keys[:place+1]
	default:
		return nil
	}
	b.keys[place] = series{key: *key, used: true}
	clear(b.sketchesOf(place))
	b.places[*key] = place
	return &b.keys[place]
}

// sketchesOf returns the baselines of a key: over all, then for each slot of the day.
func (b *Tracker) sketchesOf(place int32) []sketch {
	n := b.config.DaySlots + 1
	return b.sketches[int(place)*n : int(place)*n+n]
}

// slotOf returns the sketch of the time of day.
func (b *Tracker) slotOf(place int32, atNs int64) *sketch {
	slot := sinceMultiple(atNs, dayNs) / (dayNs / int64(b.config.DaySlots))
	return &b.sketchesOf(place)[1+min(int(slot), b.config.DaySlots-1)]
}

// A State is what is known of a key.
type State struct {
	Known      bool // the key is
	Learning   bool // there is no baseline yet
	TimeOfDay  bool // it is that of the time of day, not of all day
	Windows    int  // in it
	MedianNs   uint64
	MADNs      uint64
	DeviateNs  float64 // what counts as one deviation: 1.4826 MAD, or the floor
	Anomaly    bool
	HighNs     float64 // a window above that is out
	LowNs      float64 // a window below that is out
	LastNs     uint64  // value of the last window
	LastNsTime int64   // its start, nanoseconds since 1970
}

// State returns what is normal for a key at a moment.
func (b *Tracker) State(key *Key, atNs int64) State {
	place, ok := b.places[*key]
	if !ok {
		return State{Learning: true}
	}
	k := &b.keys[place]
	s := State{Known: true, Anomaly: k.on, LastNs: k.last, LastNsTime: k.lastNs}
	sketch, ofDay := b.normal(place, atNs)
	s.Windows = int(sketch.total)
	if s.Learning = s.Windows < b.config.LearnWindows; s.Learning {
		return s
	}
	s.TimeOfDay = ofDay
	s.MedianNs, s.MADNs = sketch.spread()
	s.DeviateNs = b.deviation(sketch, s.MedianNs, s.MADNs, max(k.blurNs, k.blurredNs))
	s.HighNs = float64(s.MedianNs) + b.config.Begin*s.DeviateNs
	s.LowNs = max(float64(s.MedianNs)-b.config.Begin*s.DeviateNs, 0)
	return s
}

// normal returns the baseline for a moment: that of the time of day if it has learned enough, else that of all day.
func (b *Tracker) normal(place int32, atNs int64) (sketch *sketch, ofDay bool) {
	if s := b.slotOf(place, atNs); b.config.DaySlots > 1 && int(s.total) >= b.config.DayWindows {
		return s, true
	}
	return &b.sketchesOf(place)[0], false
}

// deviation returns what counts as one deviation. The MAD of values that are normally distributed is 1/1.4826 of their
// standard deviation; it is not known better than to the width of a bucket, and of few values hardly at all.
func (b *Tracker) deviation(s *sketch, median, mad, blurNs uint64) float64 {
	m := float64(median)
	d := max(1.4826*float64(mad), b.config.FloorNs, b.config.FloorShare*m, 2*s.RelativeError()*m,
		math.SmallestNonzeroFloat64)
	if few := float64(b.config.YoungWindows) / float64(max(s.total, 1)); few > 1 {
		d *= math.Sqrt(few)
	}
	return max(d, blurShare*float64(blurNs))
}

// blurShare is how much of its uncertainty makes a deviation of a value. Both values that are compared are wrong in the
// same direction for the most part, so that six deviations are more than enough.
const blurShare = 1.0 / 3

// sinceMultiple returns how much d is after a multiple of m, at least 0.
func sinceMultiple(d, m int64) int64 {
	if d %= m; d < 0 {
		d += m
	}
	return d
}
