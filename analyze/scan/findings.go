package scan

import (
	"fmt"
	"slices"
	"sync"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A findingDetector notes what owners found by themselves.
type findingDetector struct {
	*scan
	links     *linkDetector
	exporters *exporterDetector
	found     map[eventlog.Key]*finding.Sum // in this scan
}

func (d *findingDetector) begin() { clear(d.found) }

func (d *findingDetector) finish() {
	neighbours := sync.OnceValue(d.links.neighbours)
	for key, found := range d.found {
		if key.Kind == telemetry.EventHopWithoutINT && d.toldInVain(found, neighbours()) {
			continue
		}
		d.log.Note(key, found.Since, found.Last, found.Count, func(e *telemetry.Event) { d.describe(e, found) })
		d.log.FillBytes(key, func(e *telemetry.Event) { d.example(e, found) })
	}
	d.noteRates()
}

// toldInVain reports whether a node next to one of the ends of a gap tells of other packets, and reports of it were
// lost since the gap was seen first, or shortly before: it told of these packets, too.
func (d *findingDetector) toldInVain(f *finding.Sum, neighbours map[dropEnd]uint32) bool {
	behind, known := neighbours[dropEnd{f.Node, f.Port}]
	before, alsoKnown := neighbours[dropEnd{f.ToNode, f.ToPort}]
	return known && behind != f.ToNode && d.exporters.lostSince(behind, f.Since) ||
		alsoKnown && before != f.Node && d.exporters.lostSince(before, f.Since)
}

// noteRates notes nodes whose stamps count no nanoseconds.
func (d *findingDetector) noteRates() {
	for node, times := range d.source.Timing.WrongRates() {
		d.log.Note(eventlog.Key{Kind: telemetry.EventImplausible, Node: node, Reason: uint8(finding.WrongRate)},
			d.lastNs,
			d.nowNs, 1, func(e *telemetry.Event) {
				e.Severity = telemetry.Warning
				d.at(e, &topology.HopKey{Node: node, Has: telemetry.HasNode})
				e.Text = fmt.Sprintf(
					"%s: timestamps go %.3g times as fast as time; their unit is another, see the dialect",
					d.name(node), times)
				e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "times", Value: times})
			})
	}
}

func (d *findingDetector) observe(o *Observation) {
	for i := range o.Findings {
		d.take(&o.Findings[i])
	}
}

// take adds what one owner found of one event.
func (d *findingDetector) take(f *Finding) {
	key := eventlog.Key{
		Kind: f.Kind, Node: f.Node, Port: f.Port, ToNode: f.ToNode, ToPort: f.ToPort,
		Reason: uint8(f.Why), Rule: f.Rule + 1,
	}
	all := d.found[key]
	if all == nil {
		all = &finding.Sum{Rule: f.RuleName}
		d.found[key] = all
	}
	if all.Add(&f.Finding) {
		all.Nodes = f.Route
	}
}

// describe fills in a new event.
func (d *findingDetector) describe(e *telemetry.Event, f *finding.Sum) {
	d.at(e, &topology.HopKey{Node: f.Node, Out: f.Port, Has: f.Has})
	if f.ToHas != 0 {
		d.to(e, &topology.HopKey{Node: f.ToNode, In: f.ToPort, Has: f.ToHas})
	}
	f.Describe(e, finding.Names{Node: d.place, Port: d.portName})
}

// example gives an event a flow that it is about, its path, and a report of it.
func (d *findingDetector) example(e *telemetry.Event, f *finding.Sum) {
	e.Bytes = f.Datagram
	if f.HasFlow {
		flow := telemetry.EndpointsOf(&f.Flow)
		e.Flow = &flow
	}
	if f.Path != 0 {
		e.Path, e.PathNodes = topology.PathID(f.Path), nil
	}
	for i := range f.Nodes {
		e.PathNodes = append(e.PathNodes, d.nodeText(&f.Nodes[i]))
	}
}

// place names a node that may not be known.
func (s *scan) place(node uint32, has telemetry.Fields) string {
	if has&telemetry.HasNode == 0 {
		return "an unknown node"
	}
	return s.name(node)
}

// nodeText returns the name or the number of the node at an element, and "?" for each that is not known.
func (s *scan) nodeText(at *topology.HopKey) string {
	if at.Has&telemetry.HasNode == 0 {
		return string(slices.Repeat([]byte{'?'}, max(int(at.Missing), 1)))
	}
	if name := s.source.Names()[at.Node]; name != "" {
		return name
	}
	return fmt.Sprint(at.Node)
}
