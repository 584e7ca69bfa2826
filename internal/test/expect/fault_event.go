package expect

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// A faultEvent is the event that a fault has to make, with INT-MD. Its beginning and end are exact to a look of the
// collector.
type faultEvent struct {
	subject
	fromNs, toNs int64
}

// faultKinds are the kinds of events that come of faults as such, and not of what happened to single packets.
var faultKinds = []telemetry.EventKind{
	telemetry.EventClockJump, telemetry.EventLatencyAnomaly, telemetry.EventLinkLost, telemetry.EventBlackhole,
	telemetry.EventECMPImbalance,
	telemetry.EventGrayFailure,
}

// faultEvents returns the events of all faults. One that does not end lasts to the end of the run.
func (c *Chronicle) faultEvents() (list []faultEvent) {
	for i, f := range c.truth.Faults {
		if f.Phase != "start" {
			continue
		}
		fromNs, endNs, healedNs := c.epochNs+f.TimeNs, c.epochNs+c.truth.End.TimeNs, c.epochNs+c.truth.End.TimeNs
		ended := false
		for _, later := range c.truth.Faults[i+1:] {
			if later.Fault != f.Fault {
				continue
			}
			if later.Phase == "start" {
				break // it comes again
			}
			if later.Phase == "end" {
				endNs, ended = c.epochNs+later.TimeNs, true
			} else if ended { // routes use what is whole again
				healedNs = c.epochNs + later.TimeNs
			}
		}
		add := func(s subject, fromNs, toNs int64) { list = append(list, faultEvent{s, fromNs, toNs}) }
		switch f.Kind {
		case "clock":
			add(subject{kind: telemetry.EventClockJump, node: f.Nodes[0]}, fromNs, fromNs)
		case "slow_switch":
			add(subject{kind: telemetry.EventLatencyAnomaly, node: f.Nodes[0]}, fromNs, endNs)
		case "gray_link": // both ways, named by the lower of its ends
			l := c.link(f.Link)
			s := subject{kind: telemetry.EventGrayFailure, node: l.NodeA, port: l.PortA, toNode: l.NodeB}
			if l.NodeB < l.NodeA {
				s.node, s.port, s.toNode = l.NodeB, l.PortB, l.NodeA
			}
			if lost := c.lostBetween(f.Link, fromNs, endNs); len(lost) > 0 { // else nothing tells of it
				add(s, lost[0].atNs, lost[len(lost)-1].atNs)
			}
		case "link_down":
			l := c.link(f.Link)
			add(subject{kind: telemetry.EventLinkLost, node: l.NodeA, port: l.PortA, toNode: l.NodeB}, fromNs, healedNs)
			add(subject{kind: telemetry.EventLinkLost, node: l.NodeB, port: l.PortB, toNode: l.NodeA}, fromNs, healedNs)
		case "blackhole":
			const routingMiss = 29
			add(subject{kind: telemetry.EventBlackhole, node: f.Nodes[0], reason: routingMiss}, fromNs, endNs)
		case "polarisation":
			for _, s := range c.polarised(fromNs) {
				add(s, fromNs, endNs)
			}
		}
	}
	return list
}

// lengthWithoutData is more bytes than a frame of TCP without data has, with all headers and a stack.
const lengthWithoutData = 300

// A grayLoss is a packet with data that a gray link lost.
type grayLoss struct {
	atNs int64
	link string
	flow uint32
}

// lostBetween are the packets that a gray link lost and that something tells of, the first first: with stacks only TCP
// says that a packet was lost, and only if there was data in it. Call it at the end of a run, when the protocols of all
// flows are known.
func (c *Chronicle) lostBetween(link string, fromNs, toNs int64) (list []grayLoss) {
	for _, l := range c.grayLosses {
		if l.link == link && l.atNs >= fromNs && l.atNs < toNs &&
			(c.options.Mode != MD || isTCP(c.truth.Flows[l.flow])) {
			list = append(list, l)
		}
	}
	return list
}

// isTCP reports whether a flow is one of TCP, in a tunnel or not.
func isTCP(f *truth.Flow) bool {
	const tcp = 6
	if f.Inner != nil {
		return f.Inner.Protocol == tcp
	}
	return f.Protocol == tcp
}

func (c *Chronicle) link(name string) *truth.Link {
	return c.truth.Links[slices.IndexFunc(c.truth.Links, func(l *truth.Link) bool { return l.Name == name })]
}

