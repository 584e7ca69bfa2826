package scan

import (
	"fmt"
	"math"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A node of which no reports come any more is silent, or nothing passes it any more. What tells the two apart is what
// others report: postcards of the nodes in front of it and behind it, of packets that must have passed it, or, where it
// is a sink of stacks, TCP streams that come from there and go on, for which acknowledgements must have come to it.

const (
	// silentAfterNs is how long nothing must come, besides its usual gap, before a scan calls an exporter silent: so
	// that is told within two seconds and that gap.
	silentAfterNs = ScanNs
	// silentReports is how many reports must be missing, probably.
	silentReports = 10
	// longestGapNs is the longest gap that is usual: who reports less often is not expected to.
	longestGapNs = 60 * ScanNs
	// maxAdvancing bounds the streams that are looked at twice.
	maxAdvancing = 4096
)

// A pulse is how often a node reports.
type pulse struct {
	lastNs       int64 // of its latest report
	gapNs        int64 // the longest between two of late
	scans        int   // in which it reported
	told, missed float64
	sink         bool    // it told of streams
	missing      float64 // reports, since it is silent
	noted        uint64  // of these, those in the event
	heard        bool    // since the last scan
	listed       bool    // some exporter is of the node
}

// A silenceDetector finds nodes that report no more.
type silenceDetector struct {
	*scan
	exporters    *exporterDetector
	links        *linkDetector
	pulses       map[uint32]*pulse
	told, missed map[uint32]uint64            // by node, in this scan: packets of which it told, and others alone
	next         map[telemetry.FlowKey]uint32 // of streams from silent nodes, at the last scan
	waitedNs     int64                        // how long postcards wait for each other
}

func newSilenceDetector(s *scan, exporters *exporterDetector, links *linkDetector) *silenceDetector {
	return &silenceDetector{
		scan: s, exporters: exporters, links: links, pulses: map[uint32]*pulse{}, told: map[uint32]uint64{},
		missed: map[uint32]uint64{}, next: map[telemetry.FlowKey]uint32{},
	}
}

func (d *silenceDetector) begin() {
	clear(d.told)
	clear(d.missed)
}

// observe counts the packets of which nodes told, and those of which only nodes around them did.
func (d *silenceDetector) observe(o *Observation) {
	d.waitedNs = o.WaitedNs
	for i := range o.Paths {
		p := &o.Paths[i]
		if last := p.last(); (p.Streams.Any() || p.Numbers.Any()) && last.Has&telemetry.HasNode != 0 {
			if x := d.pulses[last.Node]; x != nil {
				x.sink = true
			}
		}
		if !p.Postcards || p.Uncertain {
			continue
		}
		whole, behind := p.N-min(p.Incomplete, p.N), uint64(0)
		for h := len(p.Hops) - 1; h >= 0; h-- {
			at := &p.Hops[h]
			if at.Has&telemetry.HasNode != 0 {
				d.told[at.Node] += whole + at.Parts
				d.missed[at.Node] += min(p.Incomplete-min(at.Parts, p.Incomplete), behind)
			}
			behind = max(behind, at.Parts)
		}
	}
}

func (d *silenceDetector) finish() {
	for _, x := range d.pulses {
		x.heard, x.listed = false, false
	}
	for _, accounts := range d.exporters.counts {
		for i := range accounts {
			if a := &accounts[i]; a.Key.HasNode {
				d.hear(a.Key.Node, a.LastNs)
			}
		}
	}
	advancing := map[telemetry.FlowKey]uint32{}
	for node, x := range d.pulses {
		if !x.listed { // its exporters were forgotten
			d.log.End(silenceOf(node), d.nowNs)
			delete(d.pulses, node)
			continue
		}
		if x.heard {
			d.log.End(silenceOf(node), x.lastNs)
			x.missing, x.noted = 0, 0
			x.told, x.missed = x.told*7/8+float64(d.told[node]), x.missed*7/8+float64(d.missed[node])
			continue
		}
		// else packets were joined since that came before its latest report
		if d.lastNs >= x.lastNs+d.waitedNs {
			x.missing += float64(d.missed[node]) * x.told / max(x.told+x.missed, 1)
		}
		silence := d.nowNs - x.lastNs
		if x.scans < loss.LeastScans || x.gapNs > longestGapNs {
			continue
		}
		flows := 0
		if x.sink && d.links.active[node] > 0 && silence >= x.gapNs+silentAfterNs/2 {
			var missing float64
			flows, missing = d.unanswered(node, x, advancing)
			x.missing += missing
		}
		if silence >= x.gapNs+silentAfterNs && x.missing >= silentReports {
			d.noteSilence(node, x, flows)
		}
	}
	d.next = advancing
}

// hear notes when the latest report of a node came.
func (d *silenceDetector) hear(node uint32, lastNs int64) {
	x := d.pulses[node]
	if x == nil {
		x = &pulse{lastNs: lastNs} // as bounded as the table of exporters
		d.pulses[node] = x
	}
	x.listed = true
	if lastNs <= x.lastNs {
		return
	}
	x.gapNs = max(x.gapNs-x.gapNs/256, lastNs-x.lastNs-d.nowNs+d.lastNs) // as exactly as scans are
	x.lastNs, x.heard = lastNs, true
	x.scans++
}

// unanswered looks for TCP streams that come in at a silent node and go on, as others report, while nothing tells of
// the packets that must have come back to it. It returns how many there are, and how many reports are missing since the
// last scan, as many came before.
func (d *silenceDetector) unanswered(node uint32, x *pulse, advancing map[telemetry.FlowKey]uint32) (int, float64) {
	var answers []telemetry.FlowKey // of streams that went on
	for _, owner := range d.source.Owners {
		for k, next := range owner.StreamsFrom(node, d.lastNs, maxAdvancing-len(advancing)) {
			advancing[k] = next
			if before, known := d.next[k]; known && int32(next-before) > 0 {
				k.Src, k.Dst, k.SrcPort, k.DstPort = k.Dst, k.Src, k.DstPort, k.SrcPort
				answers = append(answers, k)
			}
		}
	}
	flows, rate := 0, 0.0
	for _, owner := range d.source.Owners {
		n, r := owner.Ceased(answers, node, x.lastNs)
		flows, rate = flows+n, rate+r
	}
	return flows, rate * float64(d.nowNs-d.lastNs)
}

func silenceOf(node uint32) eventlog.Key {
	return eventlog.Key{Kind: telemetry.EventExporterSilent, Node: node}
}

// noteSilence notes that a node reports no more.
func (d *silenceDetector) noteSilence(node uint32, x *pulse, flows int) {
	all := uint64(math.Round(x.missing))
	d.log.Note(silenceOf(node), x.lastNs, d.nowNs, all-x.noted, func(e *telemetry.Event) {
		e.Severity = telemetry.Critical
		d.at(e, &topology.HopKey{Node: node, Has: telemetry.HasNode})
		e.Text = fmt.Sprintf("no reports come from %s any more, and packets still pass it", d.name(node))
		e.Evidence = append(e.Evidence, telemetry.Evidence{
			Name: "usual_gap", Value: float64(max(x.gapNs, 0)), Unit: "ns",
		})
		if flows > 0 {
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "streams", Value: float64(flows)})
		}
	})
	x.noted = all
}
