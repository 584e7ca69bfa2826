package api

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) paths(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "paths", filter.PathTable.Row)
	is, hasNode := p.node(h.cfg.Collector.Names) // at any hop
	id, hasID := p.pathID()
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if !hasID && !hasNode {
		paths, total := h.cfg.Collector.Paths(s.first())
		return s.answerOf(paths, total), nil
	}
	paths, _ := h.cfg.Collector.Paths(math.MaxInt)
	paths = slices.DeleteFunc(paths, func(path telemetry.Path) bool {
		return hasID && path.ID != id || !slices.ContainsFunc(path.Hops, func(hop telemetry.PathHop) bool { return is(hop.Node, hop.Name) })
	})
	return s.answer(paths), nil
}

// pathID returns the parameter "path".
func (p *params) pathID() (id string, given bool) {
	id, given = p.text("path")
	if !given {
		return "", false
	}
	if _, err := strconv.ParseUint(id, 16, 64); err != nil || len(id) != 16 {
		p.reject("path", "the id of a path, 16 hexadecimal digits", "path is %q", id)
	}
	return strings.ToLower(id), true
}
