package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// incidents lists what broke: of now, or in a time range. What began shortly before a range may explain what is in it.
func (h *handler) incidents(ctx context.Context, p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, filter.IncidentTable.Row)
	if !asksPast(p) {
		if problem := p.problem(); problem != nil {
			return answer{}, problem
		}
		return s.answer(slices.Clone(h.live.Incidents())), nil
	}
	r := h.written(store.Events, p.span(h.cfg.Now()))
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if problem := needHistory(&h.cfg); problem != nil {
		return answer{}, problem
	}
	events, problem := h.storedEvents(ctx, span{r.since.Add(-incident.Horizon), r.until})
	if problem != nil {
		return answer{}, problem
	}
	var inside []telemetry.Incident
	for _, n := range incident.Of(events) {
		if n.End == nil || !n.End.Before(r.since) {
			inside = append(inside, n)
		}
	}
	return s.answer(inside).spanning(r), nil
}

// incident answers with one incident, by the id of any of its events.
func (h *handler) incident(w http.ResponseWriter, r *http.Request, p *params) {
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	n, found := incident.Find(h.live.Incidents(), p.id)
	if !found && h.cfg.History != nil {
		var problem *types.Problem
		if n, found, problem = h.storedIncident(r.Context(), p.id); problem != nil {
			problem.Write(w)
			return
		}
	}
	if !found {
		types.NewProblem(http.StatusNotFound,
			"there is no incident with an event %q, or it is no longer kept; %sincidents lists those that are", p.id,
			api).Write(w)
		return
	}
	writeAnswer(w, types.IncidentAnswer{GeneratedAt: h.cfg.Now().UTC(), Incident: *n})
}

// maxIncidentEvents is from how many events of a time range incidents are computed.
const maxIncidentEvents = 50_000

// storedEvents returns the events that began in a time range.
func (h *handler) storedEvents(ctx context.Context, r span) ([]telemetry.Event, *types.Problem) {
	found, problem := h.ask(ctx, &store.Query{
		Table: store.Events, From: r.since, To: r.until, Group: []string{"start", "id", "json"},
		Order: "start", Limit: maxIncidentEvents,
	})
	if problem != nil {
		return nil, problem
	}
	if found.More {
		problem := types.NewProblem(http.StatusBadRequest, "there are more than %d events in the time range",
			maxIncidentEvents)
		problem.Parameter, problem.Allowed = "since", "a shorter time range"
		return nil, problem
	}
	events, err := eventsOf(found)
	if err != nil {
		return nil, unreadable(err)
	}
	return events, nil
}

// storedIncident returns an incident of the past: that of the events around one of them.
func (h *handler) storedIncident(ctx context.Context, id string) (*telemetry.Incident, bool, *types.Problem) {
	one, problem := h.storedEvent(ctx, id)
	if one == nil {
		return nil, false, problem
	}
	const around = time.Hour
	events, problem := h.storedEvents(ctx, span{one.Start.Add(-around), one.Start.Add(around)})
	if problem != nil {
		return nil, false, problem
	}
	n, ok := incident.Find(incident.Of(events), id)
	return n, ok, nil
}

// storedEvent returns an event of the past, or nil.
func (h *handler) storedEvent(ctx context.Context, id string) (*telemetry.Event, *types.Problem) {
	found, problem := h.ask(ctx, &store.Query{
		Table: store.Events, From: time.Unix(0, 0), To: h.cfg.Now().Add(time.Hour),
		Group: []string{"start", "id", "json"}, Where: "id = ?", Args: []any{id}, Limit: 1,
	})
	if problem != nil || len(found.Rows) == 0 {
		return nil, problem
	}
	one, err := eventsOf(found)
	if err != nil {
		return nil, unreadable(err)
	}
	return &one[0], nil
}
