package api

import (
	"errors"
	"net/http"

	"github.com/waybill-int/waybill/api/types"
)

// A Demo sends this server the reports of an emulated network, for a time that it bounds itself.
type Demo interface {
	// Start starts it, unless it runs.
	Start() error
	// Stop ends it, and returns when it has ended.
	Stop()
	State() types.DemoState
}

// ErrDemoRefused says that the reports of a demo would be misread, or mixed with those of a real network.
var ErrDemoRefused = errors.New("there is no demo on this server now")

// demo answers GET /api/v1/demo.
func (h *handler) demo(w http.ResponseWriter, _ *http.Request, p *params) {
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	writeAnswer(w, h.cfg.Demo.State())
}

// startDemo answers POST /api/v1/demo. To start what runs changes nothing.
func (h *handler) startDemo(w http.ResponseWriter, _ *http.Request, _ *params) {
	switch err := h.cfg.Demo.Start(); {
	case errors.Is(err, ErrDemoRefused):
		types.NewProblem(http.StatusConflict, "%v", err).Write(w)
		return
	case err != nil:
		types.NewProblem(http.StatusInternalServerError, "the demo cannot be started: %v", err).Write(w)
		return
	}
	writeAnswer(w, h.cfg.Demo.State())
}

// stopDemo answers DELETE /api/v1/demo.
func (h *handler) stopDemo(w http.ResponseWriter, _ *http.Request, _ *params) {
	h.cfg.Demo.Stop()
	writeAnswer(w, h.cfg.Demo.State())
}
