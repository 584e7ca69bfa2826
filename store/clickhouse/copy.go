package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/waybill-int/waybill/store/schema"
)

// BeginCopy says which pieces of a source CopyPiece has copied. It refuses a database that has other records. rolled is
// up to when tables of the source are rolled up.
func (s *Store) BeginCopy(ctx context.Context, source string, rolled map[string]time.Time) (map[string]bool, error) {
	done, err := s.beginCopy(ctx, source, rolled)
	if err != nil {
		return nil, fmt.Errorf("store: %s", oneLine(err))
	}
	return done, nil
}

func (s *Store) beginCopy(ctx context.Context, source string, rolled map[string]time.Time) (map[string]bool, error) {
	rows, err := s.conn.Query(s.with(ctx, queryTime, nil), "SELECT source, piece FROM waybill_copied")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	done := map[string]bool{}
	for rows.Next() {
		var of, piece string
		if err := rows.Scan(&of, &piece); err != nil {
			return nil, err
		}
		if of != source {
			return nil, fmt.Errorf(
				"the database has a copy of %s; make an empty one, and name it in store.clickhouse", of)
		}
		done[piece] = true
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(done) > 0 {
		return done, nil
	}
	list, err := s.partitions(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		return nil, errors.New("the database has records already; make an empty one, and name it in store.clickhouse")
	}
	for name, until := range rolled { // what comes is not rolled up again
		if err := s.setRolled(ctx, name, until); err != nil {
			return nil, err
		}
	}
	return done, s.noteCopied(ctx, source, "")
}

// CopyPiece writes a piece of a source: the rows that each calls row with, which have the values of all columns of t in
// their order. If it was cut off before, the server drops what it has already.
func (s *Store) CopyPiece(ctx context.Context, source, piece string, t schema.Placed,
	each func(row func([]any) error) error,
) error {
	columns := t.At(t.Step)
	var names []string
	for _, c := range stored(t) {
		names = append(names, c.name)
	}
	inserting := s.with(ctx, writeTime, clickhouse.Settings{
		"insert_deduplicate": 1, "insert_deduplication_token": "copy " + source + " " + piece, "async_insert": 0,
	})
	batch, err := s.conn.PrepareBatch(inserting,
		fmt.Sprintf("INSERT INTO %s (%s)", rowsName(t), strings.Join(names, ", ")))
	if err != nil {
		return fmt.Errorf("store: copy %s: %w", piece, writeTrouble(err))
	}
	defer batch.Close()
	err = each(func(row []any) error {
		for i, v := range row {
			if strings.HasSuffix(columns[i].Kind, "[]") {
				if row[i], err = listOf(columns[i].Kind, v); err != nil {
					return err
				}
			}
		}
		if !merges(t) {
			return batch.Append(row...)
		}
		together := make([]any, 0, len(row))
		for i, c := range columns {
			if c.Role == schema.Counts {
				together[len(together)-1] = []any{row[i-1], row[i]}
			} else {
				together = append(together, row[i])
			}
		}
		return batch.Append(together...)
	})
	if err != nil {
		return fmt.Errorf("store: copy %s: %w", piece, err)
	}
	if batch.Rows() > 0 {
		if err := batch.Send(); err != nil {
			return fmt.Errorf("store: copy %s: %w", piece, writeTrouble(err))
		}
	}
	if err := s.noteCopied(ctx, source, piece); err != nil {
		return fmt.Errorf("store: copy %s: %w", piece, writeTrouble(err))
	}
	return nil
}

func (s *Store) noteCopied(ctx context.Context, source, piece string) error {
	return s.exec(ctx, fmt.Sprintf("INSERT INTO waybill_copied VALUES ('%s', '%s')", quoted(source), quoted(piece)))
}

// listOf is a list as the driver takes it for a column of that kind.
func listOf(kind string, v any) (any, error) {
	list, _ := v.([]any) // nil is NULL, for which there is the empty list
	switch kind {
	case "SMALLINT[]":
		return elements[int16](list)
	case "UBIGINT[]":
		return elements[uint64](list)
	case "UINTEGER[]":
		return elements[uint32](list)
	case "VARCHAR[]":
		return elements[string](list)
	}
	return nil, fmt.Errorf("no list of the kind %s is known", kind)
}

func elements[E any](list []any) ([]E, error) {
	to := make([]E, len(list))
	for i, v := range list {
		var ok bool
		if to[i], ok = v.(E); !ok {
			return nil, fmt.Errorf("got a list of %T, want %T", v, to[i])
		}
	}
	return to, nil
}

// Tables lists all tables, at each resolution.
func Tables() (list []schema.Placed) {
	for _, t := range tables.Tables {
		for _, step := range t.Resolutions() {
			list = append(list, schema.Placed{Table: t, Step: step})
		}
	}
	return list
}

// Kept is since when records of a table are kept at now.
func (s *Store) Kept(t schema.Placed, now time.Time) time.Time {
	return now.Add(-s.config.Keep[schema.TierOf(t.Table, t.Step)])
}
