package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// A segment is a part of the range of a query, with the table that answers it.
type segment struct {
	step     time.Duration
	from, to time.Time
}

// Query implements store.Backend. It looks into the tables of the coarsest resolution that can answer, and into finer
// ones for the ends of the range and for what is not rolled up yet.
func (s *Store) Query(ctx context.Context, q *store.Query) (*store.Answer, error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	ctx, done := s.boundSpill(ctx)
	defer done()
	c, err := s.compile(q)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := s.whole(ctx, q, c.steps); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	condition, err := s.topGroups(ctx, q, c)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if condition != "" {
		narrow := *q
		narrow.Narrow(condition, nil, tables[q.Table].identity(q.Group)...)
		if c, err = s.compile(&narrow); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	limit := cmp.Or(q.Limit, store.DefaultLimit)
	answer, err := s.answer(ctx, c.text+fmt.Sprintf(" LIMIT %d OFFSET %d", limit+1, q.Offset), q.Args, limit)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	answer.Resolution = c.resolution
	for i := len(c.histograms) - 1; i >= 0; i-- {
		foldHistogram(answer, c.histograms[i])
	}
	return answer, nil
}

// answer executes a query and takes up to limit rows.
func (s *Store) answer(ctx context.Context, text string, args []any, limit int) (*store.Answer, error) {
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, trouble(ctx, err)
	}
	answer, err := read(rows, limit)
	if err != nil {
		return nil, trouble(ctx, err)
	}
	return answer, nil
}

// A compiled query.
type compiled struct {
	text, from string          // from are the rows that are put together
	steps      []time.Duration // the resolutions that can answer, the shortest first
	resolution time.Duration
	histograms []string
}

func (s *Store) compile(q *store.Query) (*compiled, error) {
	if q.Table >= store.NumTables {
		return nil, fmt.Errorf("there is no table %d", q.Table)
	}
	t := tables[q.Table]
	names := slices.Concat(q.Group, q.Values, q.Uses)
	for _, name := range names {
		if !t.has(name, t.finest) && !t.has(name+"_counts", t.finest) {
			return nil, fmt.Errorf("the table %s has no column %q", t.id, name)
		}
	}
	for _, name := range orders(q) {
		if name != "start" && !slices.Contains(names[:len(q.Group)+len(q.Values)], name) {
			return nil, fmt.Errorf("order is %q, which is not in the answer", q.Order)
		}
	}
	steps := slices.DeleteFunc(t.resolutions(), func(step time.Duration) bool {
		return q.Step > 0 && step > 0 && q.Step%step != 0 ||
			slices.ContainsFunc(names,
				func(name string) bool { return !t.has(name, step) && !t.has(name+"_counts", step) })
	})
	if len(steps) == 0 {
		return nil, fmt.Errorf("step is %v, want a multiple of %v", q.Step, t.finest)
	}
	list := s.list()
	segments := s.segments(list, t, steps, q.From, q.To)
	c := &compiled{steps: steps}
	for _, g := range segments {
		c.resolution = max(c.resolution, g.step)
	}
	rows := s.rows(list, t, segments, max(c.resolution, t.finest))
	s.selectFrom(c, q, t, rows, names)
	return c, nil
}

// segments cuts a range into parts, each with the coarsest of steps (the shortest first) that has it.
func (s *Store) segments(list []*partition, t *table, steps []time.Duration, from, to time.Time) []segment {
	if !from.Before(to) {
		return nil
	}
	step := steps[len(steps)-1]
	if len(steps) == 1 {
		return []segment{{step, from, to}}
	}
	finer := steps[:len(steps)-1]
	low, high := from.Truncate(step), minTime(to.Truncate(step), s.rolledUntil(t.name(step)))
	if low.Before(from) && covers(list, t, tierOf(t, finer[len(finer)-1]), from) {
		low = low.Add(step)
	}
	if !low.Before(high) {
		return s.segments(list, t, finer, from, to)
	}
	return slices.Concat(s.segments(list, t, finer, from, low), []segment{{step, low, high}},
		s.segments(list, t, finer, high, to))
}

// covers reports whether a partition of a tier may have what of a table begins at a time.
func covers(list []*partition, t *table, tier int, at time.Time) bool {
	return slices.ContainsFunc(list, func(p *partition) bool {
		return p.tier == tier && !p.emptied[t.id] && !p.start.After(at) && at.Before(p.end())
	})
}

