package duckdb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// checkCoverage returns a store.GoneError if the tables that can answer lack the beginning of the range, of which
// others have records: longer intervals are kept for a longer time.
func (s *Store) checkCoverage(ctx context.Context, q *store.Query, steps []time.Duration) error {
	t := tables.Tables[q.Table]
	all := t.Resolutions()
	if steps[len(steps)-1] == all[len(all)-1] {
		return nil // what is kept for the longest time can answer
	}
	since := q.To // of the first file that can answer
	var parts []string
	list := s.list()
	for _, p := range list {
		if p.emptied[q.Table] ||
			!slices.ContainsFunc(steps, func(step time.Duration) bool { return schema.TierOf(t, step) == p.tier }) {
			continue
		}
		since = minTime(since, p.start)
	}
	for _, step := range all {
		for _, p := range list {
			if !slices.Contains(steps, step) && p.tier == schema.TierOf(t, step) && !p.emptied[q.Table] &&
				p.start.Before(since) && q.From.Before(p.end()) {
				parts = append(parts,
					fmt.Sprintf("(SELECT 1 FROM %s.%s WHERE start >= %s AND start < %s LIMIT 1)", p.catalog,
						t.Name(step), timestamp(q.From.Truncate(step)), timestamp(since.Truncate(step))))
			}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	a, err := s.answer(ctx, strings.Join(parts, " UNION ALL "), nil, 1)
	if err != nil {
		return err
	}
	if len(a.Rows) > 0 {
		return &store.GoneError{Since: since}
	}
	return nil
}
