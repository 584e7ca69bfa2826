package drop

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A Key is a place and a reason.
type Key struct {
	topology.HopKey
	Reason  uint8
	Table   telemetry.ReasonTable // numbers mean different things at different nodes
	RuleKey uint64                // Transparent Security: the mitigation rule
}

// IsNowhere reports whether packets dropped for the reason had no place to go to. What is dropped because a queue is
// full, a filter says so, a link is down or the TTL is used up is no blackhole, and other events tell of it.
func (key *Key) IsNowhere() bool {
	switch r := dropreason.Of(key.Table, key.Reason); r.Group {
	case dropreason.General, dropreason.L2, dropreason.L3, dropreason.Tunnel:
		return r.Severity > telemetry.Info && !strings.Contains(r.ID, "ttl")
	}
	return false
}

type drop struct {
	Packets     uint64
	scanned     uint64 // of these, up to the last scan
	first, last int64
	runs        []run // since the last scan, by time: few packets each, but for the last
	flow        telemetry.FlowKey
	hasFlow     bool
	To          map[telemetry.Addr]toward // by prefix
	baseline    uint32                    // Transparent Security: the previous counter of the rule
	hit         *telemetry.Extent         // of the packets since the last scan
}

// maxHit bounds the places of which a table knows the flows of packets that were dropped since the last scan, 4 kB
// each.
const maxHit = 1024

// Table counts drops by place and reason; what does not fit is counted in Overflow.
type Table struct {
	max      int
	Drops    map[Key]*drop
	Overflow uint64
	before   Counters // counters of rules in the process before this one, of those that did not report since
	hit      int      // places with packets since the last scan
}

// A Counter is where the counter of a rule of Transparent Security stood that goes on from report to report, as JSON
// for the next process: without it, all that the rule dropped in its life would be new to that.
type Counter struct {
	Key
	Total uint32
}

// Counters are those of rules.
type Counters map[Key]uint32

// TableCounters are those that a table knows: the latest of rules that reported to it, and those of before.
type TableCounters struct {
	Latest, Before Counters
	max            int
}

// Counters returns those that t knows.
func (t *Table) Counters() TableCounters {
	c := TableCounters{Latest: Counters{}, Before: maps.Clone(t.before), max: t.max}
	for key, d := range t.Drops {
		if key.RuleKey != 0 && d.baseline > 0 {
			c.Latest[key] = d.baseline
		}
	}
	return c
}

// Add adds the counters that a table knows.
func (c Counters) Add(t TableCounters) {
	for key, total := range t.Before {
		if _, known := c[key]; !known && len(c) < t.max {
			c[key] = total
		}
	}
	maps.Copy(c, t.Latest)
}

// List returns them for the next process.
func (c Counters) List() []Counter {
	var all []Counter
	for key, total := range c {
		all = append(all, Counter{key, total})
	}
	return all
}

// Restore takes the counters of the process before this one. Call it before the first report.
func (t *Table) Restore(counters []Counter) {
	t.before = Counters{}
	for _, c := range counters[:min(len(counters), t.max)] {
		t.before[c.Key] = c.Total
	}
}

func New(limit int) Table { return Table{max: limit, Drops: map[Key]*drop{}} }

func (t *Table) entry(key Key, nowNs int64) *drop {
	d := t.Drops[key]
	if d == nil {
		if len(t.Drops) >= t.max {
			t.Overflow++
			return nil
		}
		d = &drop{first: nowNs, baseline: t.before[key]}
		t.Drops[key] = d
		delete(t.before, key)
	}
	if d.hit == nil {
		d.runs = d.runs[:0]
	}
	if n := len(d.runs); n == 0 || isApart(&d.runs[n-1], nowNs) {
		if n == mostRuns {
			d.runs = append(d.runs[:0], d.runs[1:]...)
		}
		d.runs = append(d.runs, run{sinceNs: nowNs})
	}
	r := &d.runs[len(d.runs)-1] // receivers overtake each other
	r.sinceNs, r.untilNs = min(r.sinceNs, nowNs), max(r.untilNs, nowNs)
	d.last = nowNs
	return d
}

// add counts packets of a flow with so many bytes; the flow may be nil, and the bytes 0, if they are not known.
func (t *Table) add(d *drop, packets uint64, flow *telemetry.FlowKey, bytes uint64) {
	if packets == 0 {
		return
	}
	d.Packets += packets
	d.runs[len(d.runs)-1].packets += packets
	if d.hit == nil {
		d.hit = &telemetry.Extent{}
		t.hit++
	}
	if t.hit > maxHit && len(d.hit.Flows) == 0 {
		flow = nil
	}
	d.hit.Add(flow, packets, bytes)
}

// Packet counts the drop that r reports.
func (t *Table) Packet(r *telemetry.Report, nowNs int64) {
	d := t.entry(Key{HopKey: topology.HopKeyOf(&r.Local), Reason: r.Local.DropReason, Table: r.DropReasons}, nowNs)
	if d == nil {
		return
	}
	if !r.Is(telemetry.HasFlow) {
		t.add(d, 1, nil, uint64(r.Bytes))
		return
	}
	t.add(d, 1, &r.Flow, uint64(r.Bytes))
	d.flow, d.hasFlow = r.Flow, true
	d.toward(&r.Flow)
}

// Summary takes a report of many drops: of a rule of Transparent Security, or of a flow. The dialect knows whether its
// number goes on from report to report. It returns how many drops that makes since the report before.
func (t *Table) Summary(r *telemetry.Report, nowNs int64) (packets uint64) {
	d := t.entry(Key{
		HopKey: topology.HopKeyOf(&r.Local), Reason: r.Local.DropReason, Table: r.DropReasons,
		RuleKey: r.DropKey,
	}, nowNs)
	if d == nil {
		return 0
	}
	packets = uint64(r.DropCount)
	if r.Is(telemetry.DropTotal) && r.DropCount >= d.baseline { // below it the counter began anew
		packets -= uint64(d.baseline)
	}
	var flow *telemetry.FlowKey
	if r.Is(telemetry.HasFlow) {
		d.flow, d.hasFlow = r.Flow, true
		flow = &r.Flow
	}
	t.add(d, packets, flow, 0)
	d.baseline = r.DropCount
	return packets
}

func (d *drop) answer(key *Key, names map[uint32]string) telemetry.Drop {
	at := key.HopKey.Answer(names)
	a := telemetry.Drop{
		Node: at.Node, Name: at.Name, IngressPort: at.IngressPort, EgressPort: at.EgressPort,
		Reason: key.Reason, ReasonName: key.Table.Name(key.Reason), Packets: d.Packets,
		First: time.Unix(0, d.first).UTC(), Last: time.Unix(0, d.last).UTC(),
	}
	cause := dropreason.Of(key.Table, key.Reason)
	a.Cause, a.Severity, a.Meaning, a.Action = cause.ID, cause.Severity.String(), cause.Meaning, cause.Action
	if d.hasFlow {
		e := telemetry.EndpointsOf(&d.flow)
		a.LastFlow = &e
	}
	a.To = d.destinations()
	if key.RuleKey != 0 {
		a.DropKey = fmt.Sprintf("%016x", key.RuleKey)
	}
	return a
}
