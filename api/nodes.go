package api

import (
	"slices"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) nodes(p *params) (answer, *types.Problem) {
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
