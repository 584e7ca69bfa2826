package api

import (
	"slices"
	"strconv"
	"time"

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
	s := selectFrom(h, p, "nodes", nodeTable.Row)
	is, _ := p.node()
	p.knows("at", "since", "until") // see nodesPast
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	nodes := h.cfg.Collector.Nodes()
	nodes = slices.DeleteFunc(nodes, func(n telemetry.Node) bool { return !is(&n.ID, n.Name) })
	return s.answer(nodes), nil
}

// node returns which nodes the parameter "node" selects, by id or name; without it all of them.
func (p *params) node() (is func(id *uint32, name string) bool, given bool) {
	text, given := p.text("node")
	if !given {
		return func(*uint32, string) bool { return true }, false
	}
	if text == "" {
		p.reject("node", "the id or the name of a node", "node is empty")
	}
	want, err := strconv.ParseUint(text, 0, 32) // 0x too: some devices print their ids so
	return func(id *uint32, name string) bool {
		return id != nil && err == nil && *id == uint32(want) || name == text
	}, true
}
