package analyze

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/analyze/scan"
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
	unmet        bool     // no packet met it: it need not be told

	// What it did: when packets met it first and last, those that it cost, and the flows that lost some, moved, or
	// waited in a queue.
	firstNs, lastNs int64
	fullNs          int64 // when the queues that it filled were short again
	drops           map[*truth.Drop]bool
	flows           map[string]bool
}

// An incidentScore says how right incidents are.
type incidentScore struct {
	faults, found int // that one incident tells of, and no other
	told, right   int // incidents that need somebody
	// how far begins are from when packets met the fault first, and from when it was made, and ends from when they met
	// it last
	startNs, madeNs, endNs int64
	// of faults that cost packets: those whose packets and flows are said to be known, and are exact, and those of
	// which they are said to be lower bounds, and are
	known, exact, bounds, below int
	// of either kind, those that are not so, but for those of loops and of links that failed: what fills queues beside
	// a loop, and where the traffic of a link goes, is theirs too, and the truth does not say so
	wrong int
}

func (s *incidentScore) add(o incidentScore) {
	s.faults, s.found, s.told, s.right = s.faults+o.faults, s.found+o.found, s.told+o.told, s.right+o.right
	s.startNs, s.madeNs, s.endNs = max(s.startNs, o.startNs), max(s.madeNs, o.madeNs), max(s.endNs, o.endNs)
	s.known, s.exact, s.bounds, s.below = s.known+o.known, s.exact+o.exact, s.bounds+o.bounds, s.below+o.below
	s.wrong += o.wrong
}

// A faultTruth gathers what is needed of a run to know its faults.
type faultTruth struct {
	faults  []fault
	hidden  []uint32 // switches without INT
	links   map[string][]uint32
	hosts   map[string]uint32
	ports   map[[2]uint32]string // their link, by node and port
	ends    map[uint32]string    // of flows
	to      map[uint32]string    // addresses
	drops   []*truth.Drop
	lost    map[uint32][]int64 // by node, when its reports were lost
	paths   map[uint32][]*truth.Path
	bursts  []*truth.Burst
	address map[string][]string // of hosts
}

// faultsOf returns the faults of a run that packets met, and what was needed to know them.
func faultsOf(v *virtualCollector) ([]fault, *faultTruth) {
	t := &faultTruth{
		links: map[string][]uint32{}, hosts: map[string]uint32{}, ports: map[[2]uint32]string{},
		ends: map[uint32]string{}, to: map[uint32]string{}, lost: map[uint32][]int64{},
		paths: map[uint32][]*truth.Path{}, address: map[string][]string{},
	}
	open := map[int]int{}
	end := int64(0)
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Link:
			t.links[r.Name] = []uint32{r.NodeA, r.NodeB}
			t.ports[[2]uint32{r.NodeA, r.PortA}], t.ports[[2]uint32{r.NodeB, r.PortB}] = r.Name, r.Name
		case *truth.Switch:
			if !r.INT {
				t.hidden = append(t.hidden, r.Node)
			}
		case *truth.Report:
			if r.Lost {
				t.lost[r.Node] = append(t.lost[r.Node], r.TimeNs)
			}
		case *truth.Drop:
			t.drops = append(t.drops, r)
		case *truth.Path:
			t.paths[r.Flow] = append(t.paths[r.Flow], r)
		case *truth.Burst:
			t.bursts = append(t.bursts, r)
		case *truth.Flow:
			t.ends[r.Flow], t.to[r.Flow] = truthEnds(r), r.Dst
		case *truth.Host:
			t.hosts[r.Name] = r.Node
			t.address[r.Name] = []string{r.Address, r.Address6}
		case *truth.End:
			end = r.TimeNs
		case *truth.Fault:
			if faultCauses[r.Kind] == nil {
				return
			}
			at, begun := open[r.Fault]
			switch {
			case r.Phase == "start":
				open[r.Fault] = len(t.faults)
				f := fault{Fault: r, fromNs: r.TimeNs, toNs: 1 << 62, nodes: r.Nodes}
				if r.Link != "" {
					f.nodes = t.links[r.Link]
				}
				if r.Kind == "ddos" {
					f.nodes = []uint32{t.hosts[r.Hosts[len(r.Hosts)-1]]}
				}
				t.faults = append(t.faults, f)
			case begun && (r.Phase == "end" || t.faults[at].toNs != 1<<62):
				t.faults[at].toNs = r.TimeNs
			}
		}
	})
	for i := range t.faults {
		t.faults[i].toNs = min(t.faults[i].toNs, end)
		t.measure(&t.faults[i])
		t.faults[i].nodes = t.around(t.faults[i].nodes)
	}
	// A link that no packet met when it failed is as silent as before, unless flows that left it tell.
	for i := range t.faults {
		t.faults[i].unmet = t.faults[i].Kind == "link_down" && len(t.faults[i].drops) == 0
	}
	return slices.DeleteFunc(t.faults, func(f fault) bool { // a node that reports nothing loses none
		return f.Kind == "report_loss" && len(f.nodes) > 0 && t.lost[f.nodes[0]] == nil
	}), t
}

