package api

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// incidents lists what broke: of now, or in a time range. What began shortly before a range may explain what is in it.
func (h *handler) incidents(ctx context.Context, p *params) (answer, *types.Problem) {
	return findFromEvents(ctx, h, p, &fromEvents[telemetry.Incident]{
		row:  filter.IncidentTable.Row,
		live: func() []telemetry.Incident { return slices.Clone(h.cfg.Incidents.Incidents()) },
		lead: incident.Horizon, limit: maxIncidentEvents,
		past: func(ctx context.Context, events []telemetry.Event, r span) ([]telemetry.Incident, *types.Problem) {
			var inside []telemetry.Incident
			arrivals, problem := h.recordedArrivals(ctx, span{r.since.Add(-incident.Horizon), r.until})
			for _, n := range incident.Of(events, arrivals) {
				if n.End == nil || !n.End.Before(r.since) {
					inside = append(inside, n)
				}
			}
			return inside, problem
		},
	})
}

// incident answers with one incident, by the id of any of its events.
func (h *handler) incident(w http.ResponseWriter, r *http.Request, p *params) {
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	n, found := incident.Find(h.cfg.Incidents.Incidents(), p.id)
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
	writeAnswer(w, types.IncidentAnswer{GeneratedAt: h.cfg.Now().UTC(), Incident: *n})
}

const (
	// arrivalStep is the length of the intervals in which the ledger counts what exporters sent.
	arrivalStep = 10 * time.Second
	// maxArrivals is how many records of exporters are read for incidents of the past.
	maxArrivals = 100_000
)

// recordedArrivals returns what the store knows of exporters in a time range, where the ledger has it no more. An
// exporter that sent nothing in the hour before it is not expected in it.
func (h *handler) recordedArrivals(ctx context.Context, r span) (incident.Arrivals, *types.Problem) {
	var recent incident.Arrivals = unheard{}
	if h.cfg.Analyzer == nil {
		kept := h.cfg.Ledger.Unheard()
		if kept.Kept(r.since.UnixNano()) {
			return kept, nil
		}
		recent = kept
	}
	found, problem := h.ask(ctx, &store.Query{
		Table: store.Exporters, From: r.since.Add(-lookAround), To: r.until, Step: arrivalStep, Limit: maxArrivals,
		Group: []string{"source_hi", "source_lo", "node"}, Values: []string{"received", "lost", "duplicate"},
	})
	if problem != nil || found.More || len(found.Rows) == 0 {
		return recent, problem
	}
	type place struct {
		source netip.Addr
		node   uint32
		named  bool
	}
	length := max(arrivalStep, found.Resolution).Nanoseconds()
	places, list, sinceNs := map[place]int{}, []ledger.History{}, int64(math.MaxInt64)
	for _, row := range found.Rows {
		problem := h.yield(found, row, reflect.TypeFor[types.ExporterRecord](), func(row any) {
			x := row.(*types.ExporterRecord)
			start, at := x.Start.UnixNano(), place{source: *x.Source}
			sinceNs = min(sinceNs, start)
			if x.Node != nil {
				at.node, at.named = *x.Node, true
			}
			i, ok := places[at]
			if !ok {
				i, places[at] = len(list), len(list)
				key := telemetry.ExporterKey{Source: at.source, Node: at.node, HasNode: at.named}
				list = append(list, ledger.History{Key: key, Name: x.Name, FirstNs: start})
			}
			lost := uint64(max(*x.Lost, 0))
			sent := *x.Received + lost - min(uint64(max(*x.Duplicate, 0)), *x.Received)
			list[i].Add(start, start+length, *x.Received, sent, lost)
		})
		if problem != nil {
			return nil, problem
		}
	}
	return &recorded{recent, ledger.UnheardOf(list), sinceNs}, nil
}

// unheard is what is known of exporters without their ledger: nothing.
type unheard struct{}

// Between is that of Arrivals.
func (unheard) Between([]uint32, int64, int64) ([]telemetry.Unseen, bool) { return nil, false }

// recorded is what a ledger knows, and of what it does not know any more a store.
type recorded struct {
	incident.Arrivals
	before  ledger.Unheard
	sinceNs int64 // when the records of the store begin
}

// Between is that of Arrivals.
func (r *recorded) Between(nodes []uint32, fromNs, toNs int64) ([]telemetry.Unseen, bool) {
	if list, known := r.Arrivals.Between(nodes, fromNs, toNs); known {
		return list, known
	}
	list, known := r.before.Between(nodes, fromNs, toNs)
	return list, known && r.sinceNs <= fromNs
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
	arrivals, problem := h.recordedArrivals(ctx, span{one.Start.Add(-around), one.Start.Add(around)})
	if problem != nil {
		return nil, false, problem
	}
	n, ok := incident.Find(incident.Of(events, arrivals), id)
	return n, ok, nil
}
