package finding

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// What single reports and paths show to be wrong is a finding: a kind and a place. A Scanner makes events of findings,
// once a second.

const (
	// MaxFindings and maxVerdicts bound the findings, and the different sets of them that flows have, of a shard.
	MaxFindings = 1024
	maxVerdicts = 4096
	// maxFindingsOfPath bounds a set: a path in which more is wrong tells nothing more by all of it.
	maxFindingsOfPath = 8
)

// A key is what makes findings the same.
type key struct {
	Kind   telemetry.EventKind
	Why    telemetry.BreachWhy
	Has    telemetry.Fields // of node and port
	ToHas  telemetry.Fields
	Node   uint32
	Port   uint32 // egress, or of either kind for unexpected ports
	ToNode uint32
	ToPort uint32
	Rule   int32
}

// A Finding is what was seen of one.
type Finding struct {
	key
	Count       uint64    // reports or flows, whatever the kind counts
	noted       uint64    // of these, those that a Scanner has taken
	Since, Last int64     // since: of the first time that no Scanner has taken, 0 if it has all
	hidden      int       // nodes without metadata
	times       [3]uint64 // of metadata that cannot be so: ingress and egress time, and the latency; see contradicting
	Flow        telemetry.FlowKey
	HasFlow     bool
	stack       bool // two stories of one packet were told by stacks, of which the first counts already
	Path        uint64
	Datagram    []byte // of the first report that shows it, since it was quiet
}

// A verdict is what is wrong with the path of a flow: places of findings, from 1, and 0 behind them.
type verdict [maxFindingsOfPath]uint16

// What a flow has as verdict besides places in findingTable.verdicts.
const (
	NotJudged  = 0
	NothingBad = 1
	FirstBad   = 2
)

// A Table holds the findings of a shard. When it is full it begins anew with the next scan, so that who forges
// reports cannot fill it for good; flows that were judged before are judged again.
type Table struct {
	reports   map[key]*Finding // those of single reports, since the last scan
	list      []Finding        // those of paths
	places    map[key]uint16   // in list, from 1
	verdicts  []verdict
	verdictOf map[verdict]uint16
	Epoch     uint8  // changes when the table begins anew
	Overflow  uint64 // findings for which there was no place
	Postponed uint64 // times that a path was not judged because too many were
	budget    int    // paths that may be judged until the next scan
	Lacking   bool   // some finding that goes on has no datagram
	quietNs   int64  // how long a finding is not seen until it is over

	told []toldStack // toldStacks of them; nil before the first stack that can be compared

	// Memory that is reused:
	hops     [topology.MaxHops]telemetry.Hop
	set      [maxFindingsOfPath]uint16
	breaches []telemetry.Breach
}

// JudgedPerScan is how many paths of flows a shard judges between two scans; each takes about half a microsecond.
const JudgedPerScan = 50_000

// New returns an empty table. What is not seen for quietNs is another event when it comes again.
func New(quietNs int64) Table {
	return Table{
		reports: map[key]*Finding{}, places: map[key]uint16{}, verdictOf: map[verdict]uint16{},
		budget: JudgedPerScan, quietNs: quietNs,
	}
}

// ofReport returns the finding of a single report, nil if there is no place for it.
func (t *Table) ofReport(key *key, nowNs int64) *Finding {
	f := t.reports[*key]
	if f == nil {
		if len(t.reports) >= MaxFindings {
			t.Overflow++
			return nil
		}
		f = &Finding{key: *key, Since: nowNs}
		t.reports[*key] = f
	}
	f.Count++
	f.Last = nowNs
	return f
}

// Take gives what was found since the last scan, and begins the time until the next one.
func (t *Table) Take(nowNs int64, give func(*Finding)) {
	for _, f := range t.reports {
		give(f)
	}
	for i := range t.list {
		if f := &t.list[i]; f.Since != 0 {
			give(f)
		}
	}
	clear(t.reports)
	t.budget, t.Lacking = JudgedPerScan, false
	for i := range t.list {
		f := &t.list[i]
		f.Since, f.noted = 0, f.Count
		t.Lacking = t.Lacking || f.Datagram == nil && nowNs-f.Last < t.quietNs
	}
	if len(t.list) == MaxFindings || len(t.verdicts) == maxVerdicts {
		t.Restart()
	}
}

// Restart forgets the findings of paths, and the verdicts that flows have because of them: what they were compared with
// is another
// policy now, or the table is full.
func (t *Table) Restart() {
	t.list, t.verdicts = t.list[:0], t.verdicts[:0]
	clear(t.places)
	clear(t.verdictOf)
	t.Epoch++
}

// place returns the place of a finding, from 1, and 0 if there is none for it.
func (t *Table) place(key *key) uint16 {
	if place := t.places[*key]; place > 0 {
		return place
	}
	if len(t.list) >= MaxFindings {
		t.Overflow++
		return 0
	}
	t.list = append(t.list, Finding{key: *key})
	place := uint16(len(t.list))
	t.places[*key] = place
	return place
}

// see notes that a finding was seen, and reports whether it is new or comes again after it was quiet: then it is
// another event.
func (t *Table) see(place uint16, nowNs int64) (f *Finding, again bool) {
	f = &t.list[place-1]
	if f.Since == 0 {
		if again = nowNs-f.Last > t.quietNs; again {
			f.Datagram, f.HasFlow, t.Lacking = nil, false, true
		}
		f.Since = nowNs
	}
	f.Last = max(f.Last, nowNs)
	return f, again
}

// show keeps the datagram of a report that shows a finding, unless there is one.
func (f *Finding) show(r *telemetry.Report) {
	if f.Datagram == nil && len(r.Datagram) > 0 {
		f.Datagram = telemetry.HexOf(r.Datagram)
	}
}

// verdictFor returns what a flow has for a set of findings; notJudged if there is no place for it.
func (t *Table) verdictFor(set []uint16) uint16 {
	if len(set) == 0 {
		return NothingBad
	}
	var v verdict
	slices.Sort(set)
	copy(v[:], set)
	if id := t.verdictOf[v]; id > 0 {
		return id
	}
	if len(t.verdicts) >= maxVerdicts {
		t.Overflow++
		return NotJudged
	}
	t.verdicts = append(t.verdicts, v)
	id := uint16(len(t.verdicts) - 1 + FirstBad)
	t.verdictOf[v] = id
	return id
}
