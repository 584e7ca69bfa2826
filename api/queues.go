package api

import (
	"slices"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// A QueueList answers GET /api/v1/queues.
type QueueList struct {
	Head
	Queues []telemetry.QueueDepth `json:"queues"`
}

func (h *handler) queues(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "queues", filter.QueueTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	queues := h.cfg.Collector.Queues()
	queues = slices.DeleteFunc(queues, func(q telemetry.QueueDepth) bool { return !is(&q.Node, q.Name) })
	return s.answer(queues), nil
}
