package api

import (
	"slices"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) hops(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "hops", filter.HopTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	hops := h.cfg.Collector.Hops()
	hops = slices.DeleteFunc(hops, func(hop telemetry.NodeHop) bool { return !is(&hop.Node, hop.Name) })
	return s.answer(hops), nil
}

// onlyForwarded leaves out the packets that were dropped where they are counted, as the list of now does, unless q asks about them.
func onlyForwarded(q *store.Query) {
	if slices.Contains(q.Group, "dropped") || strings.Contains(q.Where, "dropped") { // values are not in it
		return
	}
	if q.Where != "" {
		q.Where = "(" + q.Where + ") AND "
	}
	q.Where += "NOT dropped"
}
