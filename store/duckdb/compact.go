package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// compactAfter is how long after its end a file of seconds is compacted: late records are in it then.
const compactAfter = 2 * time.Minute

// compactOnce writes one file of seconds that is over anew, sorted. Rows that came in the order of time are put in the
// order of what they are about: a flow then stands in one place, and questions about it look at little of the file,
// which is smaller where flows last. It also gives back the blocks that DuckDB has left free. Others write meanwhile;
// if it was into this file, the new one is thrown away.
func (s *Store) compactOnce(ctx context.Context, now time.Time) error {
	p := s.uncompacted(now)
	if p == nil {
		return nil
	}
	return s.rewrite(ctx, p, nil)
}

// rewrite writes the file of p anew, sorted, without the tables in without.
func (s *Store) rewrite(ctx context.Context, p *partition, without map[store.Table]bool) error {
	s.writing.Lock()
	writes := p.writes
	s.writing.Unlock()
	to := &partition{tier: p.tier, start: p.start, file: p.file + ".new", catalog: "compacting"}
	if err := removeFiles(to); err != nil { // of an attempt that a crash ended
		return err
	}
	statements := createFile(to, len(migrations)+1)
	statements = append(statements,
		fmt.Sprintf("INSERT INTO %s.waybill_rolled SELECT * FROM %s.waybill_rolled", to.catalog, p.catalog))
	to.emptied = map[store.Table]bool{}
	for _, t := range tables.In(p.tier) {
		if p.emptied[t.ID] || without[t.ID] {
			to.emptied[t.ID] = true
			statements = append(statements,
				fmt.Sprintf("INSERT INTO %s.waybill_emptied VALUES ('%s')", to.catalog, t.ID))
			continue
		}
		order, err := s.order(ctx, p, t)
		if err != nil {
			return err
		}
		statements = append(statements,
			fmt.Sprintf("INSERT INTO %s.%s SELECT * FROM %s.%s ORDER BY %s", to.catalog, t.Name(t.Step), p.catalog,
				t.Name(t.Step), order))
	}
	statements = append(statements, fmt.Sprintf("CREATE TABLE %s.waybill_compacted (version INTEGER)", to.catalog))
	if _, err := s.upkeep.ExecContext(ctx, to.attachment()); err != nil {
		return err
	}
	err := inTransaction(ctx, s.upkeep, statements)
	if err == nil {
		_, err = s.upkeep.ExecContext(ctx, "CHECKPOINT "+to.catalog)
	}
	_, detached := s.upkeep.ExecContext(s.ctx, "DETACH "+to.catalog)
	if err := errors.Join(err, detached); err != nil {
		return errors.Join(err, removeFiles(to))
	}
	if s.beforeSwap != nil {
		s.beforeSwap()
	}
	for range 100 {
		if done, err := s.replace(p, to, writes); done || err != nil {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return removeFiles(to)
		}
	}
	return removeFiles(to) // queries go on and on: another time
}

// uncompacted returns the oldest file of seconds that is over and not compacted, nil if there is none.
func (s *Store) uncompacted(now time.Time) *partition {
	list := slices.DeleteFunc(slices.Clone(s.list()), func(p *partition) bool { return p.tier != schema.Seconds })
	for i, p := range list {
		end := p.end()
		if i+1 < len(list) {
			end = minTime(end, list[i+1].start)
		}
		if !p.compacted && now.Sub(end) > compactAfter {
			return p
		}
	}
	return nil
}

// replace puts the file of to in the place of that of p, or throws it away if p was written to since it had that many
// writes. It returns false if queries run.
func (s *Store) replace(p, to *partition, writes int) (done bool, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if p.writes != writes {
		return true, removeFiles(to)
	}
	if !s.reading.TryLock() {
		return false, nil
	}
	defer s.reading.Unlock()
	if !p.sealed { // so that no log is left that a crash could apply to the new file
		if _, err := s.write.ExecContext(s.ctx, "CHECKPOINT "+p.catalog); err != nil {
			return false, err
		}
	}
	if _, err := s.write.ExecContext(s.ctx, "DETACH "+p.catalog); err != nil {
		return false, err
	}
	if err := p.endTally(); err != nil {
		return false, err
	}
	if err := os.Rename(to.file, p.file); err != nil {
		return false, err
	}
	p.sealed = false
	s.tail.forget(p)
	if _, err := s.write.ExecContext(s.ctx, p.attachment()); err != nil {
		return false, err
	}
	p.compacted, p.emptied = true, to.emptied
	return true, nil
}

// order is what the rows of t in p are sorted by: what they are about, and then the time.
//
// The number of a flow is the identity of all its other keys, but without meaning: in its order neighbours have nothing
// in common. So flows are sorted by their hosts first, and by their number only if they have several records, which
// stand together then. Those that have one stay in the order of time and path, or a record would take more than
// unsorted.
func (s *Store) order(ctx context.Context, p *partition, t schema.Placed) (string, error) {
	if t.ID == store.Flows && t.Step == t.Finest {
		var last bool
		row := s.upkeep.QueryRowContext(ctx,
			fmt.Sprintf("SELECT count(*) >= 2 * approx_count_distinct(flow) FROM %s.%s", p.catalog, t.Name(t.Step)))
		if err := row.Scan(&last); err != nil {
			return "", err
		}
		if last {
			return "src_hi, src_lo, dst_hi, dst_lo, flow, start", nil
		}
		return "src_hi, src_lo, dst_hi, dst_lo, start, path_id", nil
	}
	var keys []string
	for _, c := range t.At(t.Step) {
		if c.Role == schema.Key && c.Name != schema.Start.Name {
			keys = append(keys, c.Name)
		}
	}
	return strings.Join(append(keys, schema.Start.Name), ", "), nil
}

// removeFiles removes the files of p, if they are there.
func removeFiles(p *partition) error {
	for _, name := range []string{p.file, p.file + ".wal", p.tallyFile()} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
