package expect

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// facts are answers taken apart: what, and which value it has. Times of arrival, ids and percentiles are not among
// them: the first two are not of the network, the last are estimates.
type facts map[string]string

func (f facts) set(what, format string, args ...any) {
	for f[what] != "" { // a thing that is there twice must not hide
		what += " (again)"
	}
	f[what] = fmt.Sprintf(format, args...)
}

// facts returns the facts of answers, without those that want's rules leave out, which it counts in left.
func (a *Answers) facts(want *Answers, left map[Rule]int) facts {
	f := facts{}
	for i := range a.Flows {
		f.flow(&a.Flows[i], want, left)
	}
	for i := range a.Paths {
		f.path(&a.Paths[i], want, left)
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		what := fmt.Sprintf("node %d", n.ID)
		f.set(what+": name", "%s", n.Name)
		f.set(what+": packets", "%d", n.Packets)
		f.set(what+": drops", "%d", n.Drops)
		f.set(what+": ports", "%v", n.Ports)
		f.set(what+": latency", "%s", spread(n.LatencyNs))
		f.set(what+": queue max", "%s", number(n.QueueMax))
	}
	for i := range a.Links {
		l := &a.Links[i]
		what := "link " + linkName(l)
		f.set(what+": names", "%s > %s", l.FromName, l.ToName)
		f.set(what+": packets", "%d", l.Packets)
	}
	for i := range a.Drops {
		d := &a.Drops[i]
		what := fmt.Sprintf("drop %s:%s>%s reason %d", number(d.Node), number(d.IngressPort), number(d.EgressPort),
			d.Reason)
		f.set(what+": name", "%s", d.Name)
		f.set(what+": packets", "%d", d.Packets)
		if want.DropRule == "" {
			f.set(what+": last flow", "%s", endpointsName(d.LastFlow))
		}
	}
	for i := range a.Exporters {
		f.exporter(&a.Exporters[i])
	}
	return f
}

func (f facts) flow(a *telemetry.Flow, want *Answers, left map[Rule]int) {
	name := endpointsName(&a.Endpoints)
	rule := want.FlowRules[name]
	what := "flow " + name
	f.set(what+": outer", "%s", endpointsName(a.Outer))
	f.set(what+": dscp", "%d", a.DSCP)
	f.set(what+": reports", "%d", a.Reports)
	f.set(what+": packets", "%d", a.Packets)
	f.set(what+": bytes", "%d", a.Bytes)
	f.set(what+": drops", "%d", a.Drops)
	f.set(what+": residence", "%s", spread(a.Residence))
	f.set(what+": end to end", "%s", spread(a.EndToEnd))
	if rule == "" {
		f.set(what+": probes", "%d", a.Probes)
		f.set(what+": path changes", "%d", a.PathChanges)
		for i := range a.Paths {
			f.set(fmt.Sprintf("%s: path %d", what, i), "%s", route(a.Paths[i].Hops))
		}
	} else {
		left[rule]++
	}
	if rule == RuleForgotten {
		return
	}
	for i := range a.Paths {
		p := &a.Paths[i]
		on := what + " on " + route(p.Hops)
		f.set(on+": packets", "%d", p.Packets)
		f.hops(on, p.Hops, rule)
	}
}

func (f facts) path(a *telemetry.Path, want *Answers, left map[Rule]int) {
	name := route(a.Hops)
	rule := want.PathRules[name]
	what := "path " + name
	f.set(what+": packets", "%d", a.Packets)
	f.set(what+": incomplete", "%d", a.Incomplete)
	f.set(what+": uncertain", "%t", a.Uncertain)
	f.set(what+": clock errors", "%d", a.ClockErrors)
	f.set(what+": residence", "%s", spread(a.Residence))
	f.set(what+": end to end", "%s", spread(a.EndToEnd))
	if rule == "" {
		f.set(what+": flows", "%d", a.Flows)
	} else {
		left[rule]++
	}
	f.hops(what, a.Hops, rule)
}

// hops adds what was met at each hop; which packet was the last is not known where a rule leaves the order open.
func (f facts) hops(what string, hops []telemetry.PathHop, rule Rule) {
	for i := range hops {
		h := &hops[i]
		at := fmt.Sprintf("%s: hop %d", what, i+1)
		f.set(at+" name", "%s", h.Name)
		f.set(at+" latency", "%s", spread(h.LatencyNs))
		if h.Queue == nil {
			f.set(at+" queue", "none")
			continue
		}
		f.set(at+" queue", "mean %v, max %d", h.Queue.Mean, h.Queue.Max)
		if rule == "" {
			f.set(at+" last queue", "%d: %s", h.Queue.ID, number(h.Queue.Last))
		}
	}
}

func (f facts) exporter(x *telemetry.Exporter) {
	what := fmt.Sprintf("exporter %v node %s", x.Source, number(x.Node))
	lost := "unknown"
	if x.Lost != nil {
		lost = fmt.Sprint(*x.Lost)
	}
	f.set(what+": name", "%s", x.Name)
	f.set(what+": version", "%s", x.Version)
	f.set(what+": received", "%d, with %d reports", x.Received, x.Reports)
	f.set(what+": lost", "%s (known: %s)", lost, x.LossKnown)
	f.set(what+": reordered, duplicate, restarted", "%d, %d, %d", x.Reordered, x.Duplicate, x.Restarted)
	f.set(what+": malformed, damaged", "%v, %v", reasons(x.Malformed), reasons(x.Damaged))
}

func reasons(counts map[string]uint64) (list []string) {
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s %d", reason, counts[reason]))
	}
	return list
}

// spread spells out what is exact of a distribution.
func spread(d *telemetry.Distribution) string {
	if d == nil {
		return "none"
	}
	return fmt.Sprintf("%d from %d to %d, mean %v", d.Count, d.Min, d.Max, d.Mean)
}
