package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// The subcommands that ask a server for a list. To add one: 1. a file query_*.go with its question, 2. its command in
// newRootCommand.

const (
	defaultServer = "http://127.0.0.1:8080"
	// queryTimeout is how long a server may take for an answer.
	queryTimeout = 30 * time.Second
	// minWatch is the shortest time between two refreshes.
	minWatch = 100 * time.Millisecond
)

// outputs are the values of --output.
var outputs = []string{"table", "wide", "json", "yaml", "ndjson", "csv", "parquet", "arrow"}

// A question is what a subcommand asks: for a list L of items T.
type question[L, T any] struct {
	name    string // of the list and the subcommand
	takes   string // an argument, as help shows it
	short   string
	long    string
	example string
	flags   []fieldFlag                               // that stand for conditions of a filter
	filters func(cmd *cobra.Command, q *client.Query) // adds the other flags of its own; may be nil
	// asks, where that is more than to get the list
	ask  func(*client.Client, context.Context, client.Query) (*L, error)
	open func(*L) (client.Head, []T)
	// how tables show fields of the catalogue, where the kind of a field does not say it
	cells   map[string]func(*view, *T) Cell
	lead    []string                        // the fields that stand before others in tables
	columns []tableColumn[T]                // of tables, behind those of the catalogue
	foot    func(v *view, list *L) []string // lines below a table; may be nil
	items   string                          // what the list has, if not its name
	none    string                          // why the list may be empty although reports arrived
	// what is said behind a table; may be nil
	note func(*client.Client, context.Context, []T) string
	// of a list that can be followed: what is printed once for each state that an item comes to
	state func(*T) string
	// when an item began; of lists that can be followed and do not have the latest first
	first func(*T) time.Time
	// how it is followed without asking again and again; nil: there is no stream of it
	live *live[T]
	// for records of a time range; nil: the list has the same items then, or none
	past    pastQuestion
	grouped pastQuestion // for groups of the items, of now too; nil: there are none
	nowOnly bool         // it knows nothing of a time range
	// what --follow -o ndjson has of an item, nil for none; of items that are not as the API has them
	object func(*T) any
	rows   string   // the list that is encoded line by line, if it is another
	orders []string // what it can be sorted by, if not by each of its fields

	// attached says that the server knows what there was at a moment of the past.
	attached bool

	// one prints the item that an argument names. Nil: the subcommand takes no argument.
	one func(c *queryCommand[L, T], ctx context.Context, id string) error

	// capture writes what is asked for as a capture file, with -o pcap; nil: there is none.
	capture func(c *queryCommand[L, T], ctx context.Context) error
}

// get asks for the list.
func (q *question[L, T]) get(ctx context.Context, c *client.Client, query client.Query) (*L, error) {
	if q.ask != nil {
		return q.ask(c, ctx, query)
	}
	return client.Get[L](ctx, c, q.name, query)
}

// outputs are the values of --output.
func (q *question[L, T]) outputs() []string {
	if q.capture != nil {
		return append(slices.Clip(outputs), outputCapture)
	}
	return outputs
}

// outputCapture is the value of --output for capture files.
const outputCapture = "pcap"

// A tableColumn is a column of a table; wide ones are shown with -o wide only.
type tableColumn[T any] struct {
	title string
	order string // what the API calls it, where a list can be ordered by it
	wide  bool
	right bool
	cell  func(v *view, item *T) Cell
}

// A queryCommand is one call of a subcommand.
type queryCommand[L, T any] struct {
	question[L, T]
	printing
	server     serverFlags
	follow     bool
	limitGiven bool
	args       []string
	query      client.Query
	shown      []tableColumn[T]

	client *client.Client
	stderr io.Writer
	cut    bool // it was said that not all can be followed
}

