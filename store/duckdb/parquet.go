package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// An ExportColumn is a column of a file of rows: its name, and its type in the words of DuckDB, such as UBIGINT or
// UINTEGER[].
type ExportColumn struct{ Name, Type string }

// columnType is what types look like: what comes from elsewhere must not end the statement.
var columnType = regexp.MustCompile(`^[A-Z][A-Z0-9_]*(\([0-9, ]+\))?(\[\])*$`)

// WriteParquet writes the rows of a file of JSON, one object on each line, to a new Parquet file with these columns. It
// needs no store.
func WriteParquet(ctx context.Context, from, to string, columns []ExportColumn) error {
	kinds := make([]string, len(columns))
	for i, c := range columns {
		if !columnType.MatchString(c.Type) {
			return fmt.Errorf("column %s has the type %q, which cannot be written", c.Name, c.Type)
		}
		kinds[i] = fmt.Sprintf("'%s': '%s'", quoted(c.Name), c.Type)
	}
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	_, err = db.ExecContext(ctx, fmt.Sprintf(
		"COPY (SELECT * FROM read_json('%s', format = 'newline_delimited', columns = {%s})) TO '%s' (FORMAT parquet, COMPRESSION zstd)",
		quoted(from), strings.Join(kinds, ", "), quoted(to)))
	if err != nil {
		return fmt.Errorf("parquet: %w", trouble(ctx, err))
	}
	return nil
}
