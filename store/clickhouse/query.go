package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// Query implements store.Backend.
func (s *Store) Query(ctx context.Context, q *store.Query) (*store.Answer, error) {
	list, err := s.partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: %w", trouble(ctx, err))
	}
	if s.config.ReadOnly { // another process rolls up
		if err := s.loadRolled(ctx); err != nil {
			return nil, fmt.Errorf("store: %w", trouble(ctx, err))
		}
	}
	m := &moment{s, list}
	c, err := tables.Compile(q, m)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := m.checkCoverage(ctx, q, c.Steps); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	limit := cmp.Or(q.Limit, store.DefaultLimit)
	answer, err := s.answer(s.with(ctx, queryTime, clickhouse.Settings{"max_memory_usage": s.config.Memory}),
		c.Text+fmt.Sprintf(" LIMIT %d OFFSET %d", limit+1, q.Offset), q.Args, limit)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	answer.Columns = c.Columns // over HTTP there are none if there are no rows
	answer.Resolution = c.Resolution
	c.FoldHistograms(answer)
	return answer, nil
}

// answer executes a query, with values for its question marks, and takes up to limit rows.
func (s *Store) answer(ctx context.Context, text string, args []any, limit int) (*store.Answer, error) {
	return answerOf(ctx, s.conn, text, args, limit)
}

func answerOf(ctx context.Context, conn driver.Conn, text string, args []any, limit int) (*store.Answer, error) {
	text, parameters := bind(text, args)
	rows, err := conn.Query(ctx, text, parameters...)
	if err != nil {
		return nil, trouble(ctx, err)
	}
	answer, err := read(rows, limit)
	if err != nil {
		return nil, trouble(ctx, err)
	}
	return answer, nil
}

// bind gives question marks names and types. There are none in a text but those for args.
func bind(text string, args []any) (string, []any) {
	var b strings.Builder
	var parameters []any
	for _, arg := range args {
		before, after, _ := strings.Cut(text, "?")
		text = after
		kind := "String"
		switch v := arg.(type) {
		case int64, int:
			kind = "Int64"
		case uint64:
			kind = "UInt64"
		case float64:
			kind, arg = "Float64", strconv.FormatFloat(v, 'g', -1, 64)
		case bool:
			kind, arg = "Bool", strconv.FormatBool(v)
		}
		name := "p" + strconv.Itoa(len(parameters))
		b.WriteString(before + "{" + name + ":" + kind + "}")
		parameters = append(parameters, clickhouse.Named(name, arg))
	}
	return b.String() + text, parameters
}

// A partition is a part of the tables of a tier, for some time.
type partition struct {
	tier       int
	start, end time.Time
}

