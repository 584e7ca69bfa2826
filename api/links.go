package api

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// A LinkList answers GET /api/v1/links.
type LinkList struct {
	Head
	Links []telemetry.Link `json:"links"`
}

func (h *handler) links(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "links", linkTable.Row)
	is, _ := p.node() // at either end
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	links := h.cfg.Collector.Links()
	links = slices.DeleteFunc(links, func(l telemetry.Link) bool { return !is(&l.From, l.FromName) && !is(&l.To, l.ToName) })
	return s.answer(links), nil
}
