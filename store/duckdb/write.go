package duckdb

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
	"github.com/waybill-int/waybill/telemetry"
)

// A run is rows of one table that go into the same partition.
type run struct {
	rows int
	add  func(a *appender) error
}

// A load is what goes into one partition, in one transaction.
type load [store.NumTables][]run

// Write implements store.Backend. Each partition gets its records in one transaction, which is on disk when it ends.
func (s *Store) Write(batches []*telemetry.Intervals) error {
	if err := s.room(); err != nil {
		return err
	}
	if s.broken.Load() {
		s.endMaintain()
		err := s.mend()
		s.maintaining.Unlock()
		if err != nil {
			return err
		}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	loads, err := s.placeAll(batches)
	for err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(loads)),
		func(p *partition) bool { return p.sealed }) {
		s.writing.Unlock()
		s.endMaintain()
		err = s.reopen()
		s.maintaining.Unlock()
		s.writing.Lock()
		if err == nil {
			loads, err = s.placeAll(batches)
		}
	}
	if err != nil {
		s.broken.Store(true)
		return fmt.Errorf("store: %s", oneLine(err))
	}
	partitions := slices.SortedFunc(maps.Keys(loads),
		func(a, b *partition) int { return cmp.Compare(a.catalog, b.catalog) })
	for _, p := range partitions {
		if s.done[p.catalog] {
			continue
		}
		if err := s.writeInto(p, loads[p]); err != nil {
			s.broken.Store(true)
			return fmt.Errorf("store: write to %s: %s", p.file, oneLine(err))
		}
		s.done[p.catalog] = true
	}
	clear(s.done)
	return nil
}

// placeAll finds the partition of each record. writing is held.
func (s *Store) placeAll(batches []*telemetry.Intervals) (map[*partition]*load, error) {
	loads := map[*partition]*load{}
	var err error
	list := schema.RecordsOf(batches)
	for i := 0; i < len(list) && err == nil; i++ {
		err = s.place(loads, &list[i])
	}
	return loads, err
}

// room makes sure that there is room on the disk.
func (s *Store) room() error {
	if err := store.Room(s.config.Dir, s.config.MinFree); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// mend opens the files anew if they are broken. maintaining is held.
func (s *Store) mend() error {
	if !s.broken.Load() {
		return nil
	}
	if err := s.reopen(); err != nil {
		return err
	}
	s.broken.Store(false)
	return nil
}

// place cuts the records of one table where the partition changes.
func (s *Store) place(loads map[*partition]*load, r *schema.Records) error {
	t := tables.Tables[r.Table]
	for from := 0; from < r.Len; {
		first := r.StartNs(from)
		p, err := s.partitionFor(schema.TierOf(t, t.Finest), time.Unix(0, first))
		if err != nil {
			return err
		}
		to := from + 1
		for to < r.Len &&
			(r.StartNs(to) == first || s.findPartition(p.tier, time.Unix(0, r.StartNs(to))) == p) {
			to++
		}
		begin, end := from, to
		from = to
		if loads[p] == nil {
			loads[p] = &load{}
		}
		loads[p][r.Table] = append(loads[p][r.Table], run{end - begin, func(a *appender) error {
			for i := begin; i < end; i++ {
				if err := a.append(r, i); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return nil
}

// An appender writes rows.
type appender struct {
	to  *duckdb.Appender
	row schema.Row
}

func (a *appender) append(r *schema.Records, i int) error {
	r.Add(&a.row, i)
	err := a.to.AppendRow(a.row...)
	a.row = a.row[:0]
	return err
}

// writeInto writes a load in one transaction.
func (s *Store) writeInto(p *partition, l *load) error {
	if s.beforeWrite != nil {
		if err := s.beforeWrite(); err != nil {
			return err
		}
	}
	p.writes++
	if p.tally == nil {
		var err error
		if p.tally, err = s.count(p); err != nil {
			return err
		}
	}
	if _, err := s.write.ExecContext(s.ctx, "BEGIN"); err != nil {
		return err
	}
	for id, runs := range l {
		if len(runs) == 0 {
			continue
		}
		if err := s.appendRuns(p, tables.Tables[id], runs); err != nil {
			_, _ = s.write.ExecContext(s.ctx, "ROLLBACK")
			return err
		}
	}
	if _, err := s.write.ExecContext(s.ctx, "COMMIT"); err != nil {
		return err
	}
	for id, runs := range l {
		for _, r := range runs {
			p.tally[store.Table(id)] += int64(r.rows)
		}
	}
	_ = p.saveTally() // the records are written: a tally that is too small claims no loss
	return nil
}

func (s *Store) appendRuns(p *partition, t *schema.Table, runs []run) error {
	return s.write.Raw(func(conn any) error {
		to, err := duckdb.NewAppender(conn.(driver.Conn), p.catalog, "main", t.Name(t.Finest))
		if err != nil {
			return err
		}
		a := &appender{to: to, row: make(schema.Row, 0, len(t.Columns))}
		for _, r := range runs {
			if err := r.add(a); err != nil {
				_ = to.Close()
				return err
			}
		}
		return to.Close()
	})
}
