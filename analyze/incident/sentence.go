package incident

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

func (e *event) evidence(name string) float64 {
	for i := range e.Evidence {
		if e.Evidence[i].Name == name {
			return e.Evidence[i].Value
		}
	}
	return 0
}

// sentence says what broke, for how long, and what it cost.
func sentence(root *event, chain []*event, n *telemetry.Incident) string {
	text := root.Text
	switch root.Kind {
	case telemetry.EventLinkLost:
		text = linkSentence(root, chain)
	case telemetry.EventMicroburst, telemetry.EventIncast:
		text = queueSentence(root, chain)
	case telemetry.EventECMPImbalance:
		if nodes := nodesOf(chain, root.Kind); nodes > 1 {
			text = fmt.Sprintf("%d nodes load their ports unevenly; the first: %s", nodes, root.Text)
		}
	case telemetry.EventReportLoss:
		if exporters := nodesOf(chain, root.Kind); exporters > 1 {
			text = fmt.Sprintf("reports of %d exporters were lost on the way here", exporters)
		}
	}
	var cost []string
	atLeast := func(name, what string) string {
		if slices.Contains(n.AtLeast, name) {
			return "at least " + what
		}
		return what
	}
	lost := atLeast(packetsLost, count(n.PacketsLost, "packet")+" lost")
	if n.PacketsLost > 0 && (root.Kind != telemetry.EventDropStorm || lost[0] == 'a' || n.PacketsLost != root.Count) {
		cost = append(cost, lost)
	}
	if n.FlowsMoved > 0 && root.Kind != telemetry.EventPathChange {
		cost = append(cost, atLeast("flows_moved", count(n.FlowsMoved, "change")+" of paths"))
	}
	if len(cost) == 0 {
		return text
	}
	return text + ": " + strings.Join(cost, ", ")
}

// linkSentence says that a link is down where a port dropped packets for that: it is as silent if all its traffic was
// moved away.
func linkSentence(root *event, chain []*event) string {
	both, state := false, "carries nothing"
	for _, e := range chain {
		if e.Cause == "egress_link_down" || e.Kind == telemetry.EventLinkLost && e.Count > 0 {
			state = "down"
		}
		both = both || e.Kind == telemetry.EventLinkLost && same(e.Node, root.ToNode) && same(e.ToNode, root.Node)
	}
	if !both {
		return fmt.Sprintf("link from %s to %s %s%s", nameOf(root.Name, root.Node),
			nameOf(root.ToName, root.ToNode), state, lasted(root))
	}
	a, b := nameOf(root.Name, root.Node), nameOf(root.ToName, root.ToNode)
	if *root.ToNode < *root.Node {
		a, b = b, a
	}
	return fmt.Sprintf("link %s-%s %s%s", a, b, state, lasted(root))
}

func queueSentence(root *event, chain []*event) string {
	times, peak := 0, telemetry.Evidence{}
	for _, e := range chain {
		if e.Kind != telemetry.EventMicroburst && e.Kind != telemetry.EventIncast {
			continue
		}
		times++
		for _, v := range e.Evidence {
			if v.Name == "peak" && v.Value > peak.Value {
				peak = v
			}
		}
	}
	where := "queue of " + nameOf(root.Name, root.Node)
	switch {
	case root.PortName != "":
		where += " " + root.PortName
	case root.Port != nil:
		where += fmt.Sprintf(" port %d", *root.Port)
	}
	if times > 1 {
		return fmt.Sprintf("%s peaked %d times, at up to %s", where, times, amount(peak.Value, peak.Unit))
	}
	filled := ""
	if n := root.evidence("culprits"); n > 0 {
		filled = ", filled by " + count(uint64(n), "flow")
	}
	if peak.Value == 0 {
		return fmt.Sprintf("%s was congested%s%s", where, lasted(root), filled)
	}
	return fmt.Sprintf("%s peaked at %s%s%s", where, amount(peak.Value, peak.Unit), lasted(root), filled)
}

// amount returns a number with its unit, of bytes with three digits: 502 kB.
func amount(v float64, unit string) string {
	if unit != "B" {
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, unit))
	}
	prefixes := []string{"", "k", "M", "G"}
	i := 0
	for ; v >= 999.5 && i+1 < len(prefixes); i++ {
		v /= 1000
	}
	return fmt.Sprintf("%.3g %s%s", v, prefixes[i], unit)
}

func nodesOf(chain []*event, kind telemetry.EventKind) int {
	nodes := map[string]bool{}
	for _, e := range chain {
		if e.Kind == kind {
			nodes[nameOf(e.Name, e.Node)+e.Source] = true
		}
	}
	return len(nodes)
}

func nameOf(name string, node *uint32) string {
	switch {
	case name != "":
		return name
	case node != nil:
		return fmt.Sprint("node ", *node)
	}
	return "an unknown node"
}

