package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// A History function answers a question about a time range; see store.Backend.
type History func(ctx context.Context, q *store.Query) (*store.Answer, error)

// A history is a list that a store answers.
type history struct {
	table  store.Table
	record reflect.Type
	schema *filter.Schema
	groups reflect.Type // of a list with items instead of records: what they are grouped in
}

// histories by the name of their list.
func histories() map[string]history {
	return map[string]history{
		"flows":     {store.Flows, types.Records["flows"], filter.Flows.Kept(), nil},
		"paths":     {store.Paths, types.Records["paths"], filter.Paths.Kept(), nil},
		"hops":      ofRecords("hops", store.Hops),
		"queues":    ofRecords("queues", store.Queues),
		"links":     ofRecords("links", store.Links),
		"drops":     {store.Drops, types.Records["drops"], filter.Drops, nil},
		"exporters": {store.Exporters, types.Records["exporters"], filter.Exporters.Kept(), nil},
		"events":    {store.Events, nil, filter.Events.Kept(), types.Records["events"]},
	}
}

// ofRecords is a list whose records have other fields than its items of now.
func ofRecords(name string, t store.Table) history {
	return history{t, types.Records[name], filter.SchemaOf(name, types.Records[name]), nil}
}

// past answers a list about a time range.
func (h *handler) past(ctx context.Context, p *params) (answer, *types.Problem) {
	now := h.cfg.Now()
	y := h.views().histories[p.list]
	if y.groups != nil && p.isGrouped() {
		y.record = y.groups
	}
	r := h.written(y.table, p.span(now))
	most := maxLimit
	if format := p.values.Get("format"); format != "" && format != encode.Formats[0].Name {
		most = maxFileLimit
	}
	q := store.Query{Table: y.table, Limit: p.limitUpTo(most)}
	asked := p.where(&q, now, h.cfg.Dialect)
	if y.record == nil {
		q.Group = []string{"start", "id", "json"}
		p.eventOrder(&q)
	} else {
		y.columns(p, &q, r)
		if y.table == store.Hops {
			onlyForwarded(&q)
		}
		h.stillKept(p, &y, &q, asked, now.Sub(r.since))
	}
	at := p.cursor(r)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if problem := needHistory(&h.cfg); problem != nil {
		return answer{}, problem
	}
	q.From, q.To, q.Offset = at.Since, at.Until, at.Offset
	if y.record == nil && at.At != "" {
		if problem := afterEvent(&q, at.At, h.cfg.Dialect); problem != nil {
			return answer{}, problem
		}
	}
	found, problem := h.ask(ctx, &q)
	if problem != nil {
		return answer{}, problem
	}
	if found.More && y.record == nil {
		at.At = lastOf(found)
	}
	a, err := h.answerOf(p.list, y, found)
	if err != nil {
		return answer{}, unreadable(err)
	}
	return a.stored(at, found.More, encode.Member{Name: "resolution_ns", Value: found.Resolution.Nanoseconds()}), nil
}

// stored completes an answer of a store with where it begins and ends, and a cursor if there is more.
func (a answer) stored(at *cursor, more bool, members ...encode.Member) answer {
	a.more = members
	a.total = at.Offset + a.rows.Len()
	if more {
		at.Offset = a.total
		a.next = at.String()
	}
	return a.spanning(span{at.Since, at.Until})
}

// unreadable is the problem with an answer of the store that is not what it should be.
func unreadable(err error) *types.Problem {
	return types.NewProblem(http.StatusInternalServerError, "what the store has cannot be read: %v", err)
}

// eventsOf returns events of the store.
func eventsOf(found *store.Answer) ([]telemetry.Event, error) {
	events := make([]telemetry.Event, len(found.Rows))
	at := slices.Index(found.Columns, "json")
	for i, row := range found.Rows {
		text, _ := row[at].(string)
		if err := json.Unmarshal([]byte(text), &events[i]); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// answerOf turns rows into records.
func (h *handler) answerOf(name string, y history, found *store.Answer) (answer, error) {
	if y.record == nil {
		events, err := eventsOf(found)
		return newAnswer(name, asListed(events), len(events)), err
	}
	records := reflect.MakeSlice(reflect.SliceOf(y.record), len(found.Rows), len(found.Rows))
	for i, row := range found.Rows {
		if err := fillRecord(records.Index(i), found.Columns, row, h.cfg.Collector.Names()); err != nil {
			return answer{}, err
		}
	}
	item := func(i int) any { return records.Index(i).Addr().Interface() }
	return answer{rows: encode.Items(name, y.record, len(found.Rows), item), total: len(found.Rows)}, nil
}

// columns says what a query groups by and counts.
func (y *history) columns(p *params, q *store.Query, r span) {
	groups, usual := map[string]string{}, []string{}
	for i := range y.record.NumField() {
		f := y.record.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		columns := f.Tag.Get("store")
		switch {
		case columns == "" || columns == "start":
		case f.Tag.Get("group") != "":
			groups[name] = columns
			if f.Tag.Get("group") == "default" {
				usual = append(usual, name)
			}
		default:
			q.Values = append(q.Values, columns)
		}
	}
	if text, given := p.text("group_by"); given {
		usual = strings.Split(text, ",")
		if text == "" {
			usual = nil // all in one
		}
	}
	seen := map[string]bool{}
	for _, given := range usual {
		name := apiName(y.record, strings.TrimSpace(given))
		if groups[name] == "" || seen[name] {
			p.reject("group_by", listed(groups)+", with commas between them", "group_by has %q", given)
			return
		}
		seen[name] = true
		q.Group = append(q.Group, strings.Split(groups[name], ",")...)
	}
	q.Step = p.intervalOf(q.Table, r)
	y.order(p, q)
}

// A span is a time range, of which until is not a part.
type span struct{ since, until time.Time }

// span returns the time range that since and until name; until is now if it is not given.
func (p *params) span(now time.Time) span {
	since, until := p.time("since", now), p.time("until", now)
	if since == 0 {
		p.reject("since", "a time such as 2026-11-21T09:00:00Z, or how long ago, such as 10m",
			"since is missing, and until is given")
	}
	if until == 0 {
		until = now.UnixNano()
	}
	if until <= since {
		p.reject("until", "a time after since", "until is not after since")
	}
	return span{time.Unix(0, since), time.Unix(0, until)}
}

// where gives a query the condition of the filter, and returns the fields that it asks about.
func (p *params) where(q *store.Query, now time.Time, dialect filter.Dialect) []*filter.Field {
	e := p.filter()
	if e == nil || e.String() == "" {
		return nil
	}
	q.Where, q.Args = e.SQL(dialect, now)
	q.Uses = e.Columns()
	return e.Fields()
}

// onlyForwarded leaves out the packets that were dropped where they are counted, as the list of now does, unless q asks
// about them.
func onlyForwarded(q *store.Query) {
	if slices.Contains(q.Group, "dropped") || slices.Contains(q.Uses, "dropped") {
		return
	}
	q.Narrow("NOT dropped", nil, "dropped")
}
