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
func (h *handler) topology(w http.ResponseWriter, r *http.Request) {
	p := newParams(r.URL.RawQuery)
	p.onlyJSON(r.Header)
	past := asksPast(p)
	var there, counted span
	if past {
		there, counted = p.moment(h.cfg.Now())
	}
	p.knows("at", "since", "until")
	match := filtered(h, p, "topology", filter.TopologyTable.Row)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	places := h.lists
	if past {
		places = h.pasts
	}
	var t *telemetry.Topology
	var problem *types.Problem
	var now time.Time
	if !places.during(r.Context(), func() {
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
	answer := types.Topology{Head: types.Head{GeneratedAt: now, Total: len(t.Nodes)}, Topology: *t}
	if past {
		since, until := counted.since.UTC(), counted.until.UTC()
		answer.Since, answer.Until = &since, &until
	}
	writeAnswer(w, answer)
}

func (h *handler) hosts(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "hosts", filter.HostTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	address := p.prefix("address")
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	hosts, _ := h.cfg.Collector.Hosts()
	hosts = slices.DeleteFunc(hosts, func(host telemetry.Host) bool {
		return address.IsValid() && !address.Contains(host.Address) ||
			!slices.ContainsFunc(host.Places, func(at telemetry.HostPlace) bool { return is(&at.Node, at.Name) })
	})
	return s.answer(hosts), nil
}
