// Package incident puts events together that belong to one thing that broke: a cause, what follows from it, and what it
// cost. Incidents are computed from events alone, each time anew, so that those of last week are found as those of now
// are, and a restart loses none. docs/reference/incidents.md has the rules.
package incident

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Of returns the incidents of events, the latest first. New flows are none. Where something could not be seen meanwhile
// their counts are lower bounds; nil: nobody knows. It keeps nothing of the events.
func Of(events []telemetry.Event, arrivals Arrivals) []telemetry.Incident {
	list := make([]event, 0, len(events))
	for i := range events {
		if events[i].Kind != telemetry.EventNewFlow {
			list = append(list, newEvent(&events[i]))
		}
	}
	slices.SortFunc(list, func(a, b event) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.ID, b.ID)) })
	explain(list, false)
	explain(list, true)
	shareStorms(list)
	chains := map[*event][]*event{}
	for i := range list {
		root := list[i].root()
		chains[root] = append(chains[root], &list[i])
	}
	incidents := make([]telemetry.Incident, 0, len(chains))
	ids := map[*event]string{}
	for root, chain := range chains {
		ids[root] = first(chain).ID
	}
	losses := slices.DeleteFunc(slices.Clone(list), func(e event) bool { return !e.isLossOfReports() })
	for root, chain := range chains {
		n := newIncident(root, chain)
		addUnseen(&n, losses, arrivals)
		n.Text = sentence(root, chain, &n)
		n.PossibleCauses = root.possibleCauses(ids)
		incidents = append(incidents, n)
	}
	slices.SortFunc(incidents, func(a, b telemetry.Incident) int {
		return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.ID, b.ID))
	})
	return incidents
}

// Find returns the incident to which an event belongs.
func Find(incidents []telemetry.Incident, event string) (*telemetry.Incident, bool) {
	for i := range incidents {
		has := func(e telemetry.IncidentEvent) bool { return e.ID == event }
		if slices.ContainsFunc(incidents[i].Events, has) {
			return &incidents[i], true
		}
	}
	return nil, false
}

// Horizon is how long something may be over before an event begins that follows from it.
const Horizon = 2 * time.Minute

// explain finds what events follow from: by rules that prove it, or by those that make it likely, of events that
// nothing explains so far. The list is in the order of time.
func explain(list []event, likely bool) {
	begun := begunEvents{}
	next := 0
	for i := range list {
		e := &list[i]
		for ; next < len(list) && list[next].from <= e.from+int64(early); next++ {
			begun.add(&list[next])
		}
		if e.of != nil {
			continue
		}
		for r := range rules {
			if rules[r].likely == likely && slices.Contains(rules[r].effects, e.Kind) && e.follow(&rules[r], begun) {
				break
			}
		}
	}
}

// begunEvents have begun before a moment, and are not over for long.
type begunEvents map[begunKey][]*event

// A begunKey is a kind, of a node or of all.
type begunKey struct {
	kind  telemetry.EventKind
	local bool
	node  uint32
}

func (b begunEvents) add(e *event) {
	for _, k := range []begunKey{{kind: e.Kind}, e.localKey(e.Kind)} {
		list := b[k]
		if n := len(list); n >= 64 && n&(n-1) == 0 { // now and then
			list = slices.DeleteFunc(list, func(c *event) bool { return c.to < e.from-int64(Horizon)-int64(early) })
		}
		b[k] = append(list, e)
	}
}

func (e *event) localKey(kind telemetry.EventKind) begunKey {
	if e.Node == nil {
		return begunKey{kind: kind, local: true}
	}
	return begunKey{kind, true, *e.Node}
}

// follow makes e follow from the first of those that a rule says it does, and reports whether one is found. A rule that
// makes it likely must find one incident only; if there are more, they are possible causes.
func (e *event) follow(r *rule, begun begunEvents) bool {
	var causes []*event // of different incidents
	for _, kind := range r.causes {
		key := begunKey{kind: kind}
		if r.local {
			key = e.localKey(kind)
		}
		for _, c := range begun[key] {
			if !r.holdsAt(c, e) || c.root() == e {
				continue
			}
			if !r.likely {
				e.of, e.rule = c, r
				return true
			}
			other := func(o *event) bool { return o.root() == c.root() }
			if !slices.ContainsFunc(causes, other) {
				causes = append(causes, c)
			}
		}
	}
	if r.soonest && len(causes) > 1 {
		ago := func(c *event) int64 { return e.firstDrop() - c.from }
		slices.SortFunc(causes, func(a, b *event) int { return cmp.Compare(ago(a), ago(b)) })
		last, other := causes[0], causes[1]
		if last.Count > 0 && other.Count > 0 && ago(last) >= 0 && 2*ago(last) <= ago(other) { // when is known of both
			causes = causes[:1]
		}
	}
	switch len(causes) {
	case 0:
		return false
	case 1:
		e.of, e.rule = causes[0], r
	default:
		e.rule = r
		for _, c := range causes {
			e.others = append(e.others, c.root())
		}
	}
	return true
}

func first(chain []*event) *event {
	return slices.MinFunc(chain, func(a, b *event) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.ID, b.ID))
	})
}

