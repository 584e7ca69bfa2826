package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// A sqlCommand is one call of waybill query.
type sqlCommand struct {
	server       serverFlags
	local        Local
	data, output string
	limit        int
	tables       bool
	noHeaders    bool
}

// tablesStatement lists the tables that statements can ask, with their columns.
const tablesStatement = `SELECT table_name AS "table", string_agg(column_name, ' ' ORDER BY ordinal_position) AS columns
	FROM information_schema.columns WHERE table_schema = 'main' GROUP BY table_name ORDER BY table_name`

func newSQLCommand(local Local) *cobra.Command {
	c := sqlCommand{local: local}
	cmd := &cobra.Command{
		Use:   "query STATEMENT",
		Short: "ask in SQL what a server has kept",
		Long: `Query sends a SELECT statement to a server that keeps records (serve --data), and prints the rows. With --data it reads the
directory itself, which works while no server has it open; what a server that was killed left in its journal is put into the store first.
The tables are those of docs/reference/store.md. A statement can change nothing.`,
		Example: `  waybill query "SELECT start, sum(packets) FROM flows_1m GROUP BY ALL ORDER BY start"
  waybill query "SELECT node, reason_name, sum(packets) FROM drops_10s GROUP BY ALL" -o csv
  waybill query --data /var/lib/waybill "SELECT id, text FROM events"
  waybill query --tables`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case c.tables && len(args) > 0:
				return command.Usage(fmt.Errorf("--tables takes no statement, got %.40q", args[0]))
			case c.tables:
			case len(args) != 1:
				return command.Usage(fmt.Errorf("got %d statements, want one, in quotes", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmp.Or(cmd.Context(), context.Background()), append(args, tablesStatement)[0],
				cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	c.server.register(f)
	f.StringVar(&c.data, "data", "", "`DIRECTORY` to read instead of asking a server")
	OutputVar(cmd, &c.output, "table", "json", "yaml", "ndjson", "csv")
	limitVar(f, &c.limit, "rows")
	NoHeadersVar(f, &c.noHeaders)
	f.BoolVar(&c.tables, "tables", false, "list the tables and their columns")
	return cmd
}

func (c *sqlCommand) run(ctx context.Context, statement string, stdout, stderr io.Writer) error {
	if c.limit < 1 {
		return command.Usage(fmt.Errorf("--limit is %d; it must be at least 1", c.limit))
	}
	table, err := c.ask(ctx, statement)
	if err != nil {
		return err
	}
	if err := c.print(stdout, table); err != nil {
		return command.Quiet(err)
	}
	if table.More {
		fmt.Fprintf(stderr, "listed %d rows, there are more; --limit lists more\n", len(table.Rows))
	}
	return nil
}

// ask asks the server, or the directory.
func (c *sqlCommand) ask(ctx context.Context, statement string) (*client.Table, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	if c.data != "" {
		return c.local.SQL(ctx, c.data, statement, c.limit)
	}
	return c.askServer(ctx, statement)
}

func (c *sqlCommand) askServer(ctx context.Context, statement string) (*client.Table, error) {
	asked, err := c.server.client()
	if err != nil {
		return nil, command.Usage(err)
	}
	table, err := asked.SQL(ctx, statement, c.limit)
	if err != nil {
		return nil, explain(asked, err)
	}
	return table, nil
}

func (c *sqlCommand) print(to io.Writer, table *client.Table) error {
	w := bufio.NewWriter(to)
	switch c.output {
	case "json", "yaml":
		if err := WriteDocument(w, c.output, table); err != nil {
			return err
		}
	case "ndjson":
		for _, row := range table.Rows {
			if err := writeRow(w, table.Columns, row); err != nil {
				return err
			}
		}
	case "csv":
		out := csv.NewWriter(w)
		if !c.noHeaders {
			if err := out.Write(table.Columns); err != nil {
				return err
			}
		}
		for _, row := range table.Rows {
			if err := out.Write(texts(row, "")); err != nil {
				return err
			}
		}
		out.Flush()
		if err := out.Error(); err != nil {
			return err
		}
	default:
		rows := make([][]Cell, len(table.Rows))
		for i, row := range table.Rows {
			for _, text := range texts(row, unknown) {
				rows[i] = append(rows[i], PlainCell(text))
			}
		}
		return printTable(to, table.Columns, rows, c.noHeaders)
	}
	return w.Flush()
}

// texts are the cells of a row as text; null is that of NULL.
func texts(row []any, null string) []string {
	list := make([]string, len(row))
	for i, v := range row {
		switch v := v.(type) {
		case nil:
			list[i] = null
		case string:
			list[i] = v
		case time.Time:
			list[i] = v.UTC().Format(time.RFC3339Nano)
		case []any, map[string]any:
			text, _ := json.Marshal(v)
			list[i] = string(text)
		default:
			list[i] = fmt.Sprint(v)
		}
	}
	return list
}

// writeRow writes a row as a line of JSON, its members in the order of the columns.
func writeRow(w *bufio.Writer, columns []string, row []any) error {
	separator := "{"
	for i := range row {
		name, err := json.Marshal(columns[i])
		if err != nil {
			return err
		}
		value, err := json.Marshal(row[i])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s:%s", separator, name, value)
		separator = ","
	}
	_, err := w.WriteString("}\n")
	return err
}
