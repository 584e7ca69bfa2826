package api

import (
	"math"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) events(p *params) (answer, *types.Problem) {
	is, _ := p.node(h.cfg.Collector.Names) // at either end
	id, hasID := p.text("id")
	kinds := p.kinds()
	least := p.severity()
	open, hasOpen := p.boolean("open")
	acknowledged, hasAcknowledged := p.boolean("acknowledged")
	row := func(e *telemetry.Event) filter.Row { return filter.EventRow{Event: e} }
	match := func(e *telemetry.Event) bool {
		return (!hasID || e.ID == id) && (len(kinds) == 0 || kinds[e.Kind]) && e.Severity >= least && (!hasOpen || open == (e.End == nil)) &&
			(!hasAcknowledged || acknowledged == (e.Acknowledged != nil)) &&
			(is(e.Node, e.Name) || is(e.ToNode, e.ToName))
	}
	if p.isGrouped() {
		selected := filtered(h, p, "events", row)
		return grouped(h, p, "events", func() []telemetry.Event {
			events, _ := h.cfg.Events.Events(func(e *telemetry.Event) bool { return match(e) && (selected == nil || selected(e)) }, math.MaxInt)
			return events
		}, newEventGroup, addEvent)
	}
	s := selectFrom(h, p, "events", row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	events, total := h.cfg.Events.Events(match, s.first())
	return s.answerOf(events, total), nil
}

// kinds returns the kinds of events that the parameter "kind" selects: it may be given several times, and each may be a
// list with commas. None selects all.
func (p *params) kinds() map[telemetry.EventKind]bool {
	p.asked["kind"] = true
	kinds := map[telemetry.EventKind]bool{}
	for _, list := range p.values["kind"] {
		for name := range strings.SplitSeq(list, ",") {
			var k telemetry.EventKind
			_ = k.UnmarshalText([]byte(name)) // an unknown name becomes 0
			if k == 0 {
				p.reject("kind", kindNames(), "kind is %q", name)
			}
			kinds[k] = true
		}
	}
	return kinds
}

// kindNames lists the kinds of events, by their numbers.
func kindNames() string {
	var list []string
	for k := telemetry.EventKind(1); k < telemetry.NumEventKinds; k++ {
		list = append(list, k.String())
	}
	return strings.Join(list, ", ")
}

// severity returns the lowest severity that the parameter "severity" selects.
func (p *params) severity() telemetry.Severity {
	var s telemetry.Severity
	_ = s.UnmarshalText([]byte(p.choice("severity", telemetry.Info.String(), telemetry.Warning.String(), telemetry.Critical.String())))
	return s
}
