package api

import (
	"context"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// fromEvents says how a list is made that is kept as the events that it is made of.
type fromEvents[T any] struct {
	row    func(*T) filter.Row
	live   func() []T
	lead   time.Duration      // how long before a time range the events begin that matter in it
	limit  int                // of how many events of a time range it is made
	narrow func(*store.Query) // selects the events; nil: all
	// past makes the list for a time range.
	past func(context.Context, []telemetry.Event, span) ([]T, *types.Problem)
}

// findFromEvents finds what p asks for of a list that is made of events: of now, or in a time range.
func findFromEvents[T any](ctx context.Context, h *handler, p *params, list *fromEvents[T]) (answer, *types.Problem) {
	s := selectFrom(h, p, list.row)
	if !asksPast(p) {
		if problem := p.problem(); problem != nil {
			return answer{}, problem
		}
		return s.answer(list.live()), nil
	}
	r := h.written(store.Events, p.span(h.cfg.Now()))
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if problem := needHistory(&h.cfg); problem != nil {
		return answer{}, problem
	}
	events, problem := h.storedEvents(ctx, span{r.since.Add(-list.lead), r.until}, list.limit, list.narrow)
	if problem != nil {
		return answer{}, problem
	}
	all, problem := list.past(ctx, events, r)
	if problem != nil {
		return answer{}, problem
	}
	return s.answer(all).spanning(r), nil
}

// storedEvents returns the events that began in a time range; it is a problem if there are more than the limit. narrow
// selects among them; nil: all.
func (h *handler) storedEvents(ctx context.Context, r span, limit int, narrow func(*store.Query)) (
	[]telemetry.Event, *types.Problem,
) {
	q := &store.Query{
		Table: store.Events, From: r.since, To: r.until, Group: []string{"start", "id", "json"}, Order: "start",
		Limit: limit,
	}
	if narrow != nil {
		narrow(q)
	}
	found, problem := h.ask(ctx, q)
	if problem != nil {
		return nil, problem
	}
	if found.More {
		problem := types.NewProblem(http.StatusBadRequest, "there are more than %d events in the time range", limit)
		problem.Parameter, problem.Allowed = "since", "a shorter time range"
		return nil, problem
	}
	events, err := eventsOf(found)
	if err != nil {
		return nil, unreadable(err)
	}
	return events, nil
}

// storedEvent returns an event of the past, or nil.
func (h *handler) storedEvent(ctx context.Context, id string) (*telemetry.Event, *types.Problem) {
	q := &store.Query{
		Table: store.Events, From: time.Unix(0, 0), To: h.cfg.Now().Add(time.Hour),
		Group: []string{"start", "id", "json"}, Limit: 1,
	}
	q.Narrow("id = ?", []any{id}, "id")
	found, problem := h.ask(ctx, q)
	if problem != nil || len(found.Rows) == 0 {
		return nil, problem
	}
	one, err := eventsOf(found)
	if err != nil {
		return nil, unreadable(err)
	}
	return &one[0], nil
}
