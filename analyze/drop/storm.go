package drop

import (
	"cmp"
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

// isApart reports whether drops at nowNs are others than so few before, of which the last was at lastNs: what fills a
// queue now did not drop these.
func isApart(before uint64, lastNs, nowNs int64) bool {
	return nowNs-lastNs > stormGapNs && before < StormRate*uint64(stormGapNs)/uint64(time.Second)
}

// A Storm is what was dropped at one place for one reason since the last scan.
type Storm struct {
	Drops   uint64
	rows    []Packets // of its ports of entry, in all shards
	Key     Key
	Flow    telemetry.FlowKey
	HasFlow bool
	Hit     *telemetry.Extent // of Drops
}

// Begin returns when it began, in nanoseconds, its drops from then on, and how many that are a second; within less than
// a second they count as within one.
func (s *Storm) Begin() (sinceNs int64, drops uint64, rate float64) {
	slices.SortFunc(s.rows, func(a, b Packets) int { return cmp.Compare(a.SinceNs, b.SinceNs) })
	since, until := s.rows[0].SinceNs, s.rows[0].untilNs
	for i := range s.rows {
		if r := &s.rows[i]; isApart(drops, until, r.SinceNs) {
			since, drops = r.SinceNs, 0
		}
		drops += s.rows[i].run
		until = max(until, s.rows[i].untilNs)
	}
	return since, drops, float64(drops) * 1e9 / float64(max(until-since, int64(time.Second)))
}

// UntilNs is when the last of the packets was dropped, nanoseconds since 1970.
func (s *Storm) UntilNs() (ns int64) {
	for i := range s.rows {
		ns = max(ns, s.rows[i].untilNs)
	}
	return ns
}

// Join adds what was dropped there until the scan before: many drops are no fewer because somebody looked in between.
func (s *Storm) Join(before *Storm) {
	s.Drops += before.Drops
	s.Hit = s.Hit.Plus(before.Hit)
	s.rows = slices.Concat(before.rows, s.rows)
}

// Packets are those at one place for one reason.
type Packets struct {
	Key
	N       uint64
	SinceNs int64             // when the first of them was told, but for a few long before others
	run     uint64            // from then on
	untilNs int64             // when the last was told
	flow    telemetry.FlowKey // one of theirs
	hasFlow bool
	Hit     *telemetry.Extent // whose these were
}

// SinceScan returns the n packets since the last scan at a place that the table has.
func (t *Table) SinceScan(key *Key, n uint64) Packets {
	d := t.Drops[*key]
	p := Packets{*key, n, d.since, d.run, d.last, d.flow, d.hasFlow, d.hit}
	d.hit = nil
	t.hit--
	return p
}

// Add adds packets that were dropped at the place of the storm for its reason.
func (s *Storm) Add(p *Packets) {
	s.Drops += p.N
	s.Hit = s.Hit.Plus(p.Hit)
	s.rows = append(s.rows, *p)
	s.Key, s.Flow, s.HasFlow = p.Key, p.flow, p.hasFlow
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