func lasted(e *event) string {
	if e.End == nil {
		return " since " + e.Start.Format(time.TimeOnly) + " UTC"
	}
	d := e.End.Sub(e.Start)
	switch {
	case d >= time.Minute:
		return " for " + d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf(" for %.1f s", d.Seconds())
	}
	return fmt.Sprintf(" for %.1f ms", float64(d)/1e6)
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// actions say what to do about a cause.
var actions = map[telemetry.EventKind]string{
	telemetry.EventLinkLost: "look at the ports at both ends of the link: transceivers, cable, errors, whether " +
		"somebody shut one down",
	telemetry.EventAttack: "filter what these devices send to the target, at their gateways: waybill attacks lists them, " +
		"and says how much of it filters drop",
	telemetry.EventBlackhole: "compare the routes of the node with those of a neighbour that works; taking it out of " +
		"the paths helps at once",
	telemetry.EventGrayFailure: "take the link out of service, then look at optics, connectors, and CRC errors at " +
		"both ends",
	telemetry.EventLoop:           "compare the routes of the nodes of the loop",
	telemetry.EventLatencyAnomaly: "look at the node: its processor, a new configuration, a feature done in software",
	telemetry.EventECMPImbalance:  "give the nodes different hash seeds, or look at the fields that they hash",
	telemetry.EventMicroburst:     "spread or pace the flows that filled the queue, or give it more room",
	telemetry.EventIncast:         "let the senders answer one after the other, or with jitter",
	telemetry.EventReportLoss: "look at the sockets of Waybill and at the network between: until then counts are " +
		"too low",
	telemetry.EventExporterSilent: "look at the reports of the node: to where it sends them, and the network between",
	telemetry.EventContradiction:  "look for a second sender with the id of the node, or forged reports",
	telemetry.EventNodeRestart:    "if nobody restarted the node, ask why it did",
	telemetry.EventClockJump:      "nothing, if it came back; else look at how the node sets its clock",
	telemetry.EventPathChange:     "nothing, if somebody changed routes; if it goes on, a route flaps",
	telemetry.EventHopLimit:       "raise the hop limit of the source, or look for a loop",
	telemetry.EventMTUExceeded:    "give the links inside the INT domain a larger MTU",
	telemetry.EventHopWithoutINT:  "switch INT on at the nodes in between",
	telemetry.EventMalformed:      "find the right dialect, or have the node repaired",
	telemetry.EventDuplicateNode:  "give each device an id of its own",
	telemetry.EventImplausible:    "find the right dialect: most often the unit of times is another",
	telemetry.EventUnexpectedNode: "add the node to the policy, or ask who put it there",
	telemetry.EventPathNotAllowed: "compare with path changes and lost links of the same time",
	telemetry.EventWaypointMissed: "bring the flows back, or stop them; then find out what moved them",
}

// actionOf says what to do about a cause, where, and about which flows: those that filled its queues, or one that shows
// it.
func actionOf(root *event, chain []*event) string {
	action := actions[root.Kind]
	if root.Kind == telemetry.EventDropStorm {
		if r, ok := dropreason.ByID(root.Cause); ok {
			action = r.Action
		}
	}
	if action == "" {
		return ""
	}
	var about []string
	if ports := portsOf(root); ports != "" {
		about = append(about, ports)
	}
	if flows := flowsOf(root, chain); flows != "" {
		about = append(about, flows)
	}
	if len(about) == 0 {
		return action
	}
	return strings.TrimSuffix(action, ".") + ". Here: " + strings.Join(about, "; ")
}

// portsOf names the ports of an event: both ends, if it is about a link.
func portsOf(e *event) string {
	if e.Node == nil || e.Port == nil {
		return ""
	}
	port := portName(nameOf(e.Name, e.Node), e.PortName, e.Port)
	if e.ToNode == nil || e.ToPort == nil {
		return port
	}
	return port + " and " + portName(nameOf(e.ToName, e.ToNode), e.ToPortName, e.ToPort)
}

func portName(node, name string, port *uint32) string {
	if name != "" {
		return node + " " + name
	}
	return fmt.Sprintf("%s port %d", node, *port)
}

// maxNamedFlows is how many flows an action names.
const maxNamedFlows = 3

// flowsOf names the flow that brought most to each queue of an incident, the latest queue first, or one that its cause
// met. Those that rules are about are in the text of their event.
func flowsOf(root *event, chain []*event) string {
	queues := slices.DeleteFunc(slices.Clone(chain), func(e *event) bool {
		return e.Flow == nil || e.Kind != telemetry.EventMicroburst && e.Kind != telemetry.EventIncast
	})
	if len(queues) == 0 {
		if root.Flow == nil {
			return ""
		}
		return "one of its flows is " + flowName(root.Flow)
	}
	slices.SortStableFunc(queues, func(a, b *event) int { return cmp.Compare(b.from, a.from) })
	var flows []string
	for _, e := range queues {
		if flow := flowName(e.Flow); !slices.Contains(flows, flow) {
			flows = append(flows, flow)
		}
	}
	more := ""
	if n := len(flows) - maxNamedFlows; n > 0 {
		flows, more = flows[:maxNamedFlows], fmt.Sprintf(" and %d more", n)
	}
	return "most in the queue was of " + strings.Join(flows, ", ") + more
}

func flowName(f *telemetry.Endpoints) string {
	if f.SrcPort == 0 && f.DstPort == 0 {
		return fmt.Sprintf("%s → %s %s", f.Src, f.Dst, f.Protocol)
	}
	src, dst := netip.AddrPortFrom(f.Src, f.SrcPort), netip.AddrPortFrom(f.Dst, f.DstPort)
	return fmt.Sprintf("%s → %s %s", src, dst, f.Protocol)
}
