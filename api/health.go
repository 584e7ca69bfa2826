package api

import (
	"net/http"

	"github.com/waybill-int/waybill/api/types"
)

// status is the answer of /healthz and /readyz.
type status struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
	// NotWritten is what the disk does not take, though reports are received.
	NotWritten []string `json:"not_written,omitempty"`
	DiskFull   bool     `json:"disk_full,omitempty"`
}

func (h *handler) health(w http.ResponseWriter, _ *http.Request, _ *params) {
	writeAnswer(w, status{Status: "ok", Version: h.cfg.Version})
}

func (h *handler) ready(w http.ResponseWriter, _ *http.Request, _ *params) {
	if err := h.cfg.Ready(); err != nil {
		types.NewProblem(http.StatusServiceUnavailable, "not ready: %v", err).Write(w)
		return
	}
	s := status{Status: "ready", Version: h.cfg.Version}
	if h.cfg.NotWritten != nil {
		s.NotWritten, s.DiskFull = h.cfg.NotWritten()
	}
	writeAnswer(w, s)
}

func (h *handler) networkMetrics(w http.ResponseWriter, r *http.Request, _ *params) {
	if h.cfg.Network == nil {
		types.NewProblem(http.StatusNotFound,
			"no metrics of the network: they need a store (`--data DIR`) and export.network.enabled").Write(w)
		return
	}
	h.cfg.Network.ServeHTTP(w, r)
}

func (h *handler) metrics(w http.ResponseWriter, r *http.Request, _ *params) {
	h.scrape.ServeHTTP(w, r)
}
