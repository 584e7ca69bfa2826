package api

import (
	"encoding/json"
	"net/http"

	"github.com/waybill-int/waybill/api/types"
)

// status is the answer of /healthz and /readyz.
type status struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
}

func (h *handler) health(w http.ResponseWriter, _ *http.Request) { h.writeStatus(w, "ok") }

func (h *handler) ready(w http.ResponseWriter, _ *http.Request) {
	if err := h.cfg.Ready(); err != nil {
		types.NewProblem(http.StatusServiceUnavailable, "not ready: %v", err).Write(w)
		return
	}
	h.writeStatus(w, "ready")
}

func (h *handler) writeStatus(w http.ResponseWriter, word string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(status{word, h.cfg.Version}) // an error means that who asked is gone
}
