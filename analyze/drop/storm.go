package drop

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// StormRate is how many drops a second are a storm, at one place, for one reason.
const StormRate = 20

// stormGapNs is after how long without a drop those before, if they are few, are none of the storm that follows.
const stormGapNs = int64(time.Second) / 4

// A run is packets that were dropped one soon after the other.
type run struct {
	sinceNs, untilNs int64 // the first and the last
	packets          uint64
}

// mostRuns is how many there are between two scans at most, while these are a second apart.
const mostRuns = int(int64(time.Second) / stormGapNs)

// isApart reports whether a drop at nowNs is of another run than those of r: what fills a queue now did not drop so few
// so long before.
func isApart(r *run, nowNs int64) bool {
	return nowNs-r.untilNs > stormGapNs && r.packets < StormRate*uint64(stormGapNs)/uint64(time.Second)
}

// A Storm is what was dropped at one place for one reason since the last scan.
type Storm struct {
	Drops   uint64
	runs    []run // at its ports of entry, in all shards
	most    uint64
	Key     Key // of the part with the most packets
	Flow    telemetry.FlowKey
	HasFlow bool
	Hit     *telemetry.Extent // of Drops
}

// Begin returns when it began, in nanoseconds, its drops from then on, and how many that are a second; within less than
// a second they count as within one.
func (s *Storm) Begin() (sinceNs int64, drops uint64, rate float64) {
	slices.SortFunc(s.runs, func(a, b run) int { return cmp.Compare(a.sinceNs, b.sinceNs) })
	all := s.runs[0]
	for _, r := range s.runs[1:] {
		if isApart(&all, r.sinceNs) {
			all = r
			continue
		}
		all.packets += r.packets
		all.untilNs = max(all.untilNs, r.untilNs)
	}
	return all.sinceNs, all.packets,
		float64(all.packets) * 1e9 / float64(max(all.untilNs-all.sinceNs, int64(time.Second)))
}

// SinceNs is when the first of the packets was dropped, nanoseconds since 1970.
func (s *Storm) SinceNs() int64 {
	return slices.MinFunc(s.runs, func(a, b run) int { return cmp.Compare(a.sinceNs, b.sinceNs) }).sinceNs
}

// UntilNs is when the last of the packets was dropped, nanoseconds since 1970.
func (s *Storm) UntilNs() (ns int64) {
	for i := range s.runs {
		ns = max(ns, s.runs[i].untilNs)
	}
	return ns
}

// Join adds what was dropped there until the scan before: many drops are no fewer because somebody looked in between.
func (s *Storm) Join(before *Storm) {
	s.Drops += before.Drops
	s.Hit = s.Hit.Plus(before.Hit)
	s.runs = slices.Concat(before.runs, s.runs)
}

// Few are drops at places, by what they may be part of, that were too few so far to say so.
type Few[K comparable] map[K]few

type few struct {
	storm  Storm
	fromNs int64
}

// fewNs is how long they are remembered.
const fewNs = 10 * int64(time.Second)

// Join adds to s what was dropped there before, remembers both, and returns since when that is, if what s has is since
// fromNs, nanoseconds since 1970.
func (f Few[K]) Join(k K, s *Storm, fromNs int64) (sinceNs int64) {
	if before, ok := f[k]; ok && fromNs-before.fromNs < fewNs {
		s.Join(&before.storm)
		fromNs = before.fromNs
	}
	f[k] = few{*s, fromNs}
	return fromNs
}

// Forget forgets what is so long ago.
func (f Few[K]) Forget(nowNs int64) {
	maps.DeleteFunc(f, func(_ K, few few) bool { return nowNs-few.fromNs >= fewNs })
}

// Packets are those at one place for one reason.
type Packets struct {
	Key
	N       uint64
	runs    []run
	flow    telemetry.FlowKey // one of theirs
	hasFlow bool
	Hit     *telemetry.Extent // whose these were
}

// Take returns what was dropped since the last scan, and counts anew.
func (t *Table) Take() (list []Packets) {
	for key, d := range t.Drops {
		if n := d.Packets - d.scanned; n > 0 {
			list = append(list, Packets{key, n, slices.Clone(d.runs), d.flow, d.hasFlow, d.hit})
			d.scanned, d.hit = d.Packets, nil
			t.hit--
		}
	}
	return list
}

// SinceNs is when the first of them was told, but for a few long before others.
func (p *Packets) SinceNs() int64 { return p.runs[len(p.runs)-1].sinceNs }

// Add adds packets that were dropped at the place of the storm for its reason.
func (s *Storm) Add(p *Packets) {
	s.Drops += p.N
	s.Hit = s.Hit.Plus(p.Hit)
	s.runs = append(s.runs, p.runs...)
	if p.N > s.most || p.N == s.most && p.flow.Compare(&s.Flow) < 0 { // whichever comes first
		s.most, s.Key, s.Flow, s.HasFlow = p.N, p.Key, p.flow, p.hasFlow
	}
}

// CauseText names why packets were dropped, in the words of the catalogue; as the device does if it is not in there.
func (key *Key) CauseText() string {
	cause := dropreason.Of(key.Table, key.Reason)
	if cause == dropreason.Unknown || cause == dropreason.Unmapped {
		return key.Table.Name(key.Reason)
	}
	return strings.ReplaceAll(cause.ID, "_", " ")
}

// Place returns where packets are dropped, whatever the ports by which they came: the node, and the port if they were
// on their way out by it. Others have none yet.
func (key *Key) Place() topology.HopKey {
	at := key.HopKey
	at.Has &^= telemetry.HasIngressPort
	if group := dropreason.Of(key.Table, key.Reason).Group; group != dropreason.Buffer && group != dropreason.Hardware {
		at.Has &^= telemetry.HasEgressPort
	}
	return at
}
