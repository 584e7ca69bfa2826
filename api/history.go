package api

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

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
		"flows":     {store.Flows, types.Records["flows"], flowRecords, nil},
		"paths":     {store.Paths, types.Records["paths"], pathRecords, nil},
		"hops":      {store.Hops, types.Records["hops"], hopRecords, nil},
		"queues":    {store.Queues, types.Records["queues"], queueRecords, nil},
		"links":     {store.Links, types.Records["links"], linkRecords, nil},
		"drops":     {store.Drops, types.Records["drops"], filter.Drops, nil},
		"exporters": {store.Exporters, types.Records["exporters"], filter.Exporters, nil},
		"events":    {store.Events, nil, filter.Events, types.Records["events"]},
	}
}

// past answers a list about a time range.
func (h *handler) past(ctx context.Context, name string, p *params) (answer, *types.Problem) {
	now := h.cfg.Now()
	y := h.histories[name]
	if y.groups != nil && p.isGrouped() {
		y.record = y.groups
	}
	r := h.written(y.table, p.span(now))
	most := maxLimit
	if format := p.values.Get("format"); format != "" && format != formats[0].name {
		most = maxFileLimit
	}
	limit := p.limitUpTo(most)
	if name == "links" {
		p.knows("at") // see linksAt
	}
	q := store.Query{Table: y.table, Limit: limit}
	q.Where, q.Args = p.where(y.schema, h.cfg.Collector.Names, now)
	if y.record == nil {
		q.Group = []string{"start", "id", "json"}
		p.eventOrder(&q)
	} else {
		y.columns(p, &q, r)
		if name == "hops" {
			onlyForwarded(&q)
		}
		h.stillKept(p, &y, &q, now.Sub(r.since))
	}
	at := p.cursor(r)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if h.cfg.History == nil {
		problem := types.NewProblem(http.StatusNotFound, "this server keeps no records, so it knows only of now; `waybill serve --data DIR` keeps them")
		problem.Parameter = "since"
		return answer{}, problem
	}
	q.From, q.To, q.Offset = at.Since, at.Until, at.Offset
	if y.record == nil && at.At != "" {
		if problem := afterEvent(&q, at.At); problem != nil {
			return answer{}, problem
		}
	}
	found, problem := h.ask(ctx, &q)
	if problem != nil {
		return answer{}, problem
	}
	a, err := h.answerOf(name, y, found)
	if err != nil {
		return answer{}, types.NewProblem(http.StatusInternalServerError, "what the store has cannot be read: %v", err)
	}
	a.total = at.Offset + a.count
	a.past = true
	next := ""
	if found.More {
		at.Offset += a.count
		if y.record == nil {
			at.At = lastOf(found)
		}
		next = at.String()
	}
	a.more = []member{{"since", at.Since.UTC()}, {"until", at.Until.UTC()}, {"resolution_ns", found.Resolution.Nanoseconds()}}
	if next != "" {
		a.more = append(a.more, member{"next_cursor", next})
	}
	return a, nil
}

// answerOf turns rows into records.
func (h *handler) answerOf(name string, y history, found *store.Answer) (answer, error) {
	if y.record == nil {
		events := make([]telemetry.Event, len(found.Rows))
		at := slices.Index(found.Columns, "json")
		for i, row := range found.Rows {
			text, _ := row[at].(string)
			if err := json.Unmarshal([]byte(text), &events[i]); err != nil {
				return answer{}, err
			}
		}
		return listOf(name, events, len(events)), nil
	}
	records := reflect.MakeSlice(reflect.SliceOf(y.record), len(found.Rows), len(found.Rows))
	for i, row := range found.Rows {
		if err := fillRecord(records.Index(i), found.Columns, row, h.cfg.Collector.Names); err != nil {
			return answer{}, err
		}
	}
	return answer{
		name: name, total: len(found.Rows), count: len(found.Rows), kind: y.record,
		item: func(i int) any { return records.Index(i).Addr().Interface() },
	}, nil
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
	for _, name := range usual {
		if groups[name] == "" || seen[name] {
			p.reject("group_by", names(groups)+", with commas between them", "group_by has %q", name)
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
		p.reject("since", "a time such as 2026-11-21T09:00:00Z, or how long ago, such as 10m", "since is missing, and until is given")
	}
	if until == 0 {
		until = now.UnixNano()
	}
	if until <= since {
		p.reject("until", "a time after since", "until is not after since")
	}
	return span{time.Unix(0, since), time.Unix(0, until)}
}

// where returns the condition of filter and of the parameters that stand for one.
// Nodes have names.
func (p *params) where(s *filter.Schema, names map[uint32]string, now time.Time) (string, []any) {
	var terms []string
	add := func(format string, args ...any) { terms = append(terms, fmt.Sprintf(format, args...)) }
	knows := func(field string) bool { _, ok := s.Find(field); return ok }
	if knows("node") {
		if ids, given := p.nodeIDs(names); given {
			add("%s", nodeTerm(ids))
		}
	}
	if s.Name() == "drops" {
		if _, reason, given := p.reason(); given {
			add("%s", reason)
		}
	}
	for _, name := range []string{"src", "dst", "source"} {
		if !knows(name) || s.Name() == "events" || s.Name() == "drops" {
			continue
		}
		if prefix := p.prefix(name); prefix.IsValid() {
			add("%s in %s", name, prefix)
		}
	}
	if s.Name() == "flows" {
		if n, given := p.number("port", math.MaxUint16); given {
			add("port = %d", n)
		}
		if n, given := p.protocol("protocol"); given {
			add("protocol = %d", n)
		}
	}
	if s.Name() == "events" {
		var kinds []string
		for k := range p.kinds() {
			kinds = append(kinds, k.String())
		}
		if slices.Sort(kinds); len(kinds) > 0 {
			add("kind in (%s)", strings.Join(kinds, ", "))
		}
		add("severity >= %s", p.severity())
		if open, given := p.boolean("open"); given {
			add("end is %snull", map[bool]string{false: "not "}[open])
		}
	}
	p.filter("filter", s, nil) // which says what is wrong with it, and where
	if text, _ := p.text("filter"); strings.TrimSpace(text) != "" {
		add("(%s)", text)
	}
	if p.wrong != nil {
		return "", nil
	}
	e, err := filter.Parse(s, strings.Join(terms, " and "))
	if err != nil {
		p.reject("filter", "", "%v", err)
		return "", nil
	}
	return e.SQL(now)
}