// unseen reports whether an incident is of what switches without INT do: they are there, and their queues may be full.
func (t *faultTruth) unseen(n *telemetry.Incident, startNs int64) bool {
	switch n.Kind {
	case telemetry.EventHopWithoutINT:
		return len(t.hidden) > 0
	case telemetry.EventGrayFailure, telemetry.EventLatencyAnomaly:
		from, to := n.Start.UnixNano()-startNs, int64(1<<62)
		if n.End != nil {
			to = n.End.UnixNano() - startNs
		}
		return slices.ContainsFunc(t.bursts, func(b *truth.Burst) bool {
			return slices.Contains(t.hidden, b.Node) && b.StartNs <= to && b.EndNs >= from-scan.ScanNs
		})
	}
	return false
}

// around returns nodes, and those behind switches without INT: what these do is told of as between their neighbours.
func (t *faultTruth) around(nodes []uint32) []uint32 {
	nodes = slices.Clone(nodes)
	for i := 0; i < len(nodes); i++ {
		for _, ends := range t.links {
			at := slices.Index(ends, nodes[i])
			if at < 0 || !slices.Contains(t.hidden, nodes[i]) {
				continue
			}
			if other := ends[1-at]; other != 0 && !slices.Contains(nodes, other) {
				nodes = append(nodes, other)
			}
		}
	}
	return nodes
}

// measure fills in what a fault did.
func (t *faultTruth) measure(f *fault) {
	f.firstNs, f.lastNs, f.drops, f.flows = f.fromNs, f.toNs, map[*truth.Drop]bool{}, map[string]bool{}
	var at []int64
	queues := t.queues(f)
	f.fullNs = t.fullUntil(f, queues)
	for _, d := range t.drops {
		atQueue := d.Place == "queue" && queues[[2]uint32{d.Node, d.Out}] && d.TimeNs <= f.fullNs
		if d.TimeNs >= f.fromNs && d.TimeNs <= f.toNs+scan.ScanNs && (t.dropped(f, d) || atQueue) {
			at = append(at, d.TimeNs)
			f.drops[d] = true
			f.flows[t.ends[d.Flow]] = true
		}
	}
	for _, b := range t.bursts {
		if queues[[2]uint32{b.Node, b.Port}] && b.StartNs <= f.fullNs && b.EndNs >= f.fromNs {
			for _, flow := range b.Flows {
				f.flows[t.ends[flow.Flow]] = true
			}
		}
	}
	switch f.Kind {
	case "link_down": // that is one until routes know better
		t.moved(f)
		return
	case "ddos": // the queue is long before it drops
		at = append(at, f.fromNs)
	case "report_loss":
		for node, moments := range t.lost {
			if len(f.nodes) == 0 || slices.Contains(f.nodes, node) {
				at = append(at, moments...)
			}
		}
	}
	if len(at) > 0 {
		f.firstNs, f.lastNs = slices.Min(at), slices.Max(at)
	}
}

// pauseNs is how long a queue is short for what fills it then to be something else.
const pauseNs = int64(time.Second) / 4

