package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// Maintain implements store.Backend: it brings the tables of minutes and hours up to date. What is too old the server
// drops by itself.
func (s *Store) Maintain(ctx context.Context, now time.Time) error {
	err := tables.RollUp(func(from, to schema.Placed) (bool, error) {
		more, err := s.rollUpOnce(ctx, from, to, now.Add(-schema.Grace))
		if err != nil {
			err = errors.New(oneLine(err))
		}
		return more, err
	})
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// atOnce is how many intervals are rolled up in one statement.
const atOnce = 60

// rollUpOnce puts rows of one table together into the next, for intervals of it that are over at the horizon. It
// returns false if there is nothing to do.
func (s *Store) rollUpOnce(ctx context.Context, from, to schema.Placed, horizon time.Time) (bool, error) {
	end := horizon.Truncate(to.Step)
	if r := s.rolledUntil(from.Name(from.Step)); merges(from) && r.Before(horizon) {
		end = r.Truncate(to.Step) // the source is rolled up itself
	}
	var columns []string
	for _, c := range stored(from) {
		columns = append(columns, c.shows...)
	}
	return s.putTogether(ctx, to.Name(to.Step), source{rowsName(from), columns}, to, end)
}

// A source is a table, and its rows as they are in the schema.
type source struct {
	rows    string
	columns []string
}

// putTogether puts rows of a source together into intervals of to that are over at the end, from where it came to under
// a name. It returns false if there is nothing to do.
func (s *Store) putTogether(ctx context.Context, name string, from source, to schema.Placed, end time.Time) (
	bool, error,
) {
	until := s.rolledUntil(name)
	if !until.Before(end) {
		return false, nil
	}
	a, err := s.answer(s.with(ctx, queryTime, nil),
		fmt.Sprintf("SELECT minOrNull(start) FROM %s WHERE start >= %s", from.rows, tables.Timestamp(until)), nil, 1)
	if err != nil {
		return false, err
	}
	first, ok := a.Rows[0][0].(time.Time)
	if !ok || !first.Before(end) {
		return false, s.setRolled(ctx, name, end) // there was nothing
	}
	begin := first.Truncate(to.Step)
	end = minTime(end, begin.Add(atOnce*to.Step))
	within := fmt.Sprintf("start >= %s AND start < %s", tables.Timestamp(begin), tables.Timestamp(end))
	comment := s.database + ": rolls up into " + to.Name(to.Step)
	if err := s.refuseBeside(ctx, comment); err != nil {
		return false, err
	}
	if err := s.removeLeft(ctx, to, within); err != nil {
		return false, err
	}
	_, rows := tables.Group(fmt.Sprintf("(SELECT * REPLACE (%s AS start) FROM (SELECT %s FROM %s WHERE %s))",
		tables.Floor("start", to.Step), strings.Join(from.columns, ", "), s.ownRows(from.rows), within), to.At(to.Step))
	var names, values []string
	for _, c := range stored(to) {
		names, values = append(names, c.name), append(values, c.from)
	}
	insert := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM (%s)", rowsName(to), strings.Join(names, ", "),
		strings.Join(values, ", "), s.byEachShard(rows))
	err = s.conn.Exec(s.with(ctx, writeTime, clickhouse.Settings{"log_comment": comment}), insert)
	if err != nil {
		return false, err
	}
	return true, s.setRolled(ctx, name, end)
}

// refuseBeside fails while a statement with a comment runs: a server goes on with what a process has asked that was
// killed, and what that inserts would come behind what is removed as left.
func (s *Store) refuseBeside(ctx context.Context, comment string) error {
	a, err := s.answer(s.with(ctx, queryTime, clickhouse.Settings{"skip_unavailable_shards": 1}),
		"SELECT max(elapsed) FROM "+s.everywhere("processes")+" WHERE Settings['log_comment'] = ? HAVING count() > 0",
		[]any{comment}, 1)
	if err == nil && len(a.Rows) > 0 {
		err = fmt.Errorf("what a process of before has asked goes on since %.0f s (%s)", a.Rows[0][0], comment)
	}
	return err
}

// removeLeft removes what an attempt that was cut off may have left; an insert from a query has no token that would
// tell.
func (s *Store) removeLeft(ctx context.Context, to schema.Placed, within string) error {
	target := rowsName(to)
	left := func() (uint64, error) {
		a, err := s.answer(s.with(ctx, queryTime, nil), "SELECT count() FROM "+target+" WHERE "+within, nil, 1)
		if err != nil {
			return 0, err
		}
		n, _ := a.Rows[0][0].(uint64)
		return n, nil
	}
	n, err := left()
	if n == 0 || err != nil {
		return err
	}
	wait := 2 // for all servers
	if s.replicated {
		wait = 1 // a server that is away catches up
	}
	remove := fmt.Sprintf("ALTER TABLE %s DELETE WHERE %s SETTINGS mutations_sync = %d", s.rows(target), within, wait)
	if err := s.exec(ctx, remove); err != nil {
		return err
	}
	if n, err = left(); n > 0 { // of a shard that has not come to it: the next attempt is in seconds
		err = fmt.Errorf("%d rows of %s that were left are being removed", n, target)
	}
	return err
}

func (s *Store) setRolled(ctx context.Context, name string, until time.Time) error {
	insert := fmt.Sprintf("INSERT INTO waybill_rolled SELECT '%s', %s", name, tables.Timestamp(until))
	if err := s.exec(ctx, insert); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rolled[name] = until
	return nil
}

// rolledUntil is the time up to which a rolled up table is complete; 1970 if nothing was rolled up.
func (s *Store) rolledUntil(name string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.rolled[name]; ok {
		return t
	}
	return time.Unix(0, 0).UTC()
}

// loadRolled reads how far tables are rolled up.
func (s *Store) loadRolled(ctx context.Context) error {
	rows, err := s.conn.Query(
		s.with(ctx, queryTime, nil),
		"SELECT name, max(until) FROM waybill_rolled GROUP BY name",
	)
	if err != nil {
		return err
	}
	defer rows.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for rows.Next() {
		var name string
		var until time.Time
		if err := rows.Scan(&name, &until); err != nil {
			return err
		}
		s.rolled[name] = until.UTC()
	}
	return rows.Err()
}

// Stats implements store.Backend. What the server has dropped it does not tell.
func (s *Store) Stats() (store.Stats, error) {
	ctx := s.with(s.ctx, queryTime, nil)
	a, err := s.answer(
		ctx,
		"SELECT sum(bytes_on_disk) FROM "+s.system("parts")+" WHERE database = ? AND active",
		[]any{s.database},
		1,
	)
	if err != nil {
		return store.Stats{}, fmt.Errorf("store: %w", err)
	}
	list, err := s.partitions(s.ctx)
	if err != nil {
		return store.Stats{}, fmt.Errorf("store: %w", trouble(s.ctx, err))
	}
	bytes, _ := a.Rows[0][0].(uint64)
	stats := store.Stats{Bytes: int64(bytes), Partitions: len(list)}
	for _, p := range list {
		if stats.Oldest.IsZero() || p.start.Before(stats.Oldest) {
			stats.Oldest = p.start
		}
	}
	return stats, nil
}
