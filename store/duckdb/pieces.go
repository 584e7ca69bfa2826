package duckdb

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store/schema"
)

// A Piece is rows of one table in one of the files. A piece of the same name has the same rows as long as nobody writes
// to the store or maintains it.
type Piece struct {
	schema.Placed
	Name string // the file, the table and its first row
	Rows int64

	catalog   string
	from, end int64 // rowid
}

// pieceRows is how many rows a Piece has at most: they are in memory together.
const pieceRows = 1 << 16

// Pieces returns all rows of the store in pieces, the oldest file first.
func (s *Store) Pieces(ctx context.Context) ([]Piece, error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	var list []Piece
	for _, p := range s.list() {
		for _, t := range tables.In(p.tier) {
			var rows, end int64
			row := s.db.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*), coalesce(max(rowid) + 1, 0) FROM %s.%s",
				p.catalog, t.Name(t.Step)))
			if err := row.Scan(&rows, &end); err != nil {
				return nil, fmt.Errorf("store: %w", trouble(ctx, err))
			}
			for from := int64(0); from < end; from += pieceRows {
				list = append(list, Piece{
					Placed: t, Name: fmt.Sprintf("%s %s %d", p.catalog, t.Name(t.Step), from),
					Rows: min(rows, pieceRows), catalog: p.catalog, from: from, end: from + pieceRows,
				})
				rows -= min(rows, pieceRows)
			}
		}
	}
	return list, nil
}

// EachRow calls f with the rows of a piece that begin at since or later: the values of the table's columns in their
// order, as DuckDB has them. f may keep them.
func (s *Store) EachRow(ctx context.Context, p *Piece, since time.Time, f func(row []any) error) error {
	s.reading.RLock()
	defer s.reading.RUnlock()
	columns := p.At(p.Step)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	rows, err := s.db.QueryContext(ctx,
		fmt.Sprintf("SELECT %s FROM %s.%s WHERE rowid >= %d AND rowid < %d AND start >= %s", strings.Join(names, ", "),
			p.catalog, p.Placed.Name(p.Step), p.from, p.end, timestamp(since)))
	if err != nil {
		return fmt.Errorf("store: %w", trouble(ctx, err))
	}
	defer rows.Close()
	for rows.Next() {
		row, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return fmt.Errorf("store: %w", trouble(ctx, err))
		}
		if err := f(row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("store: %w", trouble(ctx, err))
	}
	return nil
}

// Rolled returns up to when tables are rolled up, by their names.
func (s *Store) Rolled() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.rolled)
}
