package api

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) flows(_ context.Context, p *params) (answer, *types.Problem) {
	q := h.flowFilter(p)
	q.Order, q.Ascending = p.flowOrder()
	s := selection[telemetry.Flow]{name: p.list, limit: q.Limit, at: p.place(h.cfg.Now())}
	q.Offset = s.at.Offset
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	flows, total := h.cfg.Collector.Flows(q)
	return s.page(flows, total), nil
}

// flowOrders are the names of the orders of flows.
func flowOrders() (names []string) {
	for _, o := range analyze.FlowOrders {
		names = append(names, string(o))
	}
	return names
}

// flowOrder returns what the parameter order of flows says: they are too many to be sorted by anything else.
func (p *params) flowOrder() (by analyze.FlowOrder, ascending bool) {
	text, given := p.text("order")
	if !given {
		return analyze.ByLast, false
	}
	name, direction, directed := strings.Cut(text, ":")
	if !slices.Contains(analyze.FlowOrders, analyze.FlowOrder(name)) {
		name = apiName(reflect.TypeFor[telemetry.Flow](), name)
	}
	by = analyze.FlowOrder(name)
	if !slices.Contains(analyze.FlowOrders, by) || directed && direction != "asc" && direction != "desc" {
		p.reject("order", strings.Join(flowOrders(), ", ")+"; :asc or :desc may follow", "order is %q", text)
	}
	return by, direction == "asc"
}

// flowFilter returns what the parameters of flows select, the latest first.
func (h *handler) flowFilter(p *params) analyze.FlowFilter {
	q := analyze.FlowFilter{Limit: p.limit(), Order: analyze.ByLast, Stop: p.stop}
	if e := p.filter(); e != nil && e.String() != "" {
		q.Which = e.FlowCondition(h.cfg.Now())
	}
	return q
}
