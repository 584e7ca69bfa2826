package api

import (
	"net/http"

	"github.com/waybill-int/waybill/api/types"
)

// cluster answers who receives reports, and how they come here.
func (h *handler) cluster(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaJSON)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	answer := types.Cluster{
		Role: "all", Standing: []types.Standby{}, Collectors: []types.BusCollector{}, Tables: []types.TableServer{},
	}
	if h.cfg.Cluster != nil {
		answer = h.cfg.Cluster()
	}
	answer.GeneratedAt = h.cfg.Now().UTC()
	writeAnswer(w, answer)
}
