package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store/schema"
)

// rollUp brings the tables of minutes and hours up to date.
func (s *Store) rollUp(ctx context.Context, now time.Time) error {
	return tables.RollUp(func(from, to schema.Placed) (bool, error) {
		return s.rollUpOnce(ctx, from, to, now.Add(-schema.Grace))
	})
}

// rollUpOnce puts rows of one table together into the next, for one interval of it that is over at the horizon. It
// returns false if there is nothing to do. The note how far it is stands in the same file, so that a crash in between
// does no harm.
func (s *Store) rollUpOnce(ctx context.Context, from, to schema.Placed, horizon time.Time) (bool, error) {
	source, target := from.Name(from.Step), to.Name(to.Step)
	until := s.rolledUntil(target)
	end := horizon.Truncate(to.Step)
	if r := s.rolledUntil(source); from.Step != from.Finest && r.Before(horizon) {
		end = r.Truncate(to.Step) // the source is rolled up itself
	}
	if !until.Before(end) {
		return false, nil
	}
	var first sql.NullTime
	if err := s.upkeep.QueryRowContext(ctx, "SELECT min(start) FROM "+source+" WHERE start >= ?",
		until).Scan(&first); err != nil {
		return false, err
	}
	if !first.Valid || !first.Time.Before(end) {
		s.setRolled(target, end) // there was nothing
		return false, nil
	}
	begin := first.Time.Truncate(to.Step)
	s.writing.Lock()
	p, err := s.partitionFor(schema.TierOf(to.Table, to.Step), begin)
	s.writing.Unlock()
	if err == nil && p.sealed {
		return true, s.reopen()
	}
	if err != nil {
		return false, err
	}
	end = minTime(begin.Add(to.Step), p.end(), end)
	columns := to.At(to.Step)
	var statements []string
	within := fmt.Sprintf("start >= %s AND start < %s", timestamp(begin), timestamp(end))
	passes := 1
	if to.HasHistograms() {
		var rows int
		if err := s.upkeep.QueryRowContext(ctx, "SELECT count(*) FROM "+source+" WHERE "+within).Scan(&rows); err !=
			nil {
			return false, err
		}
		passes += rows / rowsAtOnce
	}
	for pass := range passes {
		where := within
		if passes > 1 {
			where += fmt.Sprintf(" AND hash(%s) %% %d = %d", columns[1].Name, passes, pass)
		}
		rows := fmt.Sprintf("(SELECT * REPLACE (%s AS start) FROM %s WHERE %s)", tables.Floor("start", to.Step),
			source, where)
		merged := mergeQuery(rows, columns)
		statements = append(statements, fmt.Sprintf("INSERT INTO %s.%s %s", p.catalog, target, merged))
	}
	err = inTransaction(ctx, s.upkeep, append(
		statements,
		fmt.Sprintf("DELETE FROM %s.waybill_rolled WHERE name = '%s'", p.catalog, target),
		fmt.Sprintf("INSERT INTO %s.waybill_rolled VALUES ('%s', %s)", p.catalog, target, timestamp(end)),
	))
	if err != nil {
		return false, err
	}
	s.setRolled(target, end)
	return true, nil
}

// rowsAtOnce is how many rows with histograms are put together at once: histograms are taken apart for it, which has to
// fit into memory.
const rowsAtOnce = 20_000

