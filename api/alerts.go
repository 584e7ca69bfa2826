package api

import (
	"errors"
	"net/http"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) alerts(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "alerts", func(a *telemetry.Alert) filter.Row { return filter.EventRow{Event: &a.Event} })
	is, _ := p.node(h.cfg.Collector.Names) // at either end
	state := telemetry.AlertState(p.choice("state", "all", string(telemetry.AlertPending), string(telemetry.AlertFiring), string(telemetry.AlertResolved)))
	least := p.severity()
	silenced, hasSilenced := p.boolean("silenced")
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if h.cfg.Alerts == nil {
		return answer{}, noAlerts()
	}
	list := []telemetry.Alert{}
	for _, a := range h.cfg.Alerts.Alerts() {
		e := &a.Event
		if (state == "all" || state == a.State) && a.Severity >= least && (!hasSilenced || silenced == (a.SilencedBy != "")) &&
			(is(e.Node, e.Name) || is(e.ToNode, e.ToName)) {
			list = append(list, a)
		}
	}
	return s.answer(list), nil
}

// noAlerts says that nobody may take an empty list for silence in the network.
func noAlerts() *types.Problem {
	return types.NewProblem(http.StatusNotFound, "this server has no alert rules; `waybill serve --alerts FILE` gives it some")
}

// testAlert answers POST /api/v1/alerts/test.
func (h *handler) testAlert(w http.ResponseWriter, r *http.Request) {
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
