package duckdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/waybill-int/waybill/store"
)

// errStatement is what a statement must be.
var errStatement = errors.New("want one SELECT statement")

// errBehind is what must not follow a statement.
var errBehind = errors.New("want one SELECT statement, and nothing behind its semicolon")

// Select implements store.Backend.
func (s *Store) Select(ctx context.Context, statement string, limit int) (*store.Answer, error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	ctx, done := s.boundSpill(ctx)
	defer done()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, trouble(ctx, err)
	}
	defer conn.Close()
	if _, err := parse(ctx, conn, statement); err != nil {
		return nil, err
	}
	answer := &store.Answer{}
	answer.More, err = execute(ctx, conn, statement, limit, func(rows *sql.Rows) (bool, error) {
		answer, err = read(rows, limit)
		return err == nil && answer.More, err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// execute gives the rows of a statement that was parsed to take.
func execute(ctx context.Context, conn *sql.Conn, statement string, limit int,
	take func(*sql.Rows) (bool, error),
) (bool, error) {
	// Nothing that can be written in a SELECT changes the store; that the transaction is read-only is the second lock.
	if _, err := conn.ExecContext(ctx, "BEGIN TRANSACTION READ ONLY"); err != nil {
		return false, trouble(ctx, err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") //nolint:errcheck // nothing was written
	rows, err := conn.QueryContext(ctx, limited(statement, limit))
	if err != nil {
		if told, ok := errors.AsType[*duckdb.Error](err); ok && told.Type == duckdb.ErrorTypeParser {
			return false, errBehind // alone it could be parsed
		}
		return false, statementTrouble(ctx, err)
	}
	more, err := take(rows)
	if err != nil {
		return false, statementTrouble(ctx, err)
	}
	return more, nil
}

// limited returns a statement with a limit around it: DuckDB makes all rows of an answer, in memory that it does not
// count, before the first can be read. One row more than wanted tells that there are more.
func limited(statement string, limit int) string {
	statement = strings.TrimRight(statement, "; \t\r\n")
	return "SELECT * FROM (\n" + statement + "\n) LIMIT " + strconv.Itoa(limit+1)
}

// parse lets DuckDB parse one SELECT statement, and returns its tree.
func parse(ctx context.Context, conn *sql.Conn, statement string) (tree any, err error) {
	var text string
	err = conn.QueryRowContext(ctx, "SELECT CAST(json_serialize_sql(CAST(? AS VARCHAR)) AS VARCHAR)",
		statement).Scan(&text)
	if err != nil {
		return nil, trouble(ctx, err)
	}
	var parsed struct {
		Error      bool              `json:"error"`
		Type       string            `json:"error_type"`
		Message    string            `json:"error_message"`
		Statements []json.RawMessage `json:"statements"`
	}
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		return nil, err
	}
	if parsed.Error {
		if parsed.Type == "not implemented" { // any statement but SELECT
			return nil, errStatement
		}
		return nil, errors.New(oneLine(errors.New(parsed.Message)))
	}
	if len(parsed.Statements) != 1 {
		return nil, errStatement
	}
	err = json.Unmarshal(parsed.Statements[0], &tree)
	return tree, err
}

// maxAnswer bounds what the texts and lists of an answer take together, in bytes.
const maxAnswer = 64 << 20

// read takes up to limit rows.
func read(rows *sql.Rows, limit int) (*store.Answer, error) {
	answer := &store.Answer{Rows: [][]any{}}
	var err error
	answer.More, err = eachRow(rows, limit, func(columns []string) error {
		answer.Columns = columns
		return nil
	}, func(row []any) { answer.Rows = append(answer.Rows, row) })
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// eachRow calls columns with their names, and row with each of up to limit rows. It tells whether there are more.
func eachRow(rows *sql.Rows, limit int, columns func([]string) error, row func([]any)) (more bool, err error) {
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return false, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return false, err
	}
	if err := columns(names); err != nil {
		return false, err
	}
	size := 0
	for n := 0; rows.Next(); n++ {
		if n == limit {
			return true, nil
		}
		cells, to := make([]any, len(names)), make([]any, len(names))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return false, err
		}
		for i := range cells {
			cells[i] = ofKind(types[i].DatabaseTypeName(), plain(cells[i]))
			size += store.SizeOf(cells[i])
		}
		if size > maxAnswer {
			return false, fmt.Errorf("%w: its rows have more than %d MiB", store.ErrTooLarge, maxAnswer>>20)
		}
		row(cells)
	}
	return false, rows.Err()
}
