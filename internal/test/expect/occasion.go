package expect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A subject is what an event is about. What a kind does not have is 0.
type subject struct {
	kind                        telemetry.EventKind
	node, port, toNode, newPort uint32
	reason                      uint8
}

// An occasion is a moment at which something happened that an event tells of, and how often.
type occasion struct {
	atNs int64
	n    uint64
}

// happened notes that something happened once.
func (c *Chronicle) happened(s subject, atNs int64, n uint64) {
	list := c.occasions[s]
	if last := len(list) - 1; last >= 0 && list[last].atNs == atNs {
		list[last].n += n
		return
	}
	c.occasions[s] = append(list, occasion{atNs, n})
}

// turned notes that a flow left a path for another one: where the two part.
func (c *Chronicle) turned(from, to *path, atNs int64) {
	i := 0
	for i < len(from.elements) && i < len(to.elements) && from.elements[i] == to.elements[i] {
		i++
	}
	if i == min(len(from.elements), len(to.elements)) || from.elements[i].node != to.elements[i].node ||
		from.elements[i].missing+to.elements[i].missing > 0 {
		return // they came into the network elsewhere, or nobody tells where they part
	}
	s := subject{
		kind: telemetry.EventPathChange, node: from.elements[i].node, port: from.elements[i].out,
		newPort: to.elements[i].out,
	}
	if i+1 < len(from.elements) {
		s.toNode = from.elements[i+1].node
	}
	c.happened(s, atNs, 1)
}

// looped notes a packet that came to a switch twice, for the first switch that it came to again. A switch that drops a
// packet that has left it has it for the second time; one that drops what it has just taken in has it once.
func (c *Chronicle) looped(p *path, atNs int64) {
	for i := range p.elements {
		for j := range i {
			if s := &p.elements[i]; s.missing == 0 && p.elements[j].node == s.node && (j < i-1 || !s.dropped()) {
				next := p.elements[j+1].node // a node may be in two loops at a time
				c.happened(subject{kind: telemetry.EventLoop, node: s.node, toNode: next}, atNs, 1)
				return
			}
		}
	}
}

// How events come out of occasions, see docs/reference/events.md.
const (
	// scanNs is how often a collector looks for events: what begins and ends by its looks is exact to that.
	scanNs = int64(time.Second)
	// Occasions with at most togetherNs between them are one event, those with apartNs or more are two. In between it
	// depends on when the collector looked: an event is over when a look finds that nothing happened for 3 s.
	togetherNs, apartNs = 2 * scanNs, 5 * scanNs
)

// An occasionRule says how a kind of events comes out of occasions.
type occasionRule struct {
	exact bool   // it begins with the first and ends with the last; else with the looks before and behind them
	least uint64 // between two looks, for it to begin
}

var occasionRules = map[telemetry.EventKind]occasionRule{
	telemetry.EventDropStorm:  {least: 20, exact: true},
	telemetry.EventReportLoss: {least: 1},
	telemetry.EventLoop:       {least: 1, exact: true},
	telemetry.EventPathChange: {least: 1, exact: true},
	telemetry.EventNewFlow:    {least: 1, exact: true},
	telemetry.EventHopLimit:   {least: 1, exact: true},
}

// subjectOf is what an event says that it is about.
func subjectOf(e *telemetry.Event) subject {
	s := subject{
		kind: e.Kind, node: orZero(e.Node), port: orZero(e.Port), toNode: orZero(e.ToNode),
		reason: orZero(e.Reason),
	}
	for _, v := range e.Evidence {
		if v.Name == "new_port" {
			s.newPort = uint32(v.Value)
		}
	}
	if s.kind == telemetry.EventLoop {
		s.port = 0 // by which the first packet left
	}
	return s
}

// nodeCalled returns the switch that an event calls by its name, or by its number.
func (c *Chronicle) nodeCalled(text string) uint32 {
	for id, s := range c.truth.Switches {
		if s.Name == text || fmt.Sprint(id) == text {
			return id
		}
	}
	return 0
}

func orZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

