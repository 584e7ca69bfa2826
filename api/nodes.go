package api

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// A NodeList answers GET /api/v1/nodes.
type NodeList struct {
	Head
	Since *time.Time       `json:"since,omitempty"`
	Until *time.Time       `json:"until,omitempty"` // not part of it
	Nodes []telemetry.Node `json:"nodes"`
}

func (h *handler) nodes(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "nodes", filter.NodeTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	p.knows("at", "since", "until") // see nodesPast
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	nodes := h.cfg.Collector.Nodes()
	nodes = slices.DeleteFunc(nodes, func(n telemetry.Node) bool { return !is(&n.ID, n.Name) })
	return s.answer(nodes), nil
}
