package api

import (
	"errors"
	"net/http"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/api/types"
)

// testAlert answers POST /api/v1/alerts/test.
func (h *handler) testAlert(w http.ResponseWriter, r *http.Request, _ *params) {
	var test types.AlertTest
	if problem := readBody(r, &test); problem != nil {
		problem.Write(w)
		return
	}
	if (test.Rule == "") == (test.Output == "") {
		types.NewProblem(http.StatusBadRequest, "want a rule or an output, and not both").Write(w)
		return
	}
	results, err := h.cfg.Alerts.Test(r.Context(), test.Rule, test.Output)
	switch {
	case errors.Is(err, alert.ErrBusy):
		types.NewProblem(http.StatusConflict, "%v", err).Write(w)
	case err != nil:
		types.NewProblem(http.StatusNotFound, "%v: %.70q", err, test.Rule+test.Output).Write(w)
	default:
		writeAnswer(w, types.AlertTestResults{Results: results})
	}
}
