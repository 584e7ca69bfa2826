package api

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// A LinkList answers GET /api/v1/links.
type LinkList struct {
	Head
	Since *time.Time       `json:"since,omitempty"`
	Until *time.Time       `json:"until,omitempty"` // not part of it
	Links []telemetry.Link `json:"links"`
}

func (h *handler) links(p *params) (answer, *Problem) {
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
