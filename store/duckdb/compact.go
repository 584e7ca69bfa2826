package duckdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
)

// compactAfter is how long after its end a file of seconds is compacted: late records are in it then.
const compactAfter = 2 * time.Minute

// compactOnce writes one file of seconds that is over anew, sorted. Rows that came in the order of time are put in the order of what
// they are about: a flow then stands in one place, its columns take a third, and questions about it look at little of the
// file. It also gives back the blocks that DuckDB has left free.
func (s *Store) compactOnce(now time.Time) error {
	i := slices.IndexFunc(s.partitions, func(p *partition) bool {
		return p.tier == tierSeconds && !p.compacted && now.Sub(p.end()) > compactAfter
	})
	if i < 0 {
		return nil
	}
	p := s.partitions[i]
	to := &partition{tier: p.tier, start: p.start, file: p.file + ".new", catalog: "compacting"}
	if err := removeFiles(to); err != nil { // of an attempt that a crash ended
		return err
	}
	if _, err := s.write.ExecContext(s.ctx, fmt.Sprintf("ATTACH '%s' AS %s", quoted(to.file), to.catalog)); err != nil {
		return err
	}
	statements := createFile(to, len(migrations)+1)
	for _, t := range tiers[p.tier].tables() {
		statements = append(statements, fmt.Sprintf("INSERT INTO %s.%s SELECT * FROM %s.%s ORDER BY %s", to.catalog, t.name(t.step), p.catalog, t.name(t.step), t.order()))
	}
	statements = append(statements, fmt.Sprintf("CREATE TABLE %s.waybill_compacted (version INTEGER)", to.catalog))
	err := s.inTransaction(statements)
	if err == nil {
		_, err = s.write.ExecContext(s.ctx, "CHECKPOINT "+to.catalog)
	}
	_, detached := s.write.ExecContext(s.ctx, "DETACH "+to.catalog)
	if err := errors.Join(err, detached); err != nil {
		return errors.Join(err, removeFiles(to))
	}
	return s.replace(p, to)
}

// replace puts the file of to in the place of that of p.
func (s *Store) replace(p, to *partition) error {
	for tries := 0; !s.reading.TryLock(); tries++ {
		if tries == 100 { // queries go on and on: another time
			return removeFiles(to)
		}
		time.Sleep(10 * time.Millisecond)
	}
	defer s.reading.Unlock()
	if _, err := s.write.ExecContext(s.ctx, "CHECKPOINT "+p.catalog); err != nil { // so that no log is left that a crash could apply to the new file
		return err
	}
	if _, err := s.write.ExecContext(s.ctx, "DETACH "+p.catalog); err != nil {
		return err
	}
	if err := os.Rename(to.file, p.file); err != nil {
		return err
	}
	if _, err := s.write.ExecContext(s.ctx, fmt.Sprintf("ATTACH '%s' AS %s", quoted(p.file), p.catalog)); err != nil {
		return err
	}
	p.compacted = true
	return nil
}

// order is what rows of a compacted table are sorted by: what they are about, and then the time.
func (t *table) order() string {
	var keys []string
	if t.id == store.Flows {
		return "flow, start" // the identity of all its other keys
	}
	for _, c := range t.columns {
		if c.role == key && c.name != start.name {
			keys = append(keys, c.name)
		}
	}
	return strings.Join(append(keys, start.name), ", ")
}

// removeFiles removes the files of p, if they are there.
func removeFiles(p *partition) error {
	for _, name := range []string{p.file, p.file + ".wal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store: %w", err)
		}
	}
	return nil
}
