package analyze

import (
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// faults is what a Scanner keeps to find blackholes, gray failures and uneven groups. What is of this scan is
// gathered path by path, before any of it is looked at.
type faults struct {
	crossings map[linkKey]*crossing     // of this scan: links on which packets were not seen as a whole
	earlier   map[linkKey]*crossing     // of the scan before
	drops     map[dropEnd]*droppedFlows // of this scan: where paths end with a drop
	reports   map[uint32]*reportLoss    // reports lost on their way here, by node

	suspects  map[linkKey]*grayLink // links that lost packets lately
	streams   streamPaths           // what the sinks' reports tell of TCP
	leaks     map[linkKey]*grayLink // links that lost packets of streams lately
	groups    map[groupKey]*ecmpGroup
	uneven    map[eventlog.Key]*unevenness
	fruitless map[eventlog.Key]int64 // places of drops that are no blackholes: when to look again

	leftOut uint64 // links and groups for which there was no room in this scan
}

const (
	maxCrossings = 1 << 14
	maxDropEnds  = 1 << 12
	maxGroups    = 1 << 14
)

func newFaults() faults {
	return faults{
		crossings: map[linkKey]*crossing{}, earlier: map[linkKey]*crossing{}, drops: map[dropEnd]*droppedFlows{},
		reports:  map[uint32]*reportLoss{},
		suspects: map[linkKey]*grayLink{}, streams: newStreamPaths(), leaks: map[linkKey]*grayLink{},
		groups: map[groupKey]*ecmpGroup{}, uneven: map[eventlog.Key]*unevenness{}, fruitless: map[eventlog.Key]int64{},
	}
}

// begin forgets the scan before.
func (f *faults) begin() {
	f.earlier, f.crossings = f.crossings, f.earlier
	clear(f.crossings)
	clear(f.drops)
	f.leftOut = 0
	f.streams.begin()
	for _, r := range f.reports {
		r.before, r.lost, r.unknown = [2]uint64{r.lost, r.before[0]}, 0, false
	}
	for _, g := range f.groups {
		g.begin()
	}
}

// take gathers what is to be known of a path that n packets took since the last scan, and lets it count anew. The shard
// is locked.
func (f *faults) take(shard *Shard, place int, p *path, n uint64) {
	if p.dropped() {
		f.takeDrop(shard, place, p)
	} else if !p.uncertain {
		f.takeGroups(p, n)
	}
	if p.incomplete > 0 {
		f.takeParts(p)
	}
	if p.sinceScan.streams.any() {
		f.takeStreams(p)
	}
	p.sinceScan = pathWindow{}
}

// scanFaults looks at what was gathered.
func (s *Scanner) scanFaults(nowNs int64) {
	s.scanNewFlows()
	s.scanBlackholes(nowNs)
	s.scanGray(nowNs)
	s.scanStreams(nowNs)
	s.scanGroups(nowNs)
	s.log.AddUnwatched(s.faults.leftOut)
	s.log.EndQuiet(telemetry.EventNewFlow, nowNs-quietNs)
	s.log.EndQuiet(telemetry.EventBlackhole, nowNs-quietNs-ScanNs) // a silent one is noted a scan later
	s.log.EndQuiet(telemetry.EventECMPImbalance, nowNs-quietNs)
	s.log.EndQuiet(telemetry.EventGrayFailure, nowNs-graySilenceNs)
}
