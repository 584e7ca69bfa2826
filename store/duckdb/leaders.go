package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/store"
)

const (
	// maxLeaders is how many groups leaders looks for.
	maxLeaders = 4096
	// maxLeaderRows is how many rows it looks at to find the value that they must have.
	maxLeaderRows = 1 << 17
)

// leaders narrows a question for the groups with the highest maximum: groups that come first have a row with a high value, and DuckDB
// finds the highest values of fifty million rows in some milliseconds, while grouping them all takes seconds. It returns a
// condition that all rows of those groups meet, and seldom others; "" if the question is of another kind, or nothing is gained.
func (s *Store) leaders(ctx context.Context, q *store.Query, c *compiled) (string, error) {
	t := tables[q.Table]
	wanted := cmp.Or(q.Limit, store.DefaultLimit) + q.Offset + 1
	columns := t.identity(q.Group)
	if q.Ascending || t.role(q.Order) != high || q.Step != 0 || len(columns) == 0 || wanted > maxLeaders/4 {
		return "", nil
	}
	list := strings.Join(columns, ", ")
	rows, err := s.leading(ctx, q, c, list, wanted)
	if err != nil || rows == nil {
		return "", err
	}
	values := make([][]string, len(columns))
	null := make([]bool, len(columns))
	for _, row := range rows {
		for i, v := range row {
			if v == nil {
				null[i] = true
			} else if text := fmt.Sprintf("%v", v); !slices.Contains(values[i], text) {
				values[i] = append(values[i], text)
			}
		}
	}
	conditions := make([]string, len(columns))
	for i, name := range columns {
		terms := []string{}
		if len(values[i]) > 0 {
			terms = append(terms, name+" IN ("+strings.Join(values[i], ", ")+")")
		}
		if null[i] {
			terms = append(terms, name+" IS NULL")
		}
		conditions[i] = "(" + strings.Join(terms, " OR ") + ")"
	}
	return strings.Join(conditions, " AND "), nil
}

// leading returns the groups with a maximum that is as high as that of the wanted first; nil if they are too many to tell.
func (s *Store) leading(ctx context.Context, q *store.Query, c *compiled, list string, wanted int) ([][]any, error) {
	known := fmt.Sprintf("FROM %s WHERE %s IS NOT NULL", c.from, q.Order)
	for rows := 8 * wanted; rows <= maxLeaderRows; rows *= 16 {
		// The value of the last of the wanted groups, from as many rows as should have them.
		a, err := s.answer(ctx, fmt.Sprintf(
			"SELECT min(v), count(*) FROM (SELECT max(v) AS v FROM (SELECT %s, %s AS v %s ORDER BY v DESC LIMIT %d) GROUP BY %s ORDER BY v DESC LIMIT %d)",
			list, q.Order, known, rows, list, wanted), q.Args, 1)
		if err != nil {
			return nil, err
		}
		if n, _ := a.Rows[0][1].(int64); n < int64(wanted) {
			continue
		}
		a, err = s.answer(ctx, fmt.Sprintf("SELECT DISTINCT %s %s AND %s >= %v", list, known, q.Order, a.Rows[0][0]), q.Args, maxLeaders)
		if err != nil || a.More {
			return nil, err
		}
		return a.Rows, nil
	}
	return nil, nil
}

// identity are columns of numbers that tell groups apart, or at least most of them; none if the groups have none.
func (t *table) identity(group []string) (columns []string) {
	for _, name := range group {
		for _, d := range t.derived {
			if d.name == name && len(d.needs) == 1 && !d.routes {
				name = d.needs[0]
			}
		}
		for _, c := range t.columns {
			if c.name == name && c.role == key && strings.HasPrefix(c.kind, "U") && !strings.HasSuffix(c.kind, "]") && !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	if slices.Contains(columns, "flow") {
		return []string{"src_lo", "flow"} // flow is the identity of all others; files are sorted by the source, which says where to look
	}
	return columns
}
