package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// incidents lists what broke: of now, or in a time range. What began shortly before a range may explain what is in it.
func (h *handler) incidents(ctx context.Context, p *params) (answer, *types.Problem) {
	return findFromEvents(ctx, h, p, &fromEvents[telemetry.Incident]{
		row:  filter.IncidentTable.Row,
		live: func() []telemetry.Incident { return h.withUnseen(slices.Clone(h.live.Incidents())) },
		lead: incident.Horizon, limit: maxIncidentEvents,
		past: func(events []telemetry.Event, r span) (inside []telemetry.Incident) {
			for _, n := range incident.Of(events) {
				if n.End == nil || !n.End.Before(r.since) {
					inside = append(inside, n)
				}
			}
			return h.withUnseen(inside)
		},
	})
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
	h.writeOneIncident(w, n)
}

func (h *handler) writeOneIncident(w http.ResponseWriter, n *telemetry.Incident) {
	one := h.withUnseen([]telemetry.Incident{*n})
	writeAnswer(w, types.IncidentAnswer{GeneratedAt: h.cfg.Now().UTC(), Incident: one[0]})
}

// withUnseen adds to incidents what the ledger says could not be seen, and returns them.
func (h *handler) withUnseen(list []telemetry.Incident) []telemetry.Incident {
	if h.cfg.Ledger != nil && len(list) > 0 {
		incident.AddUnseen(list, h.cfg.Ledger.Unheard(), h.cfg.Now().UnixNano())
	}
	return list
}

// maxIncidentEvents is from how many events of a time range incidents are computed.
const maxIncidentEvents = 50_000

// storedIncident returns an incident of the past: that of the events around one of them.
func (h *handler) storedIncident(ctx context.Context, id string) (*telemetry.Incident, bool, *types.Problem) {
	one, problem := h.storedEvent(ctx, id)
	if one == nil {
		return nil, false, problem
	}
	const around = time.Hour
	events, problem := h.storedEvents(ctx, span{one.Start.Add(-around), one.Start.Add(around)}, maxIncidentEvents, nil)
	if problem != nil {
		return nil, false, problem
	}
	n, ok := incident.Find(incident.Of(events), id)
	return n, ok, nil
}
