package api

import (
	"errors"
	"net/http"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/filter"
)

// An AlertList answers GET /api/v1/alerts.
type AlertList struct {
	Head
	Alerts []alert.Alert `json:"alerts"`
}

// An AlertTest is the body of POST /api/v1/alerts/test: one of them is given.
type AlertTest struct {
	Rule   string `json:"rule,omitempty"`
	Output string `json:"output,omitempty"`
}

// AlertTestResults answer POST /api/v1/alerts/test.
type AlertTestResults struct {
	Results []alert.TestResult `json:"results"`
}

func (h *handler) alerts(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "alerts", func(a *alert.Alert) filter.Row { return filter.EventRow{Event: &a.Event} })
	is, _ := p.node(h.cfg.Collector.Names) // at either end
	state := alert.State(p.choice("state", "all", string(alert.Pending), string(alert.Firing), string(alert.Resolved)))
	least := p.severity()
	silenced, hasSilenced := p.boolean("silenced")
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if h.cfg.Alerts == nil {
		return answer{}, noAlerts()
	}
	list := []alert.Alert{}
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
func noAlerts() *Problem {
	return newProblem(http.StatusNotFound, "this server has no alert rules; `waybill serve --alerts FILE` gives it some")
}

// testAlert answers POST /api/v1/alerts/test.
func (h *handler) testAlert(w http.ResponseWriter, r *http.Request) {
	var test AlertTest
	if problem := readBody(r, &test); problem != nil {
		problem.write(w)
		return
	}
	if (test.Rule == "") == (test.Output == "") {
		newProblem(http.StatusBadRequest, "want a rule or an output, and not both").write(w)
		return
	}
	results, err := h.cfg.Alerts.Test(r.Context(), test.Rule, test.Output)
	switch {
	case errors.Is(err, alert.ErrBusy):
		newProblem(http.StatusConflict, "%v", err).write(w)
	case err != nil:
		newProblem(http.StatusNotFound, "%v: %.70q", err, test.Rule+test.Output).write(w)
	default:
		writeAnswer(w, AlertTestResults{results})
	}
}