func (s *Store) setRolled(name string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rolled[name] = until
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

// loadRolled reads from the files how far tables are rolled up.
func (s *Store) loadRolled() error {
	rolled := map[string]time.Time{}
	for _, p := range s.partitions {
		if p.tier == schema.Seconds {
			continue
		}
		rows, err := s.write.QueryContext(s.ctx, "SELECT name, until FROM "+p.catalog+".waybill_rolled")
		if err != nil {
			return err
		}
		for rows.Next() {
			var name string
			var until time.Time
			if err := rows.Scan(&name, &until); err != nil {
				_ = rows.Close()
				return err
			}
			if until.After(rolled[name]) {
				rolled[name] = until
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rolled = rolled
	return nil
}

// mergeQuery is a query that groups rows by the columns that are keys and puts the others together by their role, in
// the order of columns.
func mergeQuery(rows string, columns []schema.Column) string {
	var keys, values, names []string
	var merged []string // names of histograms
	for _, c := range columns {
		names = append(names, c.Name)
		switch c.Role {
		case schema.Key:
			keys = append(keys, c.Name)
		case schema.Sum:
			values = append(values, fmt.Sprintf("CAST(sum(%s) AS %s) AS %s", c.Name, c.Kind, c.Name))
		case schema.Low:
			values = append(values, fmt.Sprintf("min(%s) AS %s", c.Name, c.Name))
		case schema.High:
			values = append(values, fmt.Sprintf("max(%s) AS %s", c.Name, c.Name))
		case schema.Counts:
			merged = append(merged, strings.TrimSuffix(c.Name, "_counts"))
		}
	}
	group := strings.Join(keys, ", ")
	if group == "" {
		group = "()"
	}
	text := fmt.Sprintf("SELECT %s FROM %s GROUP BY %s", strings.Join(slices.Concat(keys, values), ", "), rows, group)
	if len(merged) == 0 {
		return fmt.Sprintf("SELECT %s FROM (%s)", strings.Join(names, ", "), text)
	}
	for i := range names {
		if columns[i].Role == schema.Key {
			names[i] = "g." + names[i]
		}
	}
	text = fmt.Sprintf("SELECT %s FROM (%s) g", strings.Join(names, ", "), text)
	for i, h := range merged {
		alias := fmt.Sprintf("h%d", i)
		text += fmt.Sprintf(" LEFT JOIN (%s) %s ON true", mergeHistogram(rows, h, keys), alias)
		for _, k := range keys {
			text += fmt.Sprintf(" AND g.%s IS NOT DISTINCT FROM %s.%s", k, alias, k)
		}
	}
	return text
}

// mergeHistogram is a query that adds up the histograms of rows with the same keys: at the coarsest scale of them,
// bucket by bucket. A bucket at scale s is bucket>>1 at scale s-1. The buckets are sorted in their lists: for a list(b
// ORDER BY b), DuckDB keeps room for 2048 buckets of each group.
func mergeHistogram(rows, name string, keys []string) string {
	r := strings.NewReplacer("KEYS,", strings.Join(append(slices.Clone(keys), ""), ", "), "NAME", name, "ROWS", rows)
	join := "ON true"
	for _, k := range keys {
		join += fmt.Sprintf(" AND r.%s IS NOT DISTINCT FROM c.%s", k, k)
	}
	group := ""
	if len(keys) > 0 {
		group = " GROUP BY " + strings.Join(keys, ", ")
	}
	return r.Replace(
		`SELECT KEYS, NAME_scale, list_transform(h, lambda e: e.b) AS NAME_buckets, list_transform(h, lambda e: e.n) AS NAME_counts FROM (
		SELECT KEYS, NAME_scale, list_sort(list({'b': b, 'n': n})) AS h FROM (
			SELECT KEYS, NAME_scale, b, CAST(sum(n) AS UBIGINT) AS n FROM (
				SELECT KEYS, coarsest AS NAME_scale, CAST(b >> (NAME_scale - coarsest) AS SMALLINT) AS b, n FROM (
					SELECT r.* EXCLUDE (NAME_buckets, NAME_counts), coarsest, unnest(NAME_buckets) AS b, unnest(NAME_counts) AS n
					FROM ROWS r JOIN (SELECT KEYS, min(NAME_scale) AS coarsest FROM ROWS` + group + `) c ` + join + ` WHERE NAME_scale IS NOT NULL))
			GROUP BY ALL) GROUP BY ALL)`)
}

func minTime(t time.Time, others ...time.Time) time.Time {
	for _, o := range others {
		if o.Before(t) {
			t = o
		}
	}
	return t
}