// fullUntil returns when the queues that a fault filled are short again for a while: what it leaves in one when it is
// repaired goes on to the next, and who waited comes at once.
func (t *faultTruth) fullUntil(f *fault, queues map[[2]uint32]bool) int64 {
	untilNs, full := f.toNs, map[[2]uint32]int64{}
	for again := true; again; {
		again = false
		for _, b := range t.bursts {
			k := [2]uint32{b.Node, b.Port}
			same, known := full[k]
			goesOn := b.StartNs <= untilNs || known && b.StartNs <= same+pauseNs
			if queues[k] && b.EndNs > max(same, f.fromNs) && goesOn {
				full[k], again = b.EndNs, true
				untilNs = max(untilNs, b.EndNs)
			}
		}
	}
	return untilNs
}

// queues returns the queues that a fault fills, by node and port: those in which packets of a flood were dropped, or at
// the nodes of a loop.
func (t *faultTruth) queues(f *fault) map[[2]uint32]bool {
	queues := map[[2]uint32]bool{}
	if f.Kind == "loop" {
		for _, b := range t.bursts {
			if slices.Contains(f.nodes, b.Node) {
				queues[[2]uint32{b.Node, b.Port}] = true
			}
		}
	}
	if f.Kind == "ddos" {
		target := t.address[f.Hosts[len(f.Hosts)-1]]
		for _, d := range t.drops {
			if d.Place == "queue" && slices.Contains(target, t.to[d.Flow]) && d.TimeNs >= f.fromNs &&
				d.TimeNs <= f.toNs {
				queues[[2]uint32{d.Node, d.Out}] = true
			}
		}
	}
	return queues
}

// dropped reports whether a fault is why a packet was dropped.
func (t *faultTruth) dropped(f *fault, d *truth.Drop) bool {
	switch f.Kind {
	case "ddos": // by a filter against it
		return d.Reason == "acl_deny" && slices.Contains(t.address[f.Hosts[len(f.Hosts)-1]], t.to[d.Flow])
	case "link_down":
		other := func(o fault) bool { return o.Kind == "blackhole" && d.TimeNs >= o.fromNs && d.TimeNs <= o.toNs }
		return (d.Reason == "port_down" || d.Reason == "link_down") &&
			(d.Link == f.Link || t.ports[[2]uint32{d.Node, d.Out}] == f.Link) ||
			d.Reason == "routing_miss" && !slices.ContainsFunc(t.faults, other) // there is no other way
	case "gray_link":
		return d.Reason == "gray_link" && d.Link == f.Link
	case "blackhole":
		return d.Reason == "routing_miss" && slices.Contains(f.nodes, d.Node)
	case "loop":
		return d.Reason == "ttl" && slices.Contains(f.nodes, d.Node)
	}
	return false
}

// moved adds the flows that took another path while a link was down, or as it was back.
func (t *faultTruth) moved(f *fault) {
	byEnds := map[string][]*truth.Path{}
	for flow, list := range t.paths {
		byEnds[t.ends[flow]] = append(byEnds[t.ends[flow]], list...)
	}
	for ends, list := range byEnds {
		list = slices.DeleteFunc(list, truthLoops)
		slices.SortStableFunc(list, func(a, b *truth.Path) int { return cmp.Compare(a.FromNs, b.FromNs) })
		for i := 1; i < len(list); i++ {
			_, parts := partingOf(list[i-1], list[i])
			if parts && list[i].FromNs >= f.fromNs && list[i].FromNs <= f.toNs+scan.QuietNs {
				f.flows[ends] = true
			}
		}
	}
}

// tells reports whether an incident may be that of a fault.
func (f *fault) tells(n *telemetry.Incident, startNs int64) bool {
	from, to := n.Start.UnixNano()-startNs, int64(1<<62)
	if n.End != nil {
		to = n.End.UnixNano() - startNs
	}
	if isBurst(n.Kind) && from > f.fullNs { // another one, without a fault
		return false
	}
	at := func(node *uint32) bool { return node != nil && slices.Contains(f.nodes, *node) }
	here := at(n.Node) || at(n.ToNode)
	if f.Link != "" && n.Node != nil && n.ToNode != nil { // another link of a node is another one
		here = at(n.Node) && at(n.ToNode)
	}
	return slices.Contains(faultCauses[f.Kind], n.Kind) && from <= f.toNs+scan.ScanNs && to >= f.fromNs-scan.ScanNs &&
		(len(f.nodes) == 0 || here)
}