func newQueryCommand[L, T any](q question[L, T]) *cobra.Command {
	c := queryCommand[L, T]{question: q, printing: printing{title: q.name}, shown: q.tableColumns()}
	cmd := &cobra.Command{
		Use:     q.name + q.takes,
		Short:   q.short,
		Long:    q.long,
		Example: q.example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 && q.one != nil || len(args) > 0 && q.one == nil {
				return command.Usage(fmt.Errorf("unexpected argument %q", args[len(args)-1]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.stdout, c.stderr, c.args = cmd.OutOrStdout(), cmd.ErrOrStderr(), args
			if cmd.Flags().Changed("group-by") && c.query.GroupBy == "" {
				c.query.Together = true
			}
			if err := cmp.Or(c.compile(cmd), c.check(cmd.Flags().Changed("limit"))); err != nil {
				return command.Usage(err)
			}
			return c.run(cmp.Or(cmd.Context(), context.Background()))
		},
	}
	f := cmd.Flags()
	c.server.register(f)
	OutputVar(cmd, &c.output, q.outputs()...)
	limitVar(f, &c.query.Limit, "items")
	NoHeadersVar(f, &c.noHeaders)
	f.VarP(durationFlag{&c.watch}, "watch", "w", "ask again every `DURATION`, for example 2s")
	if q.state != nil {
		f.BoolVarP(&c.follow, "follow", "f", false,
			"go on, and print each item that is new, ended or another; JSON is one item per line")
	}
	c.addFieldFlags(cmd)
	if q.filters != nil {
		q.filters(cmd, &c.query)
	}
	c.addSelection(cmd)
	if q.attached {
		c.addMoment(cmd)
	}
	return cmd
}

// check says what is wrong with the flags.
func (c *queryCommand[L, T]) check(limitGiven bool) error {
	c.limitGiven = limitGiven
	if c.query.Limit < 1 {
		return fmt.Errorf("--limit is %d; it must be at least 1", c.query.Limit)
	}
	if c.watch != 0 && c.watch < minWatch {
		return fmt.Errorf("--watch is %v; it must be at least %v", c.watch, minWatch)
	}
	if c.watch != 0 && c.follow {
		return errors.New("--watch and --follow do not go together")
	}
	if c.follow && c.query.Order != "" {
		return errors.New("--sort and --follow do not go together")
	}
	if isWhole := slices.Contains([]string{"parquet", "arrow", "yaml"}, c.output); (c.follow || c.watch != 0) &&
		(isWhole || c.rows != "" && c.output == "csv") {
		return fmt.Errorf("-o %s is of one answer: it does not go with --follow and --watch", c.output)
	}
	return c.checkPast()
}

// run asks once, or until ctx is done.
func (c *queryCommand[L, T]) run(ctx context.Context) (err error) {
	if c.client, err = c.server.client(); err != nil {
		return command.Usage(err)
	}
	c.view = newView(c.stdout, c.output == "wide")
	c.view.bare = c.noHeaders
	if c.output == outputCapture {
		return c.capture(c, ctx)
	}
	if len(c.args) > 0 {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		return c.one(c, ctx, c.args[0])
	}
	if c.follow && c.live != nil {
		return c.followStream(ctx)
	}
	if c.follow {
		return c.followOn(ctx)
	}
	if err := c.once(ctx); err != nil || c.watch == 0 {
		return err
	}
	ticker := time.NewTicker(c.watch)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		// A server that restarts is no reason to stop watching.
		if err := c.once(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(c.stderr, err)
		}
	}
}

// once asks and prints the answer.
func (c *queryCommand[L, T]) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	if c.isEncoded() {
		return c.onceEncoded(ctx)
	}
	if c.isPast() {
		return c.oncePast(ctx)
	}
	list, err := c.get(ctx, c.client, c.query)
	if err != nil {
		return c.explain(err)
	}
	head, items := c.open(list)
	c.view.now = head.GeneratedAt
	items = items[:min(len(items), c.query.Limit)]
	if err := c.print(list, items); err != nil {
		return command.Quiet(err)
	}
	c.again = true
	if c.note != nil {
		if text := c.note(c.client, ctx, items); text != "" {
			fmt.Fprintln(c.stderr, text)
		}
	}
	c.remark(ctx, &head, len(items), head.Next != "")
	return nil
}

// remark says what is missing from an answer with some of the items that there are: all that are listed, and those of
// which nothing arrived.
func (c *queryCommand[L, T]) remark(ctx context.Context, head *client.Head, listed int, more bool) {
	items := cmp.Or(c.items, c.name)
	switch {
	case listed == 0:
		fmt.Fprintln(c.stderr, c.empty(ctx))
	case head.Total > listed:
		fmt.Fprintf(c.stderr, "listed %d of %d %s; --limit lists more\n", listed, head.Total, items)
	case more: // of a time range, whose total nobody counts
		fmt.Fprintf(c.stderr, "listed the first %d %s; --limit lists more\n", listed, items)
	}
	if line := incomplete(head.Completeness); line != "" && !isDocument(c.output) { // which have it in them
		fmt.Fprintln(c.stderr, line)
	}
}

// print prints an answer about now.
func (c *queryCommand[L, T]) print(list *L, items []T) error {
	var foot func() string
	if c.foot != nil {
		foot = func() string { return printableLines(c.foot(&c.view, list)) }
	}
	return printAnswer(&c.printing, items, c.shown, foot)
}

// printing is how a command prints.
type printing struct {
	title  string // the name of the list
	output string
	// tables and CSV have no titles
	noHeaders bool
	watch     time.Duration
	view      view
	again     bool // not the first answer
	stdout    io.Writer
}

// printAnswer writes a table of items, and what stands below it unless that is nil, in one piece, so that a refresh
// does not flicker.
func printAnswer[T any](c *printing, items []T, columns []tableColumn[T], foot func() string) error {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	switch {
	case c.watch == 0:
	case c.view.terminal:
		w.WriteString("\x1b[H\x1b[2J") // to the top left, clear
		fmt.Fprintf(w, "waybill %s, every %v: %s\n\n", c.title, c.watch, c.view.now.Local().Format(time.DateTime))
	case c.again:
		w.WriteByte('\n')
	}
	if len(items) > 0 {
		writeTable(w, &c.view, columns, items)
		if foot != nil {
			fmt.Fprintf(w, "\n%s\n", foot())
		}
	}
	w.Flush()
	_, err := c.stdout.Write(b.Bytes())
	return err
}
