package duckdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/store"
)

// tableFunctions are the functions that statements may have in FROM. Others read files, change settings or write the files
// of the store to disk.
var tableFunctions = []string{"unnest", "range", "generate_series", "summary", "links_between", "hosts_between"}

// errStatement is what a statement must be.
var errStatement = errors.New("want one SELECT statement")

// errBehind is what must not follow a statement.
var errBehind = errors.New("want one SELECT statement, and nothing behind its semicolon")

// SQL implements store.Backend.
func (s *Store) SQL(ctx context.Context, statement string, limit int) (*store.Answer, error) {
	if len(statement) > maxStatement {
		return nil, fmt.Errorf("the statement has %d bytes, limit %d", len(statement), maxStatement)
	}
	s.reading.RLock()
	defer s.reading.RUnlock()
	ctx, stop := s.watchMemory(ctx)
	defer stop()
	defer context.AfterFunc(s.ctx, stop)()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, trouble(ctx, err)
	}
	defer conn.Close()
	if err := checkStatement(ctx, conn, statement, 0); err != nil {
		return nil, err
	}
	if err := checkStatement(ctx, conn, limited(statement, limit), 1); err != nil {
		if ctx.Err() != nil || s.ctx.Err() != nil {
			return nil, err
		}
		return nil, errBehind
	}
	// Nothing that can be written in a SELECT changes the store; that the transaction is read-only is the second lock.
	if _, err := conn.ExecContext(ctx, "BEGIN TRANSACTION READ ONLY"); err != nil {
		return nil, trouble(ctx, err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") //nolint:errcheck // nothing was written
	rows, err := conn.QueryContext(ctx, limited(statement, limit))
	if err != nil {
		return nil, statementTrouble(ctx, err)
	}
	answer, err := read(rows, limit)
	if err != nil {
		return nil, statementTrouble(ctx, err)
	}
	return answer, checkColumns(len(answer.Columns))
}

// limited returns a statement that was checked, with a limit around it: DuckDB makes all rows of an answer, in memory that it
// does not count, before the first can be read. One row more than wanted tells that there are more.
func limited(statement string, limit int) string {
	statement = strings.TrimRight(statement, "; \t\r\n")
	return "SELECT * FROM (\n" + statement + "\n) LIMIT " + strconv.Itoa(limit+1)
}

// checkStatement refuses a statement that may do harm. So many SELECTs of ours are around it.
func checkStatement(ctx context.Context, conn *sql.Conn, statement string, ours int) error {
	tree, err := parse(ctx, conn, statement)
	if err != nil {
		return err
	}
	if err := checkShape(tree); err != nil {
		return err
	}
	if err := checkFunctions(tree); err != nil {
		return err
	}
	if err := checkCollected(tree, ours); err != nil {
		return err
	}
	return checkGrowth(tree)
}

// parse lets DuckDB parse one SELECT statement, and returns its tree.
func parse(ctx context.Context, conn *sql.Conn, statement string) (tree any, err error) {
	var text string
	err = conn.QueryRowContext(ctx, "SELECT CAST(json_serialize_sql(CAST(? AS VARCHAR)) AS VARCHAR)", statement).Scan(&text)
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

// checkFunctions refuses functions in FROM that are not in tableFunctions.
func checkFunctions(tree any) error {
	switch node := tree.(type) {
	case map[string]any:
		if node["type"] == "TABLE_FUNCTION" {
			function, _ := node["function"].(map[string]any)
			if name, _ := function["function_name"].(string); !slices.Contains(tableFunctions, name) {
				return fmt.Errorf("the function %s is not allowed in FROM", name)
			}
		}
		for _, child := range node {
			if err := checkFunctions(child); err != nil {
				return err
			}
		}
	case []any:
		for _, child := range node {
			if err := checkFunctions(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxAnswer bounds what the texts and lists of an answer take together, in bytes.
const maxAnswer = 64 << 20

// sizeOf is about what a value takes beyond its place in a row, in bytes.
func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	case []any:
		n := 16 * len(v)
		for _, e := range v {
			n += sizeOf(e)
		}
		return n
	case map[string]any:
		n := 0
		for k, e := range v {
			n += 32 + len(k) + sizeOf(e)
		}
		return n
	}
	return 0
}

// read takes up to limit rows.
func read(rows *sql.Rows, limit int) (*store.Answer, error) {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	answer := &store.Answer{Columns: columns, Rows: [][]any{}}
	size := 0
	for rows.Next() {
		if len(answer.Rows) == limit {
			answer.More = true
			break
		}
		row, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i := range row {
			row[i] = ofKind(types[i].DatabaseTypeName(), plain(row[i]))
			size += sizeOf(row[i])
		}
		if size > maxAnswer {
			return nil, fmt.Errorf("%w: its rows have more than %d MiB", store.ErrTooLarge, maxAnswer>>20)
		}
		answer.Rows = append(answer.Rows, row)
	}
	if answer.More {
		return answer, nil
	}
	return answer, rows.Err()
}
