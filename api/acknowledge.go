package api

import (
	"net/http"
	"strings"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// An event is acknowledged at eventPath + its id + acknowledgePath.
const eventPath, acknowledgePath = "/api/v1/events/", "/acknowledge"

// acknowledgedEvent returns the id of the event in a path to acknowledge one.
func acknowledgedEvent(path string) (id string, ok bool) {
	id, ok = strings.CutPrefix(path, eventPath)
	if !ok {
		return "", false
	}
	id, ok = strings.CutSuffix(id, acknowledgePath)
	return id, ok && id != "" && !strings.Contains(id, "/")
}

// acknowledge answers POST /api/v1/events/ID/acknowledge. Who was first stays, so that asking twice changes nothing.
func (h *handler) acknowledge(w http.ResponseWriter, r *http.Request) {
	id, _ := acknowledgedEvent(r.URL.Path)
	e, ok := h.cfg.Events.Acknowledge(id, telemetry.Acknowledgement{By: auth.From(r.Context()).Name, At: h.cfg.Now().UTC()})
	writeAcknowledged(w, id, &e, ok)
}

// takeBack answers DELETE /api/v1/events/ID/acknowledge.
func (h *handler) takeBack(w http.ResponseWriter, r *http.Request) {
	id, _ := acknowledgedEvent(r.URL.Path)
	e, ok := h.cfg.Events.TakeBack(id)
	writeAcknowledged(w, id, &e, ok)
}

func writeAcknowledged(w http.ResponseWriter, id string, e *telemetry.Event, ok bool) {
	if !ok {
		types.NewProblem(http.StatusNotFound, "there is no event %.40q in memory", id).Write(w)
		return
	}
	writeStatus(w, http.StatusOK, e)
}
