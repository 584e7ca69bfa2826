package clickhouse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
	"github.com/waybill-int/waybill/telemetry"
)

// Write implements store.Backend. Each table gets its records in one insert. When Write is called again with the
// batches of an error, inserts have the tokens of before, by which the server knows those that it has.
func (s *Store) Write(batches []*telemetry.Intervals) error {
	if len(batches) == 0 {
		return nil
	}
	if s.token == "" || s.failed != batches[0] {
		s.token, s.failed = rand.Text(), batches[0]
	}
	var byTable [store.NumTables][]schema.Records
	for _, r := range schema.RecordsOf(batches) {
		if r.Len > 0 {
			byTable[r.Table] = append(byTable[r.Table], r)
		}
	}
	for id, list := range byTable {
		if len(list) == 0 {
			continue
		}
		if err := s.insert(tables.Tables[id], list); err != nil {
			return fmt.Errorf("store: write %s: %w", store.Table(id), writeTrouble(err))
		}
	}
	s.token, s.failed = "", nil
	return nil
}

// writes is the comment of inserts.
func (s *Store) writes() string { return s.database + ": writes" }

// awaitBefore returns when nothing is inserted any more that a process has asked which was killed: what the store lacks
// is known then.
func (s *Store) awaitBefore(ctx context.Context) error {
	for until := time.Now().Add(writeTime); ; {
		err := s.refuseBeside(ctx, s.writes())
		if err == nil || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// insert writes records of one table.
func (s *Store) insert(t *schema.Table, list []schema.Records) error {
	name := rowsName(schema.Placed{Table: t, Step: t.Finest})
	ctx := s.with(s.ctx, writeTime, clickhouse.Settings{
		"insert_deduplicate": 1, "insert_deduplication_token": s.token + "-" + name, "async_insert": 0,
		"log_comment": s.writes(),
	})
	batch, err := s.conn.PrepareBatch(ctx, "INSERT INTO "+name)
	if err != nil {
		return err
	}
	defer batch.Close()
	if err := appendAll(batch, t, list); err != nil {
		return err
	}
	return batch.Send()
}

func appendAll(batch driver.Batch, t *schema.Table, list []schema.Records) error {
	var row schema.Row
	values := make([]any, len(t.Columns))
	for _, r := range list {
		for i := range r.Len {
			row = row[:0]
			r.Add(&row, i)
			for j, v := range row {
				if v == nil {
					v = noList[t.Columns[j].Kind]
				}
				values[j] = v
			}
			if err := batch.Append(values...); err != nil {
				return err
			}
		}
	}
	return nil
}

// noList is what takes the place of NULL in columns of lists.
var noList = map[string]any{
	"SMALLINT[]": []int16{}, "UBIGINT[]": []uint64{}, "UINTEGER[]": []uint32{}, "VARCHAR[]": []string{},
}

// writeTrouble is an error of a write. A disk of the server that is full is one for the log of full disks.
func writeTrouble(err error) error {
	if told, ok := errors.AsType[*clickhouse.Exception](err); ok && told.Code == codeNoSpace {
		return fmt.Errorf("%w: %s", store.ErrFull, oneLine(err))
	}
	return errors.New(oneLine(err))
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
