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
	err := s.placeFlows(loads, batches)
	for i := 0; i < len(batches) && err == nil; i++ {
		err = s.place(loads, batches[i])
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

// place finds the partition of each record of v, but for flows.
func (s *Store) place(loads map[*partition]*load, v *telemetry.Intervals) error {
	return cmp.Or(
		place1(s, loads, store.Paths, v.Paths, pathRows),
		place1(s, loads, store.Hops, v.Hops, hopRows),
		place1(s, loads, store.Queues, v.Queues, queueRows),
		place1(s, loads, store.Links, v.Links, linkRows),
		place1(s, loads, store.Drops, v.Drops, dropRows),
		place1(s, loads, store.Exporters, v.Exporters, exporterRows),
		place1(s, loads, store.Events, v.Events, eventRows),
		place1(s, loads, store.Routes, v.Routes, routeRows),
		place1(s, loads, store.Hosts, v.Hosts, hostRows),
		place1(s, loads, store.Bursts, v.Bursts, burstRows),
		place1(s, loads, store.BurstFlows, v.BurstFlows, burstFlowRows),
	)
}

// A placedFlow is a flow with what it is sorted by, so that comparing two does not wait for memory.
type placedFlow struct {
	startNs  int64
	src, dst uint64
	*telemetry.FlowInterval
}

// placeFlows finds the partition of each flow. Flows between the same hosts stand together then, which makes columns of
// what they have in common a third as large. The records stay where they are.
func (s *Store) placeFlows(loads map[*partition]*load, batches []*telemetry.Intervals) error {
	n := 0
	for _, v := range batches {
		n += len(v.Flows)
	}
	list := make([]placedFlow, 0, n)
	for _, v := range batches {
		for i := range v.Flows {
			f := &v.Flows[i]
			list = append(list, placedFlow{f.StartNs, f.Key.Src.Lo, f.Key.Dst.Lo, f})
		}
	}
	slices.SortFunc(list, func(a, b placedFlow) int {
		return cmp.Or(cmp.Compare(a.startNs, b.startNs), cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst),
			cmp.Compare(a.Path, b.Path))
	})
	return place1(s, loads, store.Flows, list, &rowsOf[placedFlow]{
		startNs: func(f *placedFlow) int64 { return f.startNs },
		parts: []func(*appender,
			*placedFlow){func(a *appender, f *placedFlow) { flowRows.addRest(a, f.FlowInterval) }},
	})
}

// place1 cuts the records of one table where the partition changes.
func place1[R any](s *Store, loads map[*partition]*load, id store.Table, rows []R, of *rowsOf[R]) error {
	t := tables[id]
	for len(rows) > 0 {
		first := of.startNs(&rows[0])
		p, err := s.partitionFor(tierOf(t, t.finest), time.Unix(0, first))
		if err != nil {
			return err
		}
		n := 1
		for n < len(rows) &&
			(of.startNs(&rows[n]) == first || s.findPartition(p.tier, time.Unix(0, of.startNs(&rows[n]))) == p) {
			n++
		}
		part := rows[:n:n]
		rows = rows[n:]
		if loads[p] == nil {
			loads[p] = &load{}
		}
		loads[p][id] = append(loads[p][id], run{len(part), func(a *appender) error {
			for i := range part {
				of.add(a, &part[i])
				if err := a.end(); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return nil
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
		if err := s.appendRuns(p, tables[id], runs); err != nil {
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

func (s *Store) appendRuns(p *partition, t *table, runs []run) error {
	return s.write.Raw(func(conn any) error {
		to, err := duckdb.NewAppender(conn.(driver.Conn), p.catalog, "main", t.name(t.finest))
		if err != nil {
			return err
		}
		a := &appender{to: to, row: make([]driver.Value, 0, len(t.columns))}
		for _, r := range runs {
			if err := r.add(a); err != nil {
				_ = to.Close()
				return err
			}
		}
		return to.Close()
	})
}
