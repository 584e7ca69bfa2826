package schema

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// A Segment is a part of the range of a query, with the resolution that answers it.
type Segment struct {
	Step     time.Duration
	From, To time.Time
}

// A Source tells what a store has.
type Source interface {
	// Rows is a query in brackets for the rows of t in all segments, with the columns that tables of the resolution
	// have.
	Rows(t *Table, segments []Segment, resolution time.Duration) string
	// Covers reports whether what of t begins at a time may be there in intervals of that length.
	Covers(t *Table, step time.Duration, at time.Time) bool
	// RolledUntil is the time up to which a table of longer intervals is complete.
	RolledUntil(table string) time.Time
}

// A Compiled query.
type Compiled struct {
	Text, From string          // From are the rows that are put together
	Steps      []time.Duration // the resolutions that can answer, the shortest first
	Columns    []string        // of the answer, with those of which histograms are made
	Resolution time.Duration   // the longest that is looked at
	histograms []string
}

// Compile turns a question into SQL. It looks into the tables of the coarsest resolution that can answer, and into
// finer ones for the ends of the range and for what is not rolled up yet. An error is one of the question.
func (s *Schema) Compile(q *store.Query, from Source) (*Compiled, error) {
	if q.Table >= store.NumTables {
		return nil, fmt.Errorf("there is no table %d", q.Table)
	}
	t := s.Tables[q.Table]
	names := slices.Concat(q.Group, q.Values, q.Uses)
	for _, name := range names {
		if !t.Has(name, t.Finest) && !t.Has(name+"_counts", t.Finest) {
			return nil, fmt.Errorf("the table %s has no column %q", t.ID, name)
		}
	}
	for _, name := range orders(q) {
		if name != "start" && !slices.Contains(names[:len(q.Group)+len(q.Values)], name) {
			return nil, fmt.Errorf("order is %q, which is not in the answer", q.Order)
		}
	}
	steps := slices.DeleteFunc(t.Resolutions(), func(step time.Duration) bool {
		return q.Step > 0 && step > 0 && q.Step%step != 0 ||
			slices.ContainsFunc(names,
				func(name string) bool { return !t.Has(name, step) && !t.Has(name+"_counts", step) })
	})
	if len(steps) == 0 {
		return nil, fmt.Errorf("step is %v, want a multiple of %v", q.Step, t.Finest)
	}
	segments := segmentsOf(from, t, steps, q.From, q.To)
	c := &Compiled{Steps: steps}
	for _, g := range segments {
		c.Resolution = max(c.Resolution, g.Step)
	}
	rows := from.Rows(t, segments, max(c.Resolution, t.Finest))
	s.selectFrom(c, q, t, rows, names)
	return c, nil
}

// segments cuts a range into parts, each with the coarsest of steps (the shortest first) that has it.
func segmentsOf(s Source, t *Table, steps []time.Duration, from, to time.Time) []Segment {
	if !from.Before(to) {
		return nil
	}
	step := steps[len(steps)-1]
	if len(steps) == 1 {
		return []Segment{{step, from, to}}
	}
	finer := steps[:len(steps)-1]
	low, high := from.Truncate(step), minTime(to.Truncate(step), s.RolledUntil(t.Name(step)))
	if low.Before(from) && s.Covers(t, finer[len(finer)-1], from) {
		low = low.Add(step)
	}
	if !low.Before(high) {
		return segmentsOf(s, t, finer, from, to)
	}
	return slices.Concat(segmentsOf(s, t, finer, from, low), []Segment{{step, low, high}},
		segmentsOf(s, t, finer, high, to))
}