// isWith reports whether two faults are one to whoever sees what they do: floods of a host, and what a link or a node
// does twice.
func (f *fault) isWith(o *fault) bool {
	return f.Kind == o.Kind && (f.Kind == "ddos" || f.Kind != "report_loss" && slices.Equal(f.nodes, o.nodes))
}

// scoreIncidents compares the incidents of a run with its faults. Queues that overflow without one, as traffic goes,
// make incidents too, and these are right as their events are.
func scoreIncidents(t *testing.T, v *virtualCollector, events []telemetry.Event) (s incidentScore) {
	t.Helper()
	faults, all := faultsOf(v)
	told := make([]int, len(faults))
	list := incident.Of(events, nil)
	for i := range list {
		n := &list[i]
		if n.Severity == telemetry.Info {
			continue
		}
		of := slices.IndexFunc(faults, func(f fault) bool { return f.tells(n, v.start) })
		if of < 0 && (isBurst(n.Kind) || n.Kind == telemetry.EventDropStorm || all.unseen(n, v.start)) {
			continue
		}
		s.told++
		if of < 0 {
			t.Logf("no fault: %v to %v %v: %s", n.Start, n.End, n.Kind, n.Text)
			continue
		}
		s.right++
		for i := range faults {
			one := faults[i].Kind == "report_loss" || faults[of].isWith(&faults[i])
			if i == of || one && faults[i].tells(n, v.start) {
				told[i]++
			}
		}
		if !faults[of].unmet {
			s.measure(t, n, faults, of, v.start)
		}
	}
	for i, f := range faults {
		if f.unmet && told[i] == 0 {
			continue
		}
		s.faults++
		if told[i] == 1 {
			s.found++
		} else {
			t.Logf("%d incidents tell of %s at %.1f s", told[i], f.Kind, float64(f.fromNs)/1e9)
		}
	}
	return s
}

// measure compares begin, end and extent of an incident with those of its fault, and of those that are one with it.
func (s *incidentScore) measure(t *testing.T, n *telemetry.Incident, faults []fault, of int, startNs int64) {
	t.Helper()
	f := faults[of]
	f.drops, f.flows = maps.Clone(f.drops), maps.Clone(f.flows)
	for i := range faults {
		if o := &faults[i]; f.isWith(o) && o.tells(n, startNs) {
			f.firstNs, f.fromNs, f.lastNs = min(f.firstNs, o.firstNs), min(f.fromNs, o.fromNs), max(f.lastNs, o.lastNs)
			maps.Copy(f.drops, o.drops)
			maps.Copy(f.flows, o.flows)
		}
	}
	from := n.Start.UnixNano() - startNs
	s.startNs = max(s.startNs, from-f.firstNs, f.firstNs-from)
	s.madeNs = max(s.madeNs, from-f.fromNs, f.fromNs-from)
	if n.End != nil && f.Kind != "clock" { // it jumped, and stays where it is
		end := n.End.UnixNano() - startNs
		s.endNs = max(s.endNs, end-f.lastNs, f.lastNs-end)
	}
	if len(f.drops) == 0 {
		return
	}
	packets, flows := uint64(len(f.drops)), uint64(len(f.flows))
	exact := n.PacketsLost == packets && n.FlowsHit == flows
	switch {
	case slices.Contains(n.AtLeast, "flows_hit") || slices.Contains(n.AtLeast, "packets_hit"):
		s.bounds++
		if n.PacketsLost <= packets && n.FlowsHit <= flows {
			s.below++
			return
		}
	case exact:
		s.known++
		s.exact++
		return
	default:
		s.known++
	}
	if f.Kind != "loop" && f.Kind != "link_down" {
		s.wrong++
	}
	t.Logf("%s: got %d packets lost and %d flows hit, want %d and %d (at least %v): %s", f.Kind, n.PacketsLost,
		n.FlowsHit, packets, flows, n.AtLeast, n.Text)
}