// rows is a query for the rows of all segments, with the columns that tables of the resolution have.
func (s *Store) rows(list []*partition, t *table, segments []segment, resolution time.Duration) string {
	columns := t.at(resolution)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	if t.finest == 0 {
		where := "false"
		for _, g := range segments {
			where = fmt.Sprintf("start >= %s AND start < %s", timestamp(g.from), timestamp(g.to))
		}
		return fmt.Sprintf("(SELECT * FROM %s WHERE %s)", t.name(0), where)
	}
	var parts []string
	for _, g := range segments {
		for i, p := range list {
			end := p.end()
			if i+1 < len(list) && list[i+1].tier == p.tier {
				end = minTime(end, list[i+1].start)
			}
			if p.tier == tierOf(t, g.step) && p.start.Before(g.to) && g.from.Before(end) {
				parts = append(parts,
					fmt.Sprintf("SELECT %s FROM %s.%s WHERE start >= %s AND start < %s", strings.Join(names, ", "),
						p.catalog, t.name(g.step), timestamp(g.from), timestamp(g.to)))
			}
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("(SELECT %s FROM %s WHERE false)", strings.Join(names, ", "), t.name(t.finest))
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}

// selectFrom completes the query: derived columns, the condition, groups, values, order.
func (s *Store) selectFrom(c *compiled, q *store.Query, t *table, rows string, names []string) {
	var before, after []string // derived columns that are computed before and after rows are put together
	values := slices.Clone(q.Values)
	columns := []column{}
	if q.Step > 0 {
		columns = append(columns, start)
	}
	for _, name := range q.Group {
		columns = append(columns, column{name: name})
	}
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c column) bool { return c.name == name })
	}
	want := func(name string) {
		for _, k := range t.columns {
			if k.name == name && !has(name) {
				columns = append(columns, k)
			}
		}
		for _, d := range t.derived {
			if d.name == name && d.role != key && !has(name) {
				columns = append(columns, column{name: name, kind: d.kind, role: d.role})
			}
		}
	}
	routes := false
	for _, d := range t.derived {
		switch {
		case !slices.Contains(names, d.name):
		case slices.Contains(values, d.name) && len(d.needs) > 0 && !d.routes && t.role(d.needs[0]) != key:
			for _, need := range d.needs {
				want(need)
			}
			after = append(after, d.text+" AS "+d.name)
			if slices.Contains(q.Uses, d.name) {
				before = append(before, d.text+" AS "+d.name)
			}
			values = slices.DeleteFunc(values, func(name string) bool { return name == d.name })
		default:
			before = append(before, d.text+" AS "+d.name)
			routes = routes || d.routes
		}
	}
	answer := []string{}
	for _, name := range values {
		if t.role(name+"_counts") == counts {
			c.histograms = append(c.histograms, name)
			for _, part := range histogram(name) {
				want(part.name)
				answer = append(answer, part.name)
			}
			continue
		}
		want(name)
		answer = append(answer, name)
	}
	from := rows + " t"
	if routes {
		from += " LEFT JOIN (SELECT path_id, node, hops, dropped, uncertain FROM routes) r USING (path_id)"
	}
	if len(before) > 0 {
		from = "(SELECT t.*, " + strings.Join(before, ", ") + " FROM " + from + ")"
	} else {
		from = "(SELECT * FROM " + from + ")"
	}
	if q.Step > 0 {
		where := ""
		if q.Where != "" {
			where = " WHERE " + q.Where
		}
		from = fmt.Sprintf("(SELECT * REPLACE (%s AS start) FROM %s%s)", floor("start", q.Step), from, where)
	} else if q.Where != "" {
		from = "(SELECT * FROM " + from + " WHERE " + q.Where + ")"
	}
	c.from = from
	group := slices.Clone(q.Group)
	if q.Step > 0 {
		group = append([]string{"start"}, group...)
	}
	list := slices.Concat(group, answer, after)
	text := together("rows", columns)
	c.text = fmt.Sprintf("WITH rows AS NOT MATERIALIZED %s SELECT %s FROM (%s)", from, strings.Join(list, ", "), text)
	switch {
	case q.Order != "":
		by := orders(q)
		for i := range by {
			by[i] += map[bool]string{true: " ASC NULLS LAST", false: " DESC NULLS LAST"}[q.Ascending]
		}
		c.text += " ORDER BY " + strings.Join(append(by, group...), ", ")
	case len(group) > 0:
		c.text += " ORDER BY " + strings.Join(group, ", ")
	}
}

// orders are the columns of q.Order.
func orders(q *store.Query) []string {
	if q.Order == "" {
		return nil
	}
	return strings.Split(q.Order, ",")
}

// role is the role of a column of t, key if there is none of that name.
func (t *table) role(name string) role {
	for _, c := range t.columns {
		if c.name == name {
			return c.role
		}
	}
	return key
}

// foldHistogram puts the columns of a histogram together into one.
func foldHistogram(a *store.Answer, name string) {
	at := slices.Index(a.Columns, name+"_count")
	width := len(histogram(name))
	a.Columns = slices.Concat(a.Columns[:at], []string{name}, a.Columns[at+width:])
	for i, row := range a.Rows {
		a.Rows[i] = slices.Concat(row[:at], []any{histogramOf(row[at : at+width])}, row[at+width:])
	}
}

// histogramOf makes a histogram of its columns; nil if it has no values.
func histogramOf(cells []any) *telemetry.Histogram {
	bins, _ := cells[5].([]any)
	numbers, _ := cells[6].([]any)
	if len(bins) == 0 || len(bins) != len(numbers) {
		return nil
	}
	first, last := bins[0].(int16), bins[len(bins)-1].(int16)
	h := &telemetry.Histogram{
		Count: cells[0].(uint64), Sum: cells[1].(uint64), Min: uint64(cells[2].(int64)), Max: uint64(cells[3].(int64)),
		Scale: cells[4].(int8), Start: first, Counts: make([]uint64, int(last)-int(first)+1),
	}
	for i := range bins {
		h.Counts[bins[i].(int16)-first] = numbers[i].(uint64)
	}
	return h
}