// selectFrom completes the query: derived columns, the condition, groups, values, order.
func (s *Schema) selectFrom(c *Compiled, q *store.Query, t *Table, rows string, names []string) {
	var before, after []string // derived columns that are computed before and after rows are put together
	values := slices.Clone(q.Values)
	columns := []Column{}
	if q.Step > 0 {
		columns = append(columns, Start)
	}
	for _, name := range q.Group {
		columns = append(columns, Column{Name: name})
	}
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name })
	}
	want := func(name string) {
		for _, k := range t.Columns {
			if k.Name == name && !has(name) {
				columns = append(columns, k)
			}
		}
		for _, d := range t.Derived {
			if d.Name == name && d.Role != Key && !has(name) {
				columns = append(columns, Column{Name: name, Kind: d.Kind, Role: d.Role})
			}
		}
	}
	routes := false
	for _, d := range t.Derived {
		switch {
		case !slices.Contains(names, d.Name):
		case slices.Contains(values, d.Name) && len(d.Needs) > 0 && !d.Routes && t.Role(d.Needs[0]) != Key:
			for _, need := range d.Needs {
				want(need)
			}
			after = append(after, d.Text+" AS "+d.Name)
			if slices.Contains(q.Uses, d.Name) {
				before = append(before, d.Text+" AS "+d.Name)
			}
			values = slices.DeleteFunc(values, func(name string) bool { return name == d.Name })
		default:
			before = append(before, d.Text+" AS "+d.Name)
			routes = routes || d.Routes
		}
	}
	answer := []string{}
	for _, name := range values {
		if t.Role(name+"_counts") == Counts {
			c.histograms = append(c.histograms, name)
			for _, part := range Histogram(name) {
				want(part.Name)
				answer = append(answer, part.Name)
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
	if q.Where != "" {
		from = "(SELECT * FROM " + from + " WHERE " + q.Where + ")"
	}
	if q.Step > 0 {
		from = fmt.Sprintf("(SELECT * REPLACE (%s AS start) FROM %s)", s.Floor("start", q.Step), from)
	}
	c.From = from
	group := slices.Clone(q.Group)
	if q.Step > 0 {
		group = append([]string{"start"}, group...)
	}
	list := slices.Concat(group, answer, after)
	for _, name := range list {
		if as := strings.LastIndex(name, " AS "); as >= 0 {
			name = name[as+len(" AS "):]
		}
		c.Columns = append(c.Columns, strings.Trim(name, `"`))
	}
	with, rows := s.Group(from, columns)
	c.Text = fmt.Sprintf("%sSELECT %s FROM (%s)", with, strings.Join(list, ", "), rows)
	switch {
	case q.Order != "":
		by := orders(q)
		for i := range by {
			routeNodes := func(d Derived) bool { return d.Name == by[i] && d.Routes && d.Text == s.RouteNodes() }
			by[i] = s.Order(by[i], q.Ascending, slices.ContainsFunc(t.Derived, routeNodes))
		}
		c.Text += " ORDER BY " + strings.Join(append(by, s.inOrder(group)...), ", ")
	case len(group) > 0:
		c.Text += " ORDER BY " + strings.Join(s.inOrder(group), ", ")
	}
}

// inOrder are columns of groups as terms of ORDER BY.
func (s *Schema) inOrder(group []string) []string {
	terms := make([]string, len(group))
	for i, name := range group {
		terms[i] = s.Order(name, true, false)
	}
	return terms
}

// orders are the columns of q.Order.
func orders(q *store.Query) []string {
	if q.Order == "" {
		return nil
	}
	return strings.Split(q.Order, ",")
}

// FoldHistograms puts the columns of each histogram of an answer together into one.
func (c *Compiled) FoldHistograms(a *store.Answer) {
	for _, name := range slices.Backward(c.histograms) {
		foldHistogram(a, name)
	}
}

// foldHistogram puts the columns of a histogram together into one.
func foldHistogram(a *store.Answer, name string) {
	at := slices.Index(a.Columns, name+"_count")
	width := len(Histogram(name))
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

func minTime(t time.Time, others ...time.Time) time.Time {
	for _, o := range others {
		if o.Before(t) {
			t = o
		}
	}
	return t
}