// occasionDifferences returns where events, of kinds that have a rule, are not what the occasions make.
func (c *Chronicle) occasionDifferences(events []telemetry.Event) (list []string) {
	told := map[subject][]*telemetry.Event{}
	for i := range events {
		if _, ok := occasionRules[events[i].Kind]; ok {
			s := subjectOf(&events[i])
			if nodes := events[i].PathNodes; s.kind == telemetry.EventLoop && len(nodes) > 0 {
				s.toNode = c.nodeCalled(nodes[1%len(nodes)])
			}
			told[s] = append(told[s], &events[i])
		}
	}
	for s := range c.occasions {
		if told[s] == nil {
			told[s] = []*telemetry.Event{}
		}
	}
	for s, events := range told {
		slices.SortFunc(events, func(a, b *telemetry.Event) int { return a.Start.Compare(b.Start) })
		occasions := slices.SortedFunc(slices.Values(c.occasions[s]),
			func(a, b occasion) int { return cmp.Compare(a.atNs, b.atNs) })
		for _, text := range (&telling{rule: occasionRules[s.kind], epochNs: c.epochNs, left: occasions}).differences(
			events) {
			list = append(list, fmt.Sprintf("%v %+v: %s", s.kind, s, text))
		}
	}
	return list
}

// A telling holds the events of one subject against its occasions.
type telling struct {
	rule    occasionRule
	epochNs int64
	left    []occasion // that no event was told of yet
	lastNs  int64      // of the occasions of the event before
}

// differences returns what is wrong with the events, which come in order.
func (t *telling) differences(events []*telemetry.Event) (list []string) {
	for i, e := range events {
		if e.End == nil {
			list = append(list, fmt.Sprintf("%v goes on", e.Start))
			continue
		}
		before := t.until(e.Start.UnixNano() - 1)
		list = append(list, t.missed(before)...)
		endNs := e.End.UnixNano()
		occasions := t.until(endNs)
		if n := len(occasions); !t.rule.exact && n > 0 && occasions[n-1].atNs == endNs && times(occasions) > e.Count {
			// what happens at the very moment of a look, it may see or not
			last := slices.IndexFunc(occasions, func(o occasion) bool { return o.atNs == endNs })
			occasions, t.left = occasions[:last], slices.Concat(occasions[last:], t.left)
		}
		if text := t.wrong(e, occasions, i > 0); text != "" {
			list = append(list, fmt.Sprintf("%v to %v, %d times: %s", e.Start, e.End, e.Count, text))
		}
	}
	return append(list, t.missed(t.left)...)
}

// times is how often something happened.
func times(occasions []occasion) (n uint64) {
	for _, o := range occasions {
		n += o.n
	}
	return n
}

// until takes the occasions up to a time.
func (t *telling) until(ns int64) []occasion {
	n := 0
	for n < len(t.left) && t.left[n].atNs <= ns {
		n++
	}
	taken := t.left[:n]
	t.left = t.left[n:]
	return taken
}

// missed returns the looks of which the occasions had to make an event.
func (t *telling) missed(occasions []occasion) (list []string) {
	look, n := int64(-1), uint64(0)
	for _, o := range occasions {
		if l := (o.atNs - t.epochNs) / scanNs; l != look {
			look, n = l, 0
		}
		if n += o.n; n >= t.rule.least && n-o.n < t.rule.least {
			list = append(list, fmt.Sprintf("missed at %v", time.Unix(0, o.atNs).UTC()))
		}
	}
	return list
}

// wrong returns what is wrong with an event that should tell of occasions; "" if nothing is.
func (t *telling) wrong(e *telemetry.Event, occasions []occasion, again bool) string {
	if len(occasions) == 0 {
		return "made up"
	}
	first, last, sum := occasions[0].atNs, occasions[len(occasions)-1].atNs, times(occasions)
	gap := int64(0)
	for i, o := range occasions {
		if i > 0 {
			gap = max(gap, o.atNs-occasions[i-1].atNs)
		}
	}
	exactness := int64(0)
	if !t.rule.exact {
		exactness = scanNs
	}
	apart := first - t.lastNs
	t.lastNs = last
	switch {
	case first-e.Start.UnixNano() > exactness || e.End.UnixNano()-last > exactness:
		return fmt.Sprintf("want %v to %v", time.Unix(0, first).UTC(), time.Unix(0, last).UTC())
	case sum != e.Count:
		return fmt.Sprintf("want %d times", sum)
	case gap >= apartNs:
		return fmt.Sprintf("these are two, with %v in between", time.Duration(gap))
	case again && apart <= togetherNs:
		return fmt.Sprintf("this is part of the event before, only %v after it", time.Duration(apart))
	}
	return ""
}
