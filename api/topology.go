package api

import (
	"net/http"
	"slices"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// topology is no list: its parts belong together.
func (h *handler) topology(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaJSON)
	past := asksPast(p)
	var there, counted span
	if past {
		there, counted = p.moment(h.cfg.Now())
	}
	match := filtered(h, p.filter(), filter.TopologyTable.Row)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	gather := h.lists
	if past {
		gather = h.pasts
	}
	var t *telemetry.Topology
	var problem *types.Problem
	var now time.Time
	if !gather.during(r.Context(), func() {
		now = h.cfg.Now().UTC()
		if past {
			t, problem = h.pastTopology(r.Context(), there, counted)
			return
		}
		t = new(h.cfg.Collector.Topology())
	}) {
		return
	}
	if problem != nil {
		problem.Write(w)
		return
	}
	if match != nil {
		selectNodes(t, match)
	}
	h.fillTopology(t)
	answer := types.Topology{Head: types.Head{GeneratedAt: now, Total: len(t.Nodes)}, Topology: *t}
	if past {
		since, until := counted.since.UTC(), counted.until.UTC()
		answer.Since, answer.Until = &since, &until
	}
	writeAnswer(w, answer)
}

// selectNodes keeps of t the nodes that match, and the links and hosts at them. It changes the lists of t.
func selectNodes(t *telemetry.Topology, match func(*telemetry.TopologyNode) bool) {
	kept := map[uint32]bool{}
	t.Nodes = slices.DeleteFunc(t.Nodes, func(n telemetry.TopologyNode) bool {
		kept[n.ID] = match(&n)
		return !kept[n.ID]
	})
	t.Links = slices.DeleteFunc(t.Links, func(l telemetry.Link) bool { return !kept[l.From] && !kept[l.To] })
	t.Hosts = slices.DeleteFunc(t.Hosts, func(h telemetry.Host) bool {
		return !slices.ContainsFunc(h.Places, func(at telemetry.HostPlace) bool { return kept[at.Node] })
	})
}
