package api

import (
	"slices"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) links(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "links", filter.LinkTable.Row)
	is, _ := p.node(h.cfg.Collector.Names) // at either end
	p.knows("at")                          // see linksAt
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	links := h.cfg.Collector.Links()
	links = slices.DeleteFunc(links, func(l telemetry.Link) bool { return !is(&l.From, l.FromName) && !is(&l.To, l.ToName) })
	return s.answer(links), nil
}
