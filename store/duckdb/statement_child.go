package duckdb

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/waybill-int/waybill/internal/child"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// childName is that of the processes of statements, as ps shows it.
const childName = "waybill-statement"

func init() { child.Handle(childName, runChild) }

// A childSetup is the first line that a process of a statement gets.
type childSetup struct {
	Dir     string
	Memory  int64 // that DuckDB may take
	Threads int
}

// A childRequest is the second.
type childRequest struct {
	Attach    []string // statements that open what the statement asks for
	Statement string
	Limit     int
}

// Beyond what DuckDB counts, a process may take so much: of addresses, of which it does not use all.
const childUncounted = 768 << 20

// runChild answers one statement. It writes a byte when it is ready for it.
func runChild(in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(in)
	var setup childSetup
	if err := lines.Decode(&setup); err != nil {
		return err
	}
	conn, err := openChild(&setup)
	if err != nil {
		return err
	}
	if _, err := out.Write([]byte{'!'}); err != nil {
		return err
	}
	var request childRequest
	if err := lines.Decode(&request); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		os.Exit(1) // nobody waits for the answer
	}()
	w := answerWriter{bufio.NewWriterSize(out, 64<<10)}
	more, err := answerChild(conn, &request, w)
	if err != nil {
		w.fail(err)
	} else {
		w.end(more)
	}
	return w.w.Flush()
}

// openChild puts this process under limits and opens a database with empty tables.
func openChild(setup *childSetup) (*sql.Conn, error) {
	err := child.Confine(child.Limits{
		Memory: setup.Memory + childUncounted,
		CPU:    statementTime * time.Duration(setup.Threads),
	})
	if err != nil {
		return nil, err
	}
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	conn, err := sql.OpenDB(connector).Conn(ctx)
	if err != nil {
		return nil, err
	}
	statements := append([]string{
		fmt.Sprintf("SET memory_limit = '%dB'", setup.Memory),
		fmt.Sprintf("SET threads = %d", setup.Threads),
		"SET temp_directory = ''",
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		fmt.Sprintf("SET allowed_directories = ['%s/']", quoted(setup.Dir)),
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	}, macros...)
	for i := range schema.Tiers {
		for _, t := range tables.In(i) {
			statements = append(statements, view(&t, nil))
		}
	}
	statements = append(statements, topologyMacros()...)
	statements = append(statements, nowMacros...)
	if err := addFunctions(conn); err != nil {
		return nil, err
	}
	for _, text := range statements {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return conn, child.ReadOnly(setup.Dir)
}

// nowMacros make now() a TIMESTAMP, as start is a TIMESTAMP_NS, which DuckDB compares with no TIMESTAMP WITH TIME ZONE.
var nowMacros = []string{
	"CREATE MACRO now() AS CAST(transaction_timestamp() AS TIMESTAMP)",
	"CREATE MACRO get_current_timestamp() AS CAST(transaction_timestamp() AS TIMESTAMP)", // current_timestamp
}

// answerChild writes the answer of a request, without its end.
func answerChild(conn *sql.Conn, r *childRequest, w answerWriter) (more bool, err error) {
	ctx := context.Background()
	for _, text := range r.Attach {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return false, fmt.Errorf("%w: %s", store.ErrUnavailable, oneLine(err))
		}
	}
	tree, err := parse(ctx, conn, r.Statement)
	if err != nil {
		return false, err
	}
	if err := checkShape(tree); err != nil {
		return false, err
	}
	return execute(ctx, conn, r.Statement, r.Limit, func(rows *sql.Rows) (bool, error) {
		return eachRow(rows, r.Limit, func(columns []string) error {
			if err := checkColumns(len(columns)); err != nil {
				return err
			}
			w.columns(columns)
			return nil
		}, w.row)
	})
}
