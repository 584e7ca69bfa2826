package duckdb

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/store"
)

const (
	// watchEvery is how often the memory of the process is looked at while a statement runs. A processor fills some 20 MB meanwhile.
	watchEvery = 10 * time.Millisecond
	// uncounted is what a statement may take beside the memory that DuckDB counts, in bytes.
	uncounted = 256 << 20
)

// watchMemory ends ctx, for store.ErrTooLarge, when the process has grown by more than a statement may take. DuckDB holds to its limit of
// memory what it counts, and does not count all: the values of a median are in memory of their own. Where the system does not tell
// what the process has, nothing is watched. The caller has to call stop.
func (s *Store) watchMemory(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	before, ok := resident()
	if !ok {
		return ctx, func() { cancel(nil) }
	}
	most := s.config.Memory + uncounted
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if now, ok := resident(); ok && now-before > most {
					cancel(fmt.Errorf("%w: it took more than %d MiB", store.ErrTooLarge, most>>20))
					return
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// resident is how much memory the process has, in bytes.
func resident() (n int64, ok bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}
