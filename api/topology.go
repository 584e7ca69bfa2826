package api

import (
	"net/http"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// A Topology answers GET /api/v1/topology; Total counts its nodes.
type Topology struct {
	Head
	telemetry.Topology
}

// topology is no list: its parts belong together.
func (h *handler) topology(w http.ResponseWriter, r *http.Request) {
	if problem := newParams(r.URL.RawQuery).problem(); problem != nil {
		problem.write(w)
		return
	}
	select {
	case h.queries <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	now := h.cfg.Now().UTC()
	t := h.cfg.Collector.Topology()
	<-h.queries
	writeAnswer(w, Topology{Head{GeneratedAt: now, Total: len(t.Nodes)}, t})
}

// A HostList answers GET /api/v1/hosts.
type HostList struct {
	Head
	Hosts []telemetry.Host `json:"hosts"`
}

func (h *handler) hosts(p *params) (answer, *Problem) {
	s := selectFrom[telemetry.Host](h, p, "hosts", nil)
	is, _ := p.node()
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
