package api

import (
	"net/http"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// acknowledge answers POST /api/v1/events/ID/acknowledge. Who was first stays, so that asking twice changes nothing.
func (h *handler) acknowledge(w http.ResponseWriter, r *http.Request, p *params) {
	e, ok := h.cfg.Events.Acknowledge(p.id,
		telemetry.Acknowledgement{By: auth.From(r.Context()).Name, At: h.cfg.Now().UTC()})
	writeAcknowledged(w, p.id, &e, ok)
}

// takeBack answers DELETE /api/v1/events/ID/acknowledge.
func (h *handler) takeBack(w http.ResponseWriter, _ *http.Request, p *params) {
	e, ok := h.cfg.Events.TakeBack(p.id)
	writeAcknowledged(w, p.id, &e, ok)
}

func writeAcknowledged(w http.ResponseWriter, id string, e *telemetry.Event, ok bool) {
	if !ok {
		types.NewProblem(http.StatusNotFound, "there is no event %.40q in memory", id).Write(w)
		return
	}
	writeStatus(w, http.StatusOK, e)
}
