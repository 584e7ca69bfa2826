package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/waybill-int/waybill/store/schema"
)

const (
	// An export is good for exportEvery, or for exportShare times as long as it took if that is longer.
	exportEvery = time.Second
	exportShare = 10
	// obsoleteAfter is when a chunk that was replaced is removed: no statement runs for so long.
	obsoleteAfter = statementTime + 10*time.Second
)

// A chunk is a Parquet file with the rows of a table of a partition from one row id to another.
type chunk struct {
	file     string
	from, to int64
}

// chunkKey is what chunks are of.
type chunkKey struct{ catalog, table string }

// A tail is what processes of statements see of the files that are not sealed. Rows are only ever added to these, so
// that an export writes those that came since the last one.
type tail struct {
	dir string

	mu       sync.Mutex
	chunks   chunks
	written  int                  // chunks, which names them
	good     map[string]time.Time // until when, by table
	obsolete map[string]time.Time // files that were replaced, and when
}

// chunks are the files of tables, in the order of their rows. They are replaced, and never changed in place.
type chunks map[chunkKey][]chunk

// files are the names of the files of a table.
func (c chunks) files(p *partition, t schema.Placed) (names []string) {
	for _, k := range c[chunkKey{p.catalog, t.Name(t.Step)}] {
		names = append(names, quoted(k.file))
	}
	return names
}

// clear removes all files.
func (e *tail) clear() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.chunks, e.good, e.obsolete = chunks{}, map[string]time.Time{}, map[string]time.Time{}
	return os.RemoveAll(e.dir)
}

// forget makes the chunks of p obsolete: its rows are in another order, or it is sealed.
func (e *tail) forget(p *partition) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.chunks = maps.Clone(e.chunks)
	clear(e.good)
	for key, list := range e.chunks {
		if key.catalog == p.catalog {
			delete(e.chunks, key)
			e.replaced(list)
		}
	}
}

// replaced notes that nobody new asks for chunks. mu is held.
func (e *tail) replaced(list []chunk) {
	for _, c := range list {
		e.obsolete[c.file] = time.Now()
	}
}

// exportTail brings the chunks of tables up to date, unless they are young. reading is held.
func (s *Store) exportTail(ctx context.Context, wanted []schema.Placed) (chunks, error) {
	e := &s.tail
	e.mu.Lock()
	defer e.mu.Unlock()
	began := time.Now()
	if !slices.ContainsFunc(wanted, func(t schema.Placed) bool { return began.After(e.good[t.Name(t.Step)]) }) {
		return e.chunks, nil
	}
	for file, since := range e.obsolete {
		if began.Sub(since) > obsoleteAfter && os.Remove(file) == nil {
			delete(e.obsolete, file)
		}
	}
	if err := s.room(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(e.dir, 0o750); err != nil {
		return nil, err
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	list := s.list()
	// All tables of a file are of one moment.
	if _, err := conn.ExecContext(ctx, "BEGIN TRANSACTION READ ONLY"); err != nil {
		return nil, err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") //nolint:errcheck // nothing was written
	exported := maps.Clone(e.chunks)
	for _, p := range list {
		for _, t := range wanted {
			if p.sealed || schema.TierOf(t.Table, t.Step) != p.tier {
				continue
			}
			key := chunkKey{p.catalog, t.Name(t.Step)}
			if exported[key], err = e.export(ctx, conn, key, exported[key]); err != nil {
				e.replaced(lacking(exported, e.chunks))
				return nil, err
			}
		}
	}
	maps.DeleteFunc(exported, func(key chunkKey, _ []chunk) bool { // of files that were dropped
		return !slices.ContainsFunc(list, func(p *partition) bool { return p.catalog == key.catalog })
	})
	e.replaced(lacking(e.chunks, exported))
	e.chunks = exported
	for _, t := range wanted {
		e.good[t.Name(t.Step)] = began.Add(max(exportEvery, exportShare*time.Since(began)))
	}
	return exported, nil
}

// lacking are the chunks of a that b lacks.
func lacking(a, b chunks) (list []chunk) {
	for key := range a {
		for _, c := range a[key] {
			if !slices.Contains(b[key], c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// export returns the chunks of a table with the rows that came since. Small chunks are put together with what is new,
// so that there are few. mu is held.
func (e *tail) export(ctx context.Context, conn *sql.Conn, key chunkKey, list []chunk) ([]chunk, error) {
	var from, to int64
	if len(list) > 0 {
		from = list[len(list)-1].to
	}
	table := key.catalog + "." + key.table
	err := conn.QueryRowContext(ctx,
		fmt.Sprintf("SELECT coalesce(max(rowid), %d) + 1 FROM %s WHERE rowid >= %d", from-1, table, from)).Scan(&to)
	if err != nil || to == from {
		return list, err
	}
	keep := len(list)
	for keep > 0 && list[keep-1].to-list[keep-1].from <= 2*(to-from) {
		keep--
		from = list[keep].from
	}
	e.written++
	c := chunk{filepath.Join(e.dir, fmt.Sprintf("%s-%s-%d.parquet", key.catalog, key.table, e.written)), from, to}
	_, err = conn.ExecContext(ctx,
		fmt.Sprintf(
			"COPY (SELECT * FROM %s WHERE rowid >= %d AND rowid < %d) TO '%s' (FORMAT parquet, COMPRESSION zstd)",
			table, from, to, quoted(c.file)))
	return append(slices.Clone(list[:keep]), c), err
}
