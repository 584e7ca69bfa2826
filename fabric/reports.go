package fabric

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
)

// A Sink takes the telemetry reports that reach the collector.
type Sink interface {
	// Report takes a report, an Ethernet frame, at a wall time in nanoseconds since 1970. It must not keep frame.
	Report(atNs uint64, frame []byte) error

	// Flush hands on what is kept. It is called before the fabric waits for the wall clock, and at the end of Run.
	Flush() error
}

// A reportLoss is a fault that throws reports away.
type reportLoss struct {
	nodes  map[*node]bool // empty: all
	every  uint64
	share  float64
	random *rand.Rand
	count  uint64
}

func (f *Fabric) newReportLoss(fault int, r *scenario.ReportLoss) *reportLoss {
	l := &reportLoss{
		nodes: map[*node]bool{}, every: uint64(r.Every), share: float64(r.Drop),
		random: f.random(fmt.Sprintf("report loss %d", fault)),
	}
	for _, name := range r.Nodes {
		l.nodes[f.names[name]] = true
	}
	return l
}

func (l *reportLoss) begin(f *Fabric) { f.reportLosses = append(f.reportLosses, l) }

func (l *reportLoss) end(f *Fabric) {
	f.reportLosses = slices.DeleteFunc(f.reportLosses, func(o *reportLoss) bool { return o == l })
}

// takes says whether the next report of a switch is thrown away.
func (l *reportLoss) takes(n *node) bool {
	if len(l.nodes) > 0 && !l.nodes[n] {
		return false
	}
	if l.every > 0 {
		l.count++
		return l.count%l.every == 0
	}
	return l.random.Float64() < l.share
}

// sendReports sends what a telemetry device has reported; p is the packet that it saw, nil if time made it report.
func (f *Fabric) sendReports(n *node, r *Reports, p *parcel) {
	for i := range r.Len() {
		f.sendReport(n, r.At(i), p)
	}
}

func (f *Fabric) sendReport(n *node, frame []byte, p *parcel) {
	n.reports++
	f.stats.Reports++
	lost := false
	for _, l := range f.reportLosses {
		lost = l.takes(n) || lost
	}
	if f.truth != nil {
		t := &f.scratch.report
		*t = truth.Report{Lost: lost, TimeNs: f.nowNs, Node: n.id, Number: n.reports, Length: len(frame)}
		if p != nil {
			t.Packet, t.CopyOf, t.Flow = p.id, p.copied, p.flow.id
		}
		f.truth.Write(t)
	}
	if lost {
		f.stats.ReportsLost++
		return
	}
	if f.sink != nil {
		if err := f.sink.Report(f.epochNs+uint64(f.nowNs+f.reportDelayNs), frame); err != nil {
			f.fail(fmt.Errorf("telemetry reports: %w", err))
		}
	}
}
