package api

import (
	"slices"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) clocks(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "clocks", filter.ClockTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	clocks := h.cfg.Collector.Clocks()
	clocks = slices.DeleteFunc(clocks, func(c telemetry.Clock) bool { return !is(&c.Node, c.Name) })
	return s.answer(clocks), nil
}
