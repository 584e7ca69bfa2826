package api

import (
	"net/http"

	"github.com/waybill-int/waybill/api/types"
)

// exports answers with the outputs of records, and what became of these.
func (h *handler) exports(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaJSON)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	answer := types.ExportList{GeneratedAt: h.cfg.Now().UTC(), Exports: []types.Export{}}
	if h.cfg.Exports != nil {
		answer.Exports = append(answer.Exports, h.cfg.Exports()...)
	}
	writeAnswer(w, answer)
}