// polarised returns the ports that carry more than nine tenths of what they shared with others before a time.
func (c *Chronicle) polarised(sinceNs int64) (list []subject) {
	type group struct{ node, to uint32 }
	groups := map[group]map[uint32]uint64{} // packets since then by port
	for _, r := range c.routes {
		after := uint64(0)
		for startNs, n := range r.tens {
			if startNs >= sinceNs {
				after += n.Packets
			}
		}
		end := len(r.elements) - 1
		for _, s := range r.elements[:end] {
			k := group{s.node, r.elements[end].node}
			if groups[k] == nil {
				groups[k] = map[uint32]uint64{}
			}
			groups[k][s.out] += after
		}
	}
	ports, all := map[subject]uint64{}, map[uint32]uint64{}
	for k, byPort := range groups {
		for port, n := range byPort {
			if len(byPort) > 1 {
				ports[subject{kind: telemetry.EventECMPImbalance, node: k.node, port: port}] += n
				all[k.node] += n
			}
		}
	}
	for s, n := range ports {
		if 10*n > 9*all[s.node] {
			list = append(list, s)
		}
	}
	return list
}

// faultDifferences returns where events are not those of the faults.
func (c *Chronicle) faultDifferences(events []telemetry.Event) (list []string) {
	want := c.faultEvents()
	for i := range events {
		e := &events[i]
		if !slices.Contains(faultKinds, e.Kind) {
			continue
		}
		at := slices.IndexFunc(want, func(w faultEvent) bool { return w.is(e, c.epochNs+c.truth.End.TimeNs) })
		switch {
		case at >= 0:
			want = slices.Delete(want, at, at+1)
		case e.Kind != telemetry.EventBlackhole || !c.cutOff(e):
			list = append(list, fmt.Sprintf("%v from %v to %v is of no fault: %s", e.Kind, e.Start, e.End, e.Text))
			continue
		}
		if e.Kind == telemetry.EventBlackhole {
			if n := c.droppedAt(e); n != e.Count {
				list = append(list, fmt.Sprintf("%s: got %d packets, want %d", e.Text, e.Count, n))
			}
		}
	}
	for _, w := range want {
		list = append(list,
			fmt.Sprintf("missed: %v %+v from %v to %v", w.kind, w.subject, time.Unix(0, w.fromNs).UTC(),
				time.Unix(0, w.toNs).UTC()))
	}
	return list
}

// is reports whether an event is that of a fault: about the same, at the same time to a look, or as much earlier or
// later as it says that it may be. It goes on only if the fault lasts to the end of the run.
func (w *faultEvent) is(e *telemetry.Event, runEndsNs int64) bool {
	if subjectOf(e) != w.subject {
		return false
	}
	slackNs := func(name string) (ns int64) {
		for _, evidence := range e.Evidence {
			if evidence.Name == name {
				ns = int64(evidence.Value * 1e9)
			}
		}
		return ns
	}
	startNs := e.Start.UnixNano()
	if w.fromNs < startNs-slackNs("start_slack")-scanNs || w.fromNs > startNs+scanNs {
		return false
	}
	if e.End == nil {
		return w.toNs == runEndsNs
	}
	endNs := e.End.UnixNano()
	return w.toNs >= endNs-scanNs && w.toNs <= endNs+slackNs("end_slack")+scanNs
}

// cutOff reports whether a blackhole is where the network was cut in two: a link is down, and its node dropped packets
// from about its start on to about its end, since it had no way for them.
func (c *Chronicle) cutOff(e *telemetry.Event) bool {
	isDown := slices.ContainsFunc(c.truth.Faults, func(f *truth.Fault) bool {
		return f.Kind == "link_down" && f.Phase == "start" && c.epochNs+f.TimeNs <= e.Start.UnixNano()+scanNs
	})
	s := subjectOf(e)
	s.kind = telemetry.EventDropStorm
	during, first, last := faultEvent{subject: subjectOf(e)}, int64(math.MaxInt64), int64(0)
	for _, o := range c.occasions[s] {
		first, last = min(first, o.atNs), max(last, o.atNs)
	}
	during.fromNs, during.toNs = first, last
	return isDown && during.is(e, last)
}

// droppedAt returns how many packets a switch dropped for the reason of an event while that lasted.
func (c *Chronicle) droppedAt(e *telemetry.Event) (n uint64) {
	s := subjectOf(e)
	s.kind = telemetry.EventDropStorm
	for _, o := range c.occasions[s] {
		if o.atNs >= e.Start.UnixNano() && (e.End == nil || o.atNs <= e.End.UnixNano()) {
			n += o.n
		}
	}
	return n
}

// EventDifferences returns where events of a whole run are not what the network knows of itself, as text; call it
// behind Intervals. Those of bursts are not looked at.
func (c *Chronicle) EventDifferences(events []telemetry.Event) []string {
	list := append(c.occasionDifferences(events), c.faultDifferences(events)...)
	for i := range events {
		e := &events[i]
		_, ruled := occasionRules[e.Kind]
		if !ruled && !slices.Contains(faultKinds, e.Kind) && !IsBurst(e) {
			list = append(list,
				fmt.Sprintf("%v from %v to %v: no network here makes such events: %s", e.Kind, e.Start, e.End, e.Text))
		}
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}

// IsBurst reports whether an event tells of a burst.
func IsBurst(e *telemetry.Event) bool {
	return e.Kind == telemetry.EventMicroburst || e.Kind == telemetry.EventIncast
}
