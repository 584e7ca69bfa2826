package api

import (
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) drops(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "drops", filter.DropTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	isReason, _, _ := p.reason()
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	drops := h.cfg.Collector.Drops(func(d *telemetry.Drop) bool {
		return is(d.Node, d.Name) && isReason(d)
	})
	return s.answer(drops), nil
}
