package api

import (
	"net/http"

	"github.com/waybill-int/waybill/api/types"
)

// status is the answer of /healthz and /readyz.
type status struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
}

func (h *handler) health(w http.ResponseWriter, _ *http.Request, _ *params) {
	writeAnswer(w, status{"ok", h.cfg.Version})
}

func (h *handler) ready(w http.ResponseWriter, _ *http.Request, _ *params) {
	if err := h.cfg.Ready(); err != nil {
		types.NewProblem(http.StatusServiceUnavailable, "not ready: %v", err).Write(w)
		return
	}
	writeAnswer(w, status{"ready", h.cfg.Version})
}

func (h *handler) metrics(w http.ResponseWriter, r *http.Request, _ *params) {
	h.scrape.ServeHTTP(w, r)
}
