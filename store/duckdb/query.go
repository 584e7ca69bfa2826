package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// Query implements store.Backend.
func (s *Store) Query(ctx context.Context, q *store.Query) (*store.Answer, error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	ctx, done := s.boundSpill(ctx)
	defer done()
	c, err := s.compile(q)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := s.checkCoverage(ctx, q, c.Steps); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	condition, err := s.topGroups(ctx, q, c)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if condition != "" {
		narrow := *q
		narrow.Narrow(condition, nil, identity(tables.Tables[q.Table], q.Group)...)
		if c, err = s.compile(&narrow); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	limit := cmp.Or(q.Limit, store.DefaultLimit)
	answer, err := s.answer(ctx, c.Text+fmt.Sprintf(" LIMIT %d OFFSET %d", limit+1, q.Offset), q.Args, limit)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	answer.Resolution = c.Resolution
	c.FoldHistograms(answer)
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

func (s *Store) compile(q *store.Query) (*schema.Compiled, error) {
	return tables.Compile(q, &moment{s, s.list()})
}

// A moment is the files that there are at one. It implements schema.Source.
type moment struct {
	*Store
	list []*partition
}

// Covers implements schema.Source.
func (f *moment) Covers(t *schema.Table, step time.Duration, at time.Time) bool {
	tier := schema.TierOf(t, step)
	return slices.ContainsFunc(f.list, func(p *partition) bool {
		return p.tier == tier && !p.emptied[t.ID] && !p.start.After(at) && at.Before(p.end())
	})
}

// RolledUntil implements schema.Source.
func (f *moment) RolledUntil(table string) time.Time { return f.rolledUntil(table) }

// Rows implements schema.Source.
func (f *moment) Rows(t *schema.Table, segments []schema.Segment, resolution time.Duration) string {
	columns := t.At(resolution)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	if t.Finest == 0 {
		where := "false"
		for _, g := range segments {
			where = fmt.Sprintf("start >= %s AND start < %s", timestamp(g.From), timestamp(g.To))
		}
		return fmt.Sprintf("(SELECT * FROM %s WHERE %s)", t.Name(0), where)
	}
	var parts []string
	for _, g := range segments {
		for i, p := range f.list {
			end := p.end()
			if i+1 < len(f.list) && f.list[i+1].tier == p.tier {
				end = minTime(end, f.list[i+1].start)
			}
			if p.tier == schema.TierOf(t, g.Step) && p.start.Before(g.To) && g.From.Before(end) {
				parts = append(parts,
					fmt.Sprintf("SELECT %s FROM %s.%s WHERE start >= %s AND start < %s", strings.Join(names, ", "),
						p.catalog, t.Name(g.Step), timestamp(g.From), timestamp(g.To)))
			}
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("(SELECT %s FROM %s WHERE false)", strings.Join(names, ", "), t.Name(t.Finest))
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}
