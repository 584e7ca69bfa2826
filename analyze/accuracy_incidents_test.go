package analyze

import (
	"slices"
	"testing"

	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// faultCauses are the kinds of events that may stand for a fault of the fabric as the cause of its incident. Those that
// are not here, such as a filter against a flood, are answers to others.
var faultCauses = map[string][]telemetry.EventKind{
	"link_down": {telemetry.EventLinkLost}, "gray_link": {telemetry.EventGrayFailure},
	"blackhole": {telemetry.EventBlackhole}, "loop": {telemetry.EventLoop},
	"slow_switch": {telemetry.EventLatencyAnomaly}, "clock": {telemetry.EventClockJump},
	"polarisation": {telemetry.EventECMPImbalance}, "report_loss": {telemetry.EventReportLoss},
	"ddos": {telemetry.EventMicroburst, telemetry.EventIncast, telemetry.EventDropStorm},
}

// A fault is what was broken in a run, from when it was until it is repaired and routes know.
type fault struct {
	*truth.Fault
	fromNs, toNs int64
	nodes        []uint32 // it is at one of these; none: anywhere
}

// An incidentScore says how right incidents are.
type incidentScore struct {
	faults, found int // that one incident tells of, and no other
	told, right   int // incidents that need somebody
	startNs       int64
}

func (s *incidentScore) add(o incidentScore) {
	s.faults, s.found, s.told, s.right = s.faults+o.faults, s.found+o.found, s.told+o.told, s.right+o.right
	s.startNs = max(s.startNs, o.startNs)
}

// faultsOf returns the faults of a run that packets met, and whether it has switches without INT.
func faultsOf(v *virtualCollector) (list []fault, hidden bool) {
	links, hosts := map[string][]uint32{}, map[string]uint32{}
	ports, cut := map[[2]uint32]string{}, map[string]bool{}
	lost := map[uint32]bool{} // nodes of which reports were lost
	open := map[int]int{}
	end := int64(0)
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Link:
			links[r.Name] = []uint32{r.NodeA, r.NodeB}
			ports[[2]uint32{r.NodeA, r.PortA}], ports[[2]uint32{r.NodeB, r.PortB}] = r.Name, r.Name
		case *truth.Switch:
			hidden = hidden || !r.INT
		case *truth.Report:
			lost[r.Node] = lost[r.Node] || r.Lost
		case *truth.Drop:
			if r.Reason == "port_down" || r.Reason == "link_down" {
				cut[ports[[2]uint32{r.Node, r.Out}]] = true
			}
		case *truth.Host:
			hosts[r.Name] = r.Node
		case *truth.End:
			end = r.TimeNs
		case *truth.Fault:
			if faultCauses[r.Kind] == nil {
				return
			}
			at, begun := open[r.Fault]
			switch {
			case r.Phase == "start":
				open[r.Fault] = len(list)
				f := fault{Fault: r, fromNs: r.TimeNs, toNs: 1 << 62, nodes: r.Nodes}
				if r.Link != "" {
					f.nodes = links[r.Link]
				}
				if r.Kind == "ddos" {
					f.nodes = []uint32{hosts[r.Hosts[len(r.Hosts)-1]]}
				}
				list = append(list, f)
			case begun && (r.Phase == "end" || list[at].toNs != 1<<62):
				list[at].toNs = r.TimeNs
			}
		}
	})
	for i := range list {
		list[i].toNs = min(list[i].toNs, end)
	}
	// A link that nobody used when it failed is as silent as before, and so is a node that reports nothing.
	return slices.DeleteFunc(list, func(f fault) bool {
		return f.Kind == "link_down" && !cut[f.Link] ||
			f.Kind == "report_loss" && len(f.nodes) > 0 && !lost[f.nodes[0]]
	}), hidden
}

// tells reports whether an incident may be that of a fault.
func (f *fault) tells(n *telemetry.Incident, startNs int64) bool {
	from, to := n.Start.UnixNano()-startNs, int64(1<<62)
	if n.End != nil {
		to = n.End.UnixNano() - startNs
	}
	at := func(node *uint32) bool { return node != nil && slices.Contains(f.nodes, *node) }
	return slices.Contains(faultCauses[f.Kind], n.Kind) && from <= f.toNs+ScanNs && to >= f.fromNs-ScanNs &&
		(len(f.nodes) == 0 || at(n.Node) || at(n.ToNode))
}

// scoreIncidents compares the incidents of a run with its faults. Queues that overflow without one, as traffic goes,
// make incidents too, and these are right as their events are.
func scoreIncidents(t *testing.T, v *virtualCollector, events []telemetry.Event) (s incidentScore) {
	t.Helper()
	faults, hidden := faultsOf(v)
	told := make([]int, len(faults))
	list := incident.Of(events)
	for i := range list {
		n := &list[i]
		if n.Severity == telemetry.Info {
			continue
		}
		of := slices.IndexFunc(faults, func(f fault) bool { return f.tells(n, v.start) })
		if of < 0 && (isBurst(n.Kind) || n.Kind == telemetry.EventDropStorm ||
			hidden && n.Kind == telemetry.EventHopWithoutINT) {
			continue
		}
		s.told++
		if of < 0 {
			t.Logf("no fault: %v to %v %v: %s", n.Start, n.End, n.Kind, n.Text)
			continue
		}
		s.right++
		// lost reports of two faults at once are one loss of reports, and floods of a host one flood
		for i := range faults {
			one := faults[i].Kind == "report_loss" || faults[i].Kind == "ddos" && faults[of].Kind == "ddos"
			if i == of || one && faults[i].tells(n, v.start) {
				told[i]++
			}
		}
		from := n.Start.UnixNano() - v.start
		s.startNs = max(s.startNs, from-faults[of].fromNs, faults[of].fromNs-from)
	}
	for i, f := range faults {
		s.faults++
		if told[i] == 1 {
			s.found++
		} else {
			t.Logf("%d incidents tell of %s at %.1f s", told[i], f.Kind, float64(f.fromNs)/1e9)
		}
	}
	return s
}
