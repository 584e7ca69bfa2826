package api

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) loss(_ context.Context, p *params) (answer, *types.Problem) {
	now := h.cfg.Now()
	q := ledger.Query{SinceNs: p.time("since", now), UntilNs: p.time("until", now)}
	q.Intervals = p.boolean("intervals")
	if q.UntilNs != 0 && q.UntilNs <= q.SinceNs {
		p.reject("until", "a time after since", "until is not after since")
	}
	var a ledger.Answer
	items := func() []telemetry.Loss {
		a = h.cfg.Ledger.Loss(q, now.UnixNano())
		return a.Exporters
	}
	var list answer
	var problem *types.Problem
	if p.isGrouped() {
		q.Match = filtered(h, p.filter(), filter.LossTable.Row)
		list, problem = grouped(h, p, items, newLossGroup, addLoss)
	} else {
		list, problem = live(filter.LossTable, func(*handler) []telemetry.Loss { return items() })(h, nil, p)
	}
	if problem != nil {
		return answer{}, problem
	}
	if q.UntilNs != 0 && q.UntilNs <= a.IntervalsSince.UnixNano() {
		return answer{}, h.lossGone(a.IntervalsSince)
	}
	var since *time.Time
	if !a.Since.IsZero() {
		since = &a.Since
	}
	list.more = append(list.more, []encode.Member{
		{Name: "since", Value: since},
		{Name: "until", Value: a.Until},
		{Name: "intervals_since", Value: a.IntervalsSince},
		{Name: "intervals_early", Value: a.IntervalsEarly},
		{Name: "sockets", Value: a.Sockets},
		{Name: "tables", Value: a.Tables},
		{Name: "gaps", Value: a.Gaps},
	}...)
	return list, nil
}

// lossGone is the answer about a time of which the ledger has nothing: since says since when it has intervals.
func (h *handler) lossGone(since time.Time) *types.Problem {
	instead := "a server with a store (`waybill serve --data DIR`) has what exporters lost before"
	if h.cfg.History != nil {
		instead = "/api/v1/exporters of the same time range (`waybill exporters --since`) has what was received and lost before, from the store"
	}
	problem := types.NewProblem(http.StatusBadRequest,
		"the ledger keeps intervals of an hour at most, and has none before %s; %s", since.Format(time.RFC3339),
		instead)
	problem.Parameter, problem.Allowed = "until", "a time after "+since.Format(time.RFC3339)
	return problem
}

// time returns the time that a parameter names, in nanoseconds since 1970: without a zone in UTC, or how long ago it
// was. 0: none.
func (p *params) time(name string, now time.Time) int64 {
	text, given := p.text(name)
	if !given {
		return 0
	}
	if text == "now" {
		return now.UnixNano()
	}
	if t, err := filter.ParseTime(text, time.UTC); err == nil {
		switch { // nanoseconds have no other years
		case t.After(latestTime):
			return latestTime.UnixNano()
		case t.Before(time.Unix(0, 1)):
			return 1
		}
		return t.UnixNano()
	}
	ago, err := filter.ParseDuration(text)
	if err != nil {
		p.reject(name, "a time such as 2026-11-21T09:00:00Z, or how long ago, such as 10m", "%s is %q", name, text)
	}
	return max(now.Add(-ago).UnixNano(), 1)
}

// latestTime is the last that filters know.
var latestTime = time.Unix(0, math.MaxInt64)
