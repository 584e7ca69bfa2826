package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/filter"
)

// A SilenceList answers GET /api/v1/silences.
type SilenceList struct {
	Head
	Silences []alert.Silence `json:"silences"`
}

// A NewSilence is the body of POST /api/v1/silences.
type NewSilence struct {
	Filter string     `json:"filter"`          // which events must not be told of
	From   *time.Time `json:"from,omitempty"`  // missing: now
	Until  time.Time  `json:"until"`           // when it ends by itself
	Reason string     `json:"reason,omitzero"` // for people
}

func (h *handler) silences(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "silences", silenceTable.Row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if h.cfg.Alerts == nil {
		return answer{}, noAlerts()
	}
	return s.answer(h.cfg.Alerts.Silences()), nil
}

// addSilence answers POST /api/v1/silences.
func (h *handler) addSilence(w http.ResponseWriter, r *http.Request) {
	var wanted NewSilence
	if problem := readBody(r, &wanted); problem != nil {
		problem.write(w)
		return
	}
	s := alert.Silence{Filter: wanted.Filter, Until: wanted.Until, Reason: wanted.Reason}
	if wanted.From != nil {
		s.From = *wanted.From
	}
	s, err := h.cfg.Alerts.AddSilence(s, h.cfg.Now())
	var wrong *alert.SilenceError
	var inFilter *filter.Error
	switch {
	case errors.As(err, &wrong):
		problem := newProblem(http.StatusBadRequest, "%v", wrong)
		problem.Parameter = wrong.Key
		if errors.As(err, &inFilter) {
			problem.Filter = inFilter
		}
		problem.write(w)
	case err != nil:
		newProblem(http.StatusConflict, "%v", err).write(w)
	default:
		w.Header().Set("Location", "silences/"+s.ID)
		writeStatus(w, http.StatusCreated, s)
	}
}

// removeSilence answers DELETE /api/v1/silences/ID.
func (h *handler) removeSilence(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, silencePath)
	switch err := h.cfg.Alerts.RemoveSilence(id); {
	case errors.Is(err, alert.ErrNoSilence):
		newProblem(http.StatusNotFound, "there is no silence %.40q", id).write(w)
	case err != nil:
		newProblem(http.StatusConflict, "%v", err).write(w)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
