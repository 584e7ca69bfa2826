package duckdb

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill-int/waybill/store"
)

// Between implements store.Backend, with the macros that statements can use too.
func (s *Store) Between(ctx context.Context, t store.Table, from, to time.Time, limit int) (*store.Answer, error) {
	if t != store.Links && t != store.Hosts {
		return nil, fmt.Errorf("store: the table %s does not say when something was there", t)
	}
	s.reading.RLock()
	defer s.reading.RUnlock()
	ctx, done := s.boundSpill(ctx)
	defer done()
	rows, err := s.db.QueryContext(ctx,
		fmt.Sprintf("SELECT * FROM memory.main.%s_between(%s, %s) LIMIT %d", t, timestamp(from), timestamp(to),
			limit+1))
	if err != nil {
		return nil, fmt.Errorf("store: %w", trouble(ctx, err))
	}
	answer, err := read(rows, limit)
	if err != nil {
		return nil, fmt.Errorf("store: %w", trouble(ctx, err))
	}
	return answer, nil
}
