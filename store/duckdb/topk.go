package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

const (
	// maxTopGroups is how many groups topGroups looks for.
	maxTopGroups = 4096
	// maxTopRows is how many rows it looks at to find the value that they must have.
	maxTopRows = 1 << 17
)

// topGroups narrows a question for the groups with the highest maximum, or mean: groups that come first have a row with
// a high value, and DuckDB finds the highest values of fifty million rows in some milliseconds, while grouping them all
// takes seconds. It returns a condition that all rows of those groups meet, and seldom others; "" if the question is of
// another kind, or nothing is gained.
func (s *Store) topGroups(ctx context.Context, q *store.Query, c *schema.Compiled) (string, error) {
	t := tables.Tables[q.Table]
	wanted := cmp.Or(q.Limit, store.DefaultLimit) + q.Offset + 1
	columns := identity(t, q.Group)
	mean := meanOf(t, q.Order)
	if q.Ascending || mean == nil && t.Role(q.Order) != schema.High || q.Step != 0 || len(columns) == 0 ||
		wanted > maxTopGroups/4 {
		return "", nil
	}
	l := &topSearch{
		Store: s, from: c.From, columns: columns, args: q.Args, wanted: wanted, value: q.Order, high: q.Order,
	}
	find := l.byMaximum
	if mean != nil {
		l.value, l.high = mean.Text, mean.Ceiling
		find = func(ctx context.Context) ([][]any, error) { return l.byMean(ctx, mean) }
	}
	groups, err := find(ctx)
	if err != nil || groups == nil {
		return "", err
	}
	return among(columns, groups), nil
}

// meanOf is the derived mean of that name, nil if there is none.
func meanOf(t *schema.Table, name string) *schema.Derived {
	for i := range t.Derived {
		if d := &t.Derived[i]; d.Name == name && d.Ceiling != "" {
			return d
		}
	}
	return nil
}

// A topSearch is a search for the groups that come first.
type topSearch struct {
	*Store
	from    string // the rows
	columns []string
	args    []any // of from
	wanted  int
	value   string // what it looks for the highest of, in SQL
	high    string // a column that is nowhere lower: DuckDB knows how high it is in each part of a file
}

// highest is a query for the groups of the rows with the highest values, and these.
func (l *topSearch) highest(rows int) string {
	list := strings.Join(l.columns, ", ")
	return fmt.Sprintf(
		"(SELECT %s, max(v) AS v FROM (SELECT %s, %s AS v FROM %s WHERE %s IS NOT NULL ORDER BY v DESC LIMIT %d) GROUP BY %s)", list, list, l.value, l.from, l.high, rows, list)
}

// bound is the least value v of the wanted first of some groups; nil if there are not as many.
func (l *topSearch) bound(ctx context.Context, groups string) (any, error) {
	a, err := l.answer(ctx,
		fmt.Sprintf("SELECT min(v), count(*) FROM (SELECT v FROM %s WHERE v IS NOT NULL ORDER BY v DESC LIMIT %d)",
			groups, l.wanted), l.args, 1)
	if err != nil {
		return nil, err
	}
	if n, _ := a.Rows[0][1].(int64); n < int64(l.wanted) {
		return nil, nil
	}
	return a.Rows[0][0], nil
}

// having returns the groups that have a row that meets a condition; nil if they are too many.
func (l *topSearch) having(ctx context.Context, condition string) ([][]any, error) {
	a, err := l.answer(ctx,
		fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s", strings.Join(l.columns, ", "), l.from, condition), l.args,
		maxTopGroups)
	if err != nil || a.More {
		return nil, err
	}
	return a.Rows, nil
}

// ofGroup is the text of a mean of all rows of a group.
func ofGroup(mean *schema.Derived) string {
	text := mean.Text
	for _, need := range mean.Needs {
		text = strings.ReplaceAll(text, need, "sum("+need+")")
	}
	return text
}

// byMaximum returns the groups with a maximum that is as high as that of the wanted first; nil if they are too many to
// tell.
func (l *topSearch) byMaximum(ctx context.Context) ([][]any, error) {
	for rows := 8 * l.wanted; rows <= maxTopRows; rows *= 16 {
		least, err := l.bound(ctx, l.highest(rows))
		if err != nil {
			return nil, err
		}
		if least != nil {
			return l.having(ctx, fmt.Sprintf("%s >= %v", l.high, least))
		}
	}
	return nil, nil
}

// byMean returns groups among which are the wanted first by their mean; nil if they are too many to tell. The mean of a
// group is at most the highest mean of a row of it, which is at most the maximum of the row. So the groups of the rows
// with the highest means say how high a mean has to be, and only those that have a row as high can be before them.
func (l *topSearch) byMean(ctx context.Context, mean *schema.Derived) ([][]any, error) {
	for rows := 8 * l.wanted; rows <= maxTopRows; rows *= 16 {
		a, err := l.answer(ctx, fmt.Sprintf("SELECT %s FROM %s", strings.Join(l.columns, ", "), l.highest(rows)),
			l.args, maxTopGroups)
		if err != nil || a.More || len(a.Rows) == 0 {
			return nil, err
		}
		least, err := l.bound(ctx,
			fmt.Sprintf("(SELECT %s AS v FROM %s WHERE %s GROUP BY %s)", ofGroup(mean), l.from,
				among(l.columns, a.Rows), strings.Join(l.columns, ", ")))
		if err != nil {
			return nil, err
		}
		if least == nil {
			continue
		}
		groups, err := l.having(ctx, fmt.Sprintf("%s >= %v AND %s >= %v", l.high, least, mean.Text, least))
		if err != nil || groups != nil {
			return groups, err
		}
	}
	return nil, nil
}

// among is a condition that the rows of groups meet, by their values of columns, and seldom others.
func among(columns []string, groups [][]any) string {
	conditions := make([]string, len(columns))
	for i, name := range columns {
		values, null := map[string]bool{}, false
		for _, group := range groups {
			if group[i] == nil {
				null = true
			} else {
				values[fmt.Sprint(group[i])] = true
			}
		}
		terms := []string{}
		if len(values) > 0 {
			terms = append(terms, name+" IN ("+strings.Join(slices.Sorted(maps.Keys(values)), ", ")+")")
		}
		if null {
			terms = append(terms, name+" IS NULL")
		}
		conditions[i] = "(" + strings.Join(terms, " OR ") + ")"
	}
	return strings.Join(conditions, " AND ")
}

// identity are columns of numbers that tell groups apart, or at least most of them; none if the groups have none.
func identity(t *schema.Table, group []string) (columns []string) {
	for _, name := range group {
		for _, d := range t.Derived {
			if d.Name == name && len(d.Needs) == 1 && !d.Routes {
				name = d.Needs[0]
			}
		}
		for _, c := range t.Columns {
			if c.Name == name && c.Role == schema.Key && strings.HasPrefix(c.Kind, "U") && !strings.HasSuffix(c.Kind, "]") &&
				!slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	if slices.Contains(columns, "flow") {
		// flow is the identity of all others; files are sorted by the source, which says where to look
		return []string{"src_lo", "flow"}
	}
	return columns
}
