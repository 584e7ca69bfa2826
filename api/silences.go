package api

import (
	"errors"
	"net/http"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
)

func (h *handler) allSilences() []types.Silence {
	silences := []types.Silence{}
	for _, s := range h.cfg.Alerts.Silences() {
		silences = append(silences, silenceOf(&s))
	}
	return silences
}

func silenceOf(s *alert.Silence) types.Silence {
	return types.Silence{ID: s.ID, Filter: s.Filter, From: s.From, Until: s.Until, Reason: s.Reason, InFile: s.InFile}
}

// addSilence answers POST /api/v1/silences.
func (h *handler) addSilence(w http.ResponseWriter, r *http.Request, _ *params) {
	var wanted types.NewSilence
	if problem := readBody(r, &wanted); problem != nil {
		problem.Write(w)
		return
	}
	h.silence(w, wanted)
}

// silence makes a silence and answers with it.
func (h *handler) silence(w http.ResponseWriter, wanted types.NewSilence) {
	s := alert.Silence{Filter: wanted.Filter, Until: wanted.Until, Reason: wanted.Reason}
	if wanted.From != nil {
		s.From = *wanted.From
	}
	if wanted.For != "" {
		lasts, err := filter.ParseDuration(wanted.For)
		if err != nil || lasts <= 0 || !wanted.Until.IsZero() {
			problem := types.NewProblem(http.StatusBadRequest, "for: got %.40q, want a duration such as 2h, and no until", wanted.For)
			problem.Parameter = "for"
			problem.Write(w)
			return
		}
		if s.From.IsZero() {
			s.From = h.cfg.Now().UTC()
		}
		s.Until = s.From.Add(lasts)
	}
	s, err := h.cfg.Alerts.AddSilence(s, h.cfg.Now())
	var wrong *alert.SilenceError
	var inFilter *filter.Error
	switch {
	case errors.As(err, &wrong):
		problem := types.NewProblem(http.StatusBadRequest, "%v", wrong)
		problem.Parameter = wrong.Key
		if errors.As(err, &inFilter) {
			problem.Filter = inFilter
		}
		problem.Write(w)
	case err != nil:
		types.NewProblem(http.StatusConflict, "%v", err).Write(w)
	default:
		w.Header().Set("Location", "silences/"+s.ID)
		writeStatus(w, http.StatusCreated, silenceOf(&s))
	}
}

// removeSilence answers DELETE /api/v1/silences/ID.
func (h *handler) removeSilence(w http.ResponseWriter, _ *http.Request, p *params) {
	switch err := h.cfg.Alerts.RemoveSilence(p.id); {
	case errors.Is(err, alert.ErrNoSilence):
		types.NewProblem(http.StatusNotFound, "there is no silence %.40q", p.id).Write(w)
	case err != nil:
		types.NewProblem(http.StatusConflict, "%v", err).Write(w)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
