package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/command"
)

// exportPage is how many rows are asked for at once: the most that a server answers with.
const exportPage = 10000

// exportFormats are the values of --output, and the ends of the names of files.
var exportFormats = []string{"csv", "ndjson", "parquet"}

// An exportCommand is one call of waybill export.
type exportCommand struct {
	sql                  sqlCommand
	table                string
	format, file         string
	parquet              bool
	since, until         string
	page                 int // rows that are asked for at once
	sinceTime, untilTime time.Time
	names, types         []string // of the columns
	computed             []string // what those at the end of names are, which the table does not have, as SQL
	rows                 int      // that were written
}

func newExportCommand(local Local) *cobra.Command {
	c := exportCommand{page: exportPage, sql: sqlCommand{local: local}}
	cmd := &cobra.Command{
		Use:   "export TABLE",
		Short: "write a table of the store to a file: CSV, JSON or Parquet",
		Long: `Export writes all rows of a table that a server keeps (serve --data) to a file, the oldest first: one of the tables of
docs/reference/store.md, such as flows_1m or events. It asks for as many pages as it takes. A file appears when it is complete.
Columns at the end have addresses and ids of paths as text: src is the address in src_hi and src_lo, path the id in path_id.`,
		Example: `  waybill export flows_1m --since 24h --parquet
  waybill export events --since 2026-11-21T09:00:00Z --until 2026-11-21T10:00:00Z --file events.ndjson
  waybill export drops_10s -o csv > drops.csv
  waybill export hops_1m --data /var/lib/waybill --file hops.parquet`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usage(fmt.Errorf("got %d tables, want one", len(args)))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion,
			cobra.ShellCompDirective,
		) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return local.Tables(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.table = args[0]
			if err := c.check(time.Now()); err != nil {
				return command.Usage(err)
			}
			return c.run(cmp.Or(cmd.Context(), context.Background()), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	c.sql.server.register(f)
	f.StringVar(&c.sql.data, "data", "", "`DIRECTORY` to read instead of asking a server")
	f.StringVarP(&c.format, "output", "o", "", "`FORMAT`: "+strings.Join(exportFormats, ", ")+
		"; the default is that of the end of FILE, or csv")
	f.BoolVar(&c.parquet, "parquet", false, "the same as -o parquet")
	f.StringVar(&c.file, "file", "",
		"`FILE` to write instead of standard output; of Parquet the default is TABLE.parquet")
	f.StringVar(&c.since, "since", "", "only rows from this `TIME` on, or from so long ago: 2026-11-21T09:00:00Z, 24h")
	f.StringVar(&c.until, "until", "", "only rows before this `TIME`, or before so long ago; the default is now")
	_ = cmd.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions(exportFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// check says what is wrong with the command line, at a time.
func (c *exportCommand) check(now time.Time) (err error) {
	switch {
	case c.parquet && c.format != "" && c.format != "parquet":
		return fmt.Errorf("--parquet and --output %s do not go together", c.format)
	case c.parquet:
		c.format = "parquet"
	case c.format == "":
		c.format = "csv"
		if end := strings.TrimPrefix(filepath.Ext(c.file), "."); slices.Contains(exportFormats, end) {
			c.format = end
		} else if c.file != "" {
			return fmt.Errorf("--file is %q, whose end says no format; --output says one: %s", c.file,
				strings.Join(exportFormats, ", "))
		}
	}
	if !slices.Contains(exportFormats, c.format) {
		return fmt.Errorf("--output is %q; allowed: %s", c.format, strings.Join(exportFormats, ", "))
	}
	if strings.Trim(c.table, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || c.table == "" {
		return fmt.Errorf("%q is not the name of a table", c.table)
	}
	if c.format == "parquet" && c.file == "" {
		c.file = c.table + ".parquet"
	}
	if c.sinceTime, err = timeOrAge("--since", c.since, now, time.Unix(0, 0)); err != nil {
		return err
	}
	if c.untilTime, err = timeOrAge("--until", c.until, now, now); err != nil {
		return err
	}
	if !c.sinceTime.Before(c.untilTime) {
		return errors.New("--until is not after --since")
	}
	return nil
}

// timeOrAge parses a time, or how long before now it was.
func timeOrAge(flag, text string, now, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	if ago, err := filter.ParseDuration(text); err == nil {
		return now.Add(-ago), nil
	}
	at, err := filter.ParseTime(text, time.Local)
	if err != nil {
		return at, fmt.Errorf("%s is %q; allowed: a time such as 2026-11-21T09:00:00Z, or how long ago, such as 10m",
			flag, text)
	}
	return at, nil
}

func (c *exportCommand) run(ctx context.Context, stdout, stderr io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // so that nothing is left beside the file
	defer stop()
	c.sql.limit = exportPage
	if err := c.describe(ctx); err != nil {
		return err
	}
	if c.file == "" {
		return command.Quiet(c.write(ctx, stdout, c.format))
	}
	if err := c.writeFile(ctx); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s of %s in %s\n", counted(uint64(c.rows), "row"), c.table, c.file)
	return nil
}

// describe asks for the columns of the table.
func (c *exportCommand) describe(ctx context.Context) error {
	table, err := c.sql.ask(ctx, fmt.Sprintf(
		"SELECT column_name, data_type FROM information_schema.columns WHERE table_catalog = 'memory' AND table_schema = 'main' AND table_name = '%s' ORDER BY ordinal_position", c.table))
	if err != nil {
		return err
	}
	for _, row := range table.Rows {
		c.names, c.types = append(c.names, fmt.Sprint(row[0])), append(c.types, fmt.Sprint(row[1]))
	}
	if len(c.names) == 0 || c.names[0] != "start" {
		return command.Usage(fmt.Errorf("there is no table %s; the tables are %s", c.table,
			strings.Join(c.sql.local.Tables(), ", ")))
	}
	for _, name := range c.names { // of the table: appended are others
		address, isHigh := strings.CutSuffix(name, "_hi")
		switch {
		case isHigh && slices.Contains(c.names, address+"_lo"):
			c.compute(address, fmt.Sprintf("address(%s_hi, %[1]s_lo)", address))
		case name == "path_id":
			c.compute("path", "lpad(lower(to_hex(path_id)), 16, '0')")
		}
	}
	return nil
}

// compute adds a column of text, as people and other commands write what the table has in numbers.
func (c *exportCommand) compute(name, expression string) {
	if !slices.Contains(c.names, name) {
		c.names, c.types = append(c.names, name), append(c.types, "VARCHAR")
		c.computed = append(c.computed, expression)
	}
}

// writeFile writes a file beside the one that is wanted, and moves it there when it is complete.
func (c *exportCommand) writeFile(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(c.file), ".waybill-export-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	format, name := c.format, filepath.Join(dir, "rows")
	if format == "parquet" {
		format = "ndjson"
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = c.write(ctx, f, format)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if c.format == "parquet" {
		rows := name
		name = filepath.Join(dir, "parquet")
		if err := c.sql.local.WriteParquet(ctx, rows, name, c.names, c.types); err != nil {
			return err
		}
	}
	return os.Rename(name, c.file)
}

// write writes all rows, page by page.
func (c *exportCommand) write(ctx context.Context, to io.Writer, format string) error {
	w := bufio.NewWriter(to)
	table := csv.NewWriter(w)
	if format == "csv" {
		if err := table.Write(c.names); err != nil {
			return err
		}
	}
	err := c.eachRow(ctx, func(row []any) error {
		if format == "csv" {
			return table.Write(texts(row, ""))
		}
		return writeRow(w, c.names, row)
	})
	table.Flush()
	return errors.Join(err, table.Error(), w.Flush())
}

// eachRow asks for the rows in the order of their times. A page begins where the one before ended: at the last time of
// it, less the rows of that time that came already. So rows that a server adds meanwhile, which are the latest, move
// nothing.
func (c *exportCommand) eachRow(ctx context.Context, do func(row []any) error) error {
	var columns []string
	for _, name := range c.names[:len(c.names)-len(c.computed)] {
		columns = append(columns, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`)
	}
	order := strings.Join(columns, ", ")
	wanted := strings.Join(append(columns, c.computed...), ", ")
	from, came := c.sinceTime.UTC().Format(time.RFC3339Nano), 0
	for {
		page, err := c.sql.ask(ctx, fmt.Sprintf(
			"SELECT %s FROM %s WHERE start >= CAST('%s' AS TIMESTAMP_NS) AND start < CAST('%s' AS TIMESTAMP_NS) ORDER BY %s LIMIT %d OFFSET %d",
			wanted, c.table, from, c.untilTime.UTC().Format(time.RFC3339Nano), order, c.page, came))
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			if err := do(row); err != nil {
				return err
			}
			if at := texts(row[:1], "")[0]; at != from {
				from, came = at, 0
			}
			came++
			c.rows++
		}
		if len(page.Rows) < c.page {
			return nil
		}
	}
}
