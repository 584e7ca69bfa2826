package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/waybill-int/waybill/store"
)

// spillDir is where DuckDB puts what questions and sorting do not fit into memory.
func (s *Store) spillDir() string { return filepath.Join(s.config.Dir, "tmp") }

// spillCheck is how often it is looked whether they leave room on the disk.
const spillCheck = 50 * time.Millisecond

// boundSpill returns a context that ends, as for an answer that is too large, when what is spilled leaves less room on
// the disk than has to stay free. The function that it returns must be called.
func (s *Store) boundSpill(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		ticker := time.NewTicker(spillCheck)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if list, err := os.ReadDir(s.spillDir()); err != nil || len(list) == 0 {
				continue
			}
			if err := s.room(); err != nil {
				cancel(fmt.Errorf("%w: %w", store.ErrTooLarge, err))
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
