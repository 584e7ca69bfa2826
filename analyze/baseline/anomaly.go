package baseline

import "math"

// A series is what is kept of a key, besides its sketches.
type series struct {
	key    Key
	used   bool
	window window // the open one
	blurNs uint64 // the largest of its values
	came   uint64 // values, with those that were not looked at
	waited uint64 // of these, found a queue
	queued bool   // values tell of a queue
	queue  uint32 // the least that they told of
	idle   int64  // windows since the last with values, that one included
	// The least and the largest uncertainty of windows that were learned from.
	sharpNs, blurredNs uint64
	last               uint64 // value of the last window
	lastNs             int64  // its start

	run   int   // windows in a row that are out, the same way
	calm  int   // windows in a row that are calm
	runNs int64 // when they began
	high  bool  // which way
	on    bool  // an anomaly is
	event Anomaly
}

// Ends of an anomaly.
const (
	AnomalyCalm    = "calm"    // values are as usual again
	AnomalyGone    = "gone"    // no values come any more
	AnomalyAdopted = "adopted" // it lasts so long that it is usual now
)

// An Anomaly is a time in which values were not as usual.
type Anomaly struct {
	Key     Key
	High    bool   // above what is usual; else below
	Ended   string // "" while it lasts
	StartNs int64  // of the first window that was out, nanoseconds since 1970
	EndNs   int64  // of the last window before those that were calm; 0 while it lasts
	Windows int    // that were judged between the two

	// What was usual when it began.
	MedianNs  uint64
	MADNs     uint64
	TimeOfDay bool // at this time of day, not all day
	Learned   int  // windows that say so
	Queued    bool // the values are of packets that found no queue

	// The window that was most unusual so far: its value, and how many deviations it was off; negative below the
	// median.
	PeakNs     uint64
	Deviations float64
}

// Factor is how many times as long as usual the worst window was.
func (a *Anomaly) Factor() float64 { return float64(a.PeakNs) / float64(max(a.MedianNs, 1)) }

// muchBlurrier is how many times as uncertain values are that are not compared with others.
const muchBlurrier = 4

// judge compares the window of a key, which began at startNs, with what is usual, and learns from it.
func (b *Tracker) judge(place int32, startNs int64) {
	k := &b.keys[place]
	c := &b.config
	if k.window.Count < c.MinSamples || float64(k.came-k.waited) < c.MinShare*float64(k.came) {
		b.counters.Sparse++
		return
	}
	value := k.window.quantile(c.Quantile)
	k.last, k.lastNs = value, startNs
	if !k.on && muchBlurrier*k.blurNs < k.blurredNs { // what was learned was hardly known
		b.unlearn(place)
	}
	sketch, ofDay := b.normal(place, startNs)
	if int(sketch.total) < c.LearnWindows {
		b.learn(place, value, startNs)
		return
	}
	median, mad := sketch.spread()
	off := (float64(value) - float64(median)) / b.deviation(sketch, median, mad, max(k.blurNs, k.blurredNs))
	out, calm := math.Abs(off) > c.Begin, math.Abs(off) <= c.End
	if c.HighOnly && off < 0 {
		out, calm = false, true
	}
	if !k.on {
		if !out {
			k.run = 0
			b.learn(place, value, startNs)
			return
		}
		if high := off > 0; k.run == 0 || high != k.high {
			k.run, k.high, k.runNs = 0, high, startNs
			k.event = Anomaly{
				Key: k.key, High: high, StartNs: startNs, MedianNs: median, MADNs: mad, TimeOfDay: ofDay,
				Queued: k.queued, Learned: int(sketch.total),
			}
		}
		k.run++
		k.note(value, off)
		if k.run >= c.BeginWindows {
			k.on, k.calm = true, 0
			b.events = append(b.events, k.event)
		}
		return
	}
	if !calm {
		k.calm = 0
		k.note(value, off)
		if k.event.Windows >= c.AdoptWindows {
			b.unlearn(place)
			b.learn(place, value, startNs)
			b.end(k, AnomalyAdopted, startNs+c.WindowNs)
		}
		return
	}
	if k.calm == 0 {
		k.runNs = startNs
	}
	if k.calm++; k.calm >= c.EndWindows {
		b.end(k, AnomalyCalm, k.runNs)
	}
}

// note adds a window to the anomaly.
func (k *series) note(value uint64, off float64) {
	e := &k.event
	e.Windows++
	if math.Abs(off) > math.Abs(e.Deviations) {
		e.PeakNs, e.Deviations = value, off
	}
}

// end ends the anomaly.
func (b *Tracker) end(k *series, why string, atNs int64) {
	k.event.Ended, k.event.EndNs = why, atNs
	b.events = append(b.events, k.event)
	k.on, k.run, k.calm = false, 0, 0
}

// unlearn forgets what is usual.
func (b *Tracker) unlearn(place int32) {
	clear(b.sketchesOf(place))
	k := &b.keys[place]
	k.sharpNs, k.blurredNs, k.run = 0, 0, 0
}

// learn adds the value of a window to what is usual, unless values were known much better before.
func (b *Tracker) learn(place int32, value uint64, startNs int64) {
	k := &b.keys[place]
	if k.blurredNs > 0 && k.blurNs > muchBlurrier*k.sharpNs {
		return
	}
	if k.blurredNs == 0 || k.blurNs < k.sharpNs {
		k.sharpNs = k.blurNs
	}
	k.blurredNs = max(k.blurredNs, k.blurNs)
	b.sketchesOf(place)[0].add(value, b.config.MemoryWindows)
	if b.config.DaySlots > 1 {
		b.slotOf(place, startNs).add(value, b.config.MemoryWindows)
	}
}

// rest handles a key that had no values in the window that ended at endNs. An anomaly ends after a while; the key is
// forgotten after two days, or, if it has no baseline yet, as soon as it could have had one: a flood of keys does not
// stay.
func (b *Tracker) rest(place int32, endNs int64) {
	k := &b.keys[place]
	c := &b.config
	if k.on && k.idle > int64(c.GoneWindows) {
		b.end(k, AnomalyGone, min(endNs, k.lastNs+c.WindowNs))
	}
	keep := int64(c.LearnWindows)
	if int(b.sketchesOf(place)[0].total) >= c.LearnWindows {
		keep = max(keep, 2*dayNs/c.WindowNs)
	}
	if k.idle > keep {
		delete(b.places, k.key)
		k.used = false
		b.free = append(b.free, place)
	}
}