func newIncident(root *event, chain []*event) telemetry.Incident {
	n := telemetry.Incident{
		ID: first(chain).ID, Kind: root.Kind, Start: first(chain).Start, End: root.End,
		Node: root.Node, Name: root.Name, Port: root.Port, PortName: root.PortName,
		ToNode: root.ToNode, ToName: root.ToName,
		Action: actionOf(root, chain),
	}
	for _, e := range chain {
		n.Severity = max(n.Severity, e.Severity)
		for _, node := range []*uint32{e.Node, e.ToNode} {
			if node != nil {
				n.Nodes = append(n.Nodes, *node)
			}
		}
		switch {
		case e.with != nil: // it may have gone on for the sake of others
		case e.End == nil:
			n.End = nil
		case n.End != nil && e.End.After(*n.End):
			n.End = e.End
		}
		part := telemetry.IncidentEvent{
			ID: e.ID, Kind: e.Kind, Severity: e.Severity, Start: e.Start, End: e.End, Count: e.Count, Text: e.Text,
		}
		if e.of != nil {
			part.Of, part.Rule, part.Because, part.Likely = e.of.ID, e.rule.id, e.rule.because, e.rule.likely
		}
		n.Events = append(n.Events, part)
	}
	slices.Sort(n.Nodes)
	n.Nodes = slices.Compact(n.Nodes)
	slices.SortStableFunc(n.Events, func(a, b telemetry.IncidentEvent) int {
		if (a.Of == "") != (b.Of == "") {
			return cmp.Compare(len(a.Of), len(b.Of))
		}
		return a.Start.Compare(b.Start)
	})
	for _, e := range chain {
		if a := e.Acknowledged; a != nil && (n.Acknowledged == nil || a.At.Before(n.Acknowledged.At)) {
			n.Acknowledged = a
		}
		n.Notes = append(n.Notes, e.Notes...)
	}
	slices.SortStableFunc(n.Notes, func(a, b telemetry.Note) int { return a.At.Compare(b.At) })
	n.FlowsMoved = moved(chain)
	cost := tollOf(chain)
	cost.addTo(&n)
	return n
}

func moved(chain []*event) (n uint64) {
	for _, e := range chain {
		if e.Kind == telemetry.EventPathChange {
			n += e.Count
		}
	}
	return n
}

// Arrivals know what exporters could not tell.
type Arrivals interface {
	// Between returns what could not be seen of nodes from fromNs to toNs, in nanoseconds since 1970, and whether that
	// is known.
	Between(nodes []uint32, fromNs, toNs int64) (list []telemetry.Unseen, known bool)
}

// ongoing is when what has not ended ends.
const ongoing = math.MaxInt64

// addUnseen says what could not be seen during an incident: its counts are lower bounds then. That reports were lost is
// known by events, or by arrivals.
func addUnseen(n *telemetry.Incident, losses []event, arrivals Arrivals) {
	from, to := n.Start.UnixNano(), int64(ongoing)
	if n.End != nil {
		to = n.End.UnixNano()
	}
	itself := n.Kind == telemetry.EventReportLoss || n.Kind == telemetry.EventExporterSilent
	for i := range losses {
		if e := &losses[i]; !itself && e.from <= to && e.to >= from {
			n.Doubts = append(n.Doubts, "counts may be too low: "+e.Text)
		}
	}
	if arrivals != nil {
		var known bool
		if n.Unseen, known = arrivals.Between(n.Nodes, from, to); !known {
			n.Doubts = append(n.Doubts, "counts may be too low: what exporters could not tell is no longer kept of that time")
		}
	}
	if n.Doubts != nil || n.Unseen != nil {
		n.AtLeast = slices.Clone(counted)
	}
}

// possibleCauses returns what may have caused e, the nearest in time first, and what speaks for and against each.
func (e *event) possibleCauses(ids map[*event]string) []telemetry.PossibleCause {
	for i, c := range e.others { // which may follow from something since
		e.others[i] = c.root()
	}
	slices.SortFunc(e.others, func(a, b *event) int {
		return cmp.Or(cmp.Compare(e.away(a), e.away(b)), cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.ID, b.ID))
	})
	e.others = slices.DeleteFunc(slices.Compact(e.others), func(c *event) bool { return c == e })
	var list []telemetry.PossibleCause
	for i, c := range e.others {
		against := e.others[0].Text + " began nearer to it: " + e.began(e.others[0])
		if i == 0 {
			against = "it is not proved"
		}
		if i == 0 && len(e.others) > 1 {
			against = e.others[1].Text + " explains it as well: it began " + e.began(e.others[1])
		}
		list = append(list, telemetry.PossibleCause{
			Incident: ids[c], Kind: c.Kind, Text: c.Text,
			For: e.rule.because + "; it began " + e.began(c), Against: against,
		})
	}
	return list
}

// away is how far apart e and c begin.
func (e *event) away(c *event) time.Duration { return time.Duration(e.from - c.from).Abs() }

func (e *event) began(c *event) string {
	when := "before"
	if c.from > e.from {
		when = "after, and events begin as exactly as a scan"
	}
	return fmt.Sprintf("%.1f s %s", e.away(c).Seconds(), when)
}
