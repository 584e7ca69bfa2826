package api

import (
	"net/http"
	"slices"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// A Topology answers GET /api/v1/topology; Total counts its nodes. Of the past it says in which range packets were counted.
type Topology struct {
	Head
	Since *time.Time `json:"since,omitempty"`
	Until *time.Time `json:"until,omitempty"` // not part of it
	telemetry.Topology
}

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
		problem.write(w)
		return
	}
	places := h.lists
	if past {
		places = h.pasts
	}
	var t *telemetry.Topology
	var problem *Problem
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
		problem.write(w)
		return
	}
	if match != nil {
		selectNodes(t, match)
	}
	answer := Topology{Head: Head{GeneratedAt: now, Total: len(t.Nodes)}, Topology: *t}
	if past {
		since, until := counted.since.UTC(), counted.until.UTC()
		answer.Since, answer.Until = &since, &until
	}
	writeAnswer(w, answer)
}

// A HostList answers GET /api/v1/hosts.
type HostList struct {
	Head
	Hosts []telemetry.Host `json:"hosts"`
}

func (h *handler) hosts(p *params) (answer, *Problem) {
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
