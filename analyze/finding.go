package analyze

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// What single reports and paths show to be wrong is a finding: a kind and a place. A Scanner makes events of findings,
// once a second.

const (
	// maxFindings and maxVerdicts bound the findings, and the different sets of them that flows have, of a shard.
	maxFindings = 1024
	maxVerdicts = 4096
	// maxFindingsOfPath bounds a set: a path in which more is wrong tells nothing more by all of it.
	maxFindingsOfPath = 8
)

// A findingKey is what makes findings the same.
type findingKey struct {
	kind   telemetry.EventKind
	why    telemetry.BreachWhy
	has    telemetry.Fields // of node and port
	toHas  telemetry.Fields
	node   uint32
	port   uint32 // egress, or of either kind for unexpected ports
	toNode uint32
	toPort uint32
	rule   int32
}

// A finding is what was seen of one.
type finding struct {
	findingKey
	count       uint64    // reports or flows, whatever the kind counts
	noted       uint64    // of these, those that a Scanner has taken
	since, last int64     // since: of the first time that no Scanner has taken, 0 if it has all
	hidden      int       // nodes without metadata
	times       [3]uint64 // of metadata that cannot be so: ingress and egress time, and the latency; see contradicting
	flow        telemetry.FlowKey
	hasFlow     bool
	stack       bool // two stories of one packet were told by stacks, of which the first counts already
	path        uint64
	datagram    []byte // of the first report that shows it, since it was quiet
}

// A verdict is what is wrong with the path of a flow: places of findings, from 1, and 0 behind them.
type verdict [maxFindingsOfPath]uint16

// What a flow has as verdict besides places in findingTable.verdicts.
const (
	notJudged  = 0
	nothingBad = 1
	firstBad   = 2
)

// A findingTable holds the findings of a shard. When it is full it begins anew with the next scan, so that who forges
// reports cannot fill it for good; flows that were judged before are judged again.
type findingTable struct {
	reports   map[findingKey]*finding // those of single reports, since the last scan
	list      []finding               // those of paths
	places    map[findingKey]uint16   // in list, from 1
	verdicts  []verdict
	verdictOf map[verdict]uint16
	epoch     uint8  // changes when the table begins anew
	overflow  uint64 // findings for which there was no place
	postponed uint64 // times that a path was not judged because too many were
	budget    int    // paths that may be judged until the next scan
	lacking   bool   // some finding that goes on has no datagram
}

// judgedPerScan is how many paths of flows a shard judges between two scans; each takes about half a microsecond.
const judgedPerScan = 50_000

func newFindingTable() findingTable {
	return findingTable{
		reports: map[findingKey]*finding{}, places: map[findingKey]uint16{}, verdictOf: map[verdict]uint16{},
		budget: judgedPerScan,
	}
}

// ofReport returns the finding of a single report, nil if there is no place for it.
func (t *findingTable) ofReport(key *findingKey, nowNs int64) *finding {
	f := t.reports[*key]
	if f == nil {
		if len(t.reports) >= maxFindings {
			t.overflow++
			return nil
		}
		f = &finding{findingKey: *key, since: nowNs}
		t.reports[*key] = f
	}
	f.count++
	f.last = nowNs
	return f
}

// next begins the time until the next scan.
func (t *findingTable) next(nowNs int64) {
	clear(t.reports)
	t.budget, t.lacking = judgedPerScan, false
	for i := range t.list {
		f := &t.list[i]
		f.since, f.noted = 0, f.count
		t.lacking = t.lacking || f.datagram == nil && nowNs-f.last < quietNs
	}
	if len(t.list) == maxFindings || len(t.verdicts) == maxVerdicts {
		t.restart()
	}
}

// restart forgets the findings of paths, and the verdicts that flows have because of them.
func (t *findingTable) restart() {
	t.list, t.verdicts = t.list[:0], t.verdicts[:0]
	clear(t.places)
	clear(t.verdictOf)
	t.epoch++
}

// place returns the place of a finding, from 1, and 0 if there is none for it.
func (t *findingTable) place(key *findingKey) uint16 {
	if place := t.places[*key]; place > 0 {
		return place
	}
	if len(t.list) >= maxFindings {
		t.overflow++
		return 0
	}
	t.list = append(t.list, finding{findingKey: *key})
	place := uint16(len(t.list))
	t.places[*key] = place
	return place
}

// see notes that a finding was seen, and reports whether it is new or comes again after it was quiet: then it is
// another event.
func (t *findingTable) see(place uint16, nowNs int64) (f *finding, again bool) {
	f = &t.list[place-1]
	if f.since == 0 {
		if again = nowNs-f.last > quietNs; again {
			f.datagram, f.hasFlow, t.lacking = nil, false, true
		}
		f.since = nowNs
	}
	f.last = max(f.last, nowNs)
	return f, again
}

// show keeps the datagram of a report that shows a finding, unless there is one.
func (f *finding) show(r *telemetry.Report) {
	if f.datagram == nil && len(r.Datagram) > 0 {
		f.datagram = telemetry.HexOf(r.Datagram)
	}
}

// verdictFor returns what a flow has for a set of findings; notJudged if there is no place for it.
func (t *findingTable) verdictFor(set []uint16) uint16 {
	if len(set) == 0 {
		return nothingBad
	}
	var v verdict
	slices.Sort(set)
	copy(v[:], set)
	if id := t.verdictOf[v]; id > 0 {
		return id
	}
	if len(t.verdicts) >= maxVerdicts {
		t.overflow++
		return notJudged
	}
	t.verdicts = append(t.verdicts, v)
	id := uint16(len(t.verdicts) - 1 + firstBad)
	t.verdictOf[v] = id
	return id
}