// partitions are those that tables have.
func (s *Store) partitions(ctx context.Context) (list []partition, err error) {
	rows, err := s.conn.Query(s.with(ctx, queryTime, nil),
		"SELECT DISTINCT table, partition FROM "+s.system("parts")+" WHERE database = {database:String} AND active",
		clickhouse.Named("database", s.database))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table, name string
		if err := rows.Scan(&table, &name); err != nil {
			return nil, err
		}
		table = strings.TrimSuffix(table, shardSuffix)
		tier := slices.IndexFunc(tierNames[:], func(names []string) bool { return slices.Contains(names, table) })
		if tier < 0 {
			continue
		}
		p := partition{tier: tier}
		if p.start, err = time.Parse([...]string{time.DateTime, time.DateOnly, "200601"}[tier], name); err != nil {
			return nil, fmt.Errorf("partition %s of %s: %w", name, table, err)
		}
		p.end = p.start.Add(schema.Tiers[tier].Length)
		if tier == schema.Hours {
			p.end = p.start.AddDate(0, 1, 0)
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list, rows.Err()
}

// tierNames are the names of the tables with the rows of each tier.
var tierNames = func() (names [len(schema.Tiers)][]string) {
	for tier := range schema.Tiers {
		for _, t := range tables.In(tier) {
			names[tier] = append(names[tier], rowsName(t))
		}
	}
	return names
}()

// A moment is what partitions there are at one. It implements schema.Source.
type moment struct {
	*Store
	list []partition
}

// Covers implements schema.Source.
func (m *moment) Covers(t *schema.Table, step time.Duration, at time.Time) bool {
	tier := schema.TierOf(t, step)
	return slices.ContainsFunc(m.list,
		func(p partition) bool { return p.tier == tier && !p.start.After(at) && at.Before(p.end) })
}

// RolledUntil implements schema.Source.
func (m *moment) RolledUntil(table string) time.Time { return m.rolledUntil(table) }

// Rows implements schema.Source.
func (m *moment) Rows(t *schema.Table, segments []schema.Segment, resolution time.Duration) string {
	var names []string
	for _, c := range t.At(resolution) {
		names = append(names, c.Name)
	}
	var parts []string
	for _, g := range segments {
		parts = append(
			parts,
			fmt.Sprintf("SELECT %s FROM %s WHERE start >= %s AND start < %s", strings.Join(names, ", "),
				t.Name(g.Step), tables.Timestamp(g.From), tables.Timestamp(g.To)),
		)
	}
	if len(parts) == 0 {
		return fmt.Sprintf("(SELECT %s FROM %s WHERE false)", strings.Join(names, ", "), t.Name(t.Finest))
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}

// checkCoverage returns a store.GoneError if the tables that can answer lack the beginning of the range, of which
// others have records: longer intervals are kept for a longer time.
func (m *moment) checkCoverage(ctx context.Context, q *store.Query, steps []time.Duration) error {
	t := tables.Tables[q.Table]
	all := t.Resolutions()
	if steps[len(steps)-1] == all[len(all)-1] {
		return nil // what is kept for the longest time can answer
	}
	since := q.To // of the first partition that can answer
	for _, p := range m.list {
		if slices.ContainsFunc(steps, func(step time.Duration) bool { return schema.TierOf(t, step) == p.tier }) {
			since = minTime(since, p.start)
		}
	}
	var parts []string
	for _, step := range all {
		from, to := q.From.Truncate(step), since.Truncate(step)
		if !slices.Contains(steps, step) && from.Before(to) {
			parts = append(
				parts,
				fmt.Sprintf("SELECT 1 FROM %s WHERE start >= %s AND start < %s LIMIT 1", t.Name(step),
					tables.Timestamp(from), tables.Timestamp(to)),
			)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	a, err := m.answer(
		m.with(ctx, queryTime, nil),
		"SELECT * FROM ("+strings.Join(parts, ") UNION ALL SELECT * FROM (")+")",
		nil,
		1,
	)
	if err != nil {
		return err
	}
	if len(a.Rows) > 0 {
		return &store.GoneError{Since: since}
	}
	return nil
}

// SQL implements store.Backend. The statement may read, within limits, what its user (Config.Asker) may read.
func (s *Store) SQL(ctx context.Context, statement string, limit int) (*store.Answer, error) {
	return answerOf(s.with(ctx, statementTime, clickhouse.Settings{
		"readonly": 1, "max_memory_usage": s.config.Memory, "max_result_bytes": statementBytes,
		"result_overflow_mode": "throw", "join_use_nulls": 1,
	}), s.asker, limited(statement, limit), nil, limit)
}

// Select implements store.Backend.
func (s *Store) Select(ctx context.Context, statement string, limit int) (*store.Answer, error) {
	return s.answer(s.with(ctx, writeTime, clickhouse.Settings{"readonly": 1}), limited(statement, limit), nil, limit)
}

// limited returns a statement with a limit around it, which only one SELECT can have.
func limited(statement string, limit int) string {
	statement = strings.TrimRight(statement, "; \t\r\n")
	return "SELECT * FROM (\n" + statement + "\n) LIMIT " + strconv.Itoa(limit+1)
}

// Codes of errors of ClickHouse.
const (
	codeNoTable     = 60
	codeTimeout     = 159
	codeTooSlow     = 160
	codeTooManyRows = 158
	codeNoSpace     = 243
	codeMemory      = 241
	codeTooMany     = 396
	codeTooManyHere = 307
)

// trouble is the error of a query, in one line: one of those of package store, or else what is wrong with the query.
func trouble(ctx context.Context, err error) error {
	if errors.Is(err, store.ErrTooLarge) {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", store.ErrTooLong, ctx.Err())
	}
	told, ok := errors.AsType[*clickhouse.Exception](err)
	if !ok {
		return fmt.Errorf("%w: %s", store.ErrUnavailable, oneLine(err))
	}
	switch told.Code {
	case codeTimeout, codeTooSlow:
		return fmt.Errorf("%w: %s", store.ErrTooLong, oneLine(err))
	case codeMemory, codeTooMany, codeTooManyRows, codeTooManyHere, codeNoSpace:
		return fmt.Errorf("%w: %s", store.ErrTooLarge, oneLine(err))
	}
	return errors.New(oneLine(err))
}

// oneLine is the first line of an error.
func oneLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
