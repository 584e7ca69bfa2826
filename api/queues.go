package api

import (
	"slices"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) queues(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "queues", filter.QueueTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	queues := h.cfg.Collector.Queues()
	queues = slices.DeleteFunc(queues, func(q telemetry.QueueDepth) bool { return !is(&q.Node, q.Name) })
	return s.answer(queues), nil
}
