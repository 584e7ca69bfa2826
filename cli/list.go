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
	"strings"
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
var outputs = []string{"table", "wide", "json", "ndjson", "csv"}

// A question is what a subcommand asks: for a list L of items T.
type question[L, T any] struct {
	name    string // of the list and the subcommand
	takes   string // an argument, as help shows it
	short   string
	long    string
	example string
	filters func(cmd *cobra.Command, q *client.Query) // adds the flags of its own
	ask     func(*client.Client, context.Context, client.Query) (*L, error)
	open    func(*L) (client.Head, []T)
	columns []tableColumn[T]                // of tables
	fields  []csvField[T]                   // of CSV
	foot    func(v *view, list *L) []string // lines below a table; may be nil
	items   string                          // what the list has, if not its name
	none    string                          // why the list may be empty although reports arrived
	note    func([]T) string                // what is said behind a table; may be nil
	state   func(*T) string                 // of a list that can be followed: what is printed once for each state that an item comes to
	first   func(*T) time.Time              // when an item began; of lists that can be followed and do not have the latest first
	live    *live[T]                        // how it is followed without asking again and again; nil: there is no stream of it
	past    pastQuestion                    // for records of a time range; nil: the list has the same items then, or none
	grouped pastQuestion                    // for groups of the items, of now too; nil: there are none
	nowOnly bool                            // it knows nothing of a time range
	object  func(*T) any                    // what ndjson has of an item, nil for none; of items that are not as the API has them

	// attached says that the server knows what there was at a moment of the past.
	attached bool

	// one prints the item that an argument names. Nil: the subcommand takes no argument.
	one func(c *queryCommand[L, T], ctx context.Context, id string) error

	// capture writes what is asked for as a capture file, with -o pcap; nil: there is none.
	capture func(c *queryCommand[L, T], ctx context.Context) error
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

// A csvField is a column of CSV: raw numbers, times in RFC 3339, empty if not known.
type csvField[T any] struct {
	name string
	text func(item *T) string
}

// A queryCommand is one call of a subcommand.
type queryCommand[L, T any] struct {
	question[L, T]
	printing
	server     serverFlags
	follow     bool
	sort       string
	top        int
	show       int // items; query.Limit are asked for
	limitGiven bool
	args       []string
	query      client.Query

	client *client.Client
	stderr io.Writer
	cut    bool // it was said that not all can be followed
}

func newQueryCommand[L, T any](q question[L, T]) *cobra.Command {
	q.addTagged()
	c := queryCommand[L, T]{question: q, printing: printing{title: q.name}}
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
			if err := c.check(cmd.Flags().Changed("limit"), cmd.Flags().Changed("top")); err != nil {
				return command.Usage(err)
			}
			return c.run(cmp.Or(cmd.Context(), context.Background()))
		},
	}
	f := cmd.Flags()
	c.server.register(f)
	f.StringVarP(&c.output, "output", "o", outputs[0], "`FORMAT`: "+strings.Join(q.outputs(), ", "))
	f.IntVar(&c.query.Limit, "limit", 100, "list up to `N` items")
	DurationVar(f, &c.watch, "watch", 0, "ask again every `DURATION`, for example 2s")
	if q.state != nil {
		f.BoolVar(&c.follow, "follow", false, "go on, and print each item that is new, ended or another; JSON is one item per line")
	}
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(q.outputs(), cobra.ShellCompDirectiveNoFileComp))
	if q.filters != nil {
		q.filters(cmd, &c.query)
		c.addSelection(cmd)
	}
	if q.attached {
		c.addMoment(cmd)
	}
	return cmd
}

// check says what is wrong with the flags.
func (c *queryCommand[L, T]) check(limitGiven, topGiven bool) error {
	c.limitGiven = limitGiven
	if allowed := c.outputs(); !slices.Contains(allowed, c.output) {
		return fmt.Errorf("--output is %q; allowed: %s", c.output, strings.Join(allowed, ", "))
	}
	if c.query.Limit < 1 {
		return fmt.Errorf("--limit is %d; it must be at least 1", c.query.Limit)
	}
	if c.watch != 0 && c.watch < minWatch {
		return fmt.Errorf("--watch is %v; it must be at least %v", c.watch, minWatch)
	}
	if c.watch != 0 && c.follow {
		return errors.New("--watch and --follow do not go together")
	}
	if err := c.checkSelection(limitGiven, topGiven); err != nil {
		return err
	}
	return c.checkPast()
}

// run asks once, or until ctx is done.
func (c *queryCommand[L, T]) run(ctx context.Context) (err error) {
	if c.client, err = c.server.client(); err != nil {
		return command.Usage(err)
	}
	c.view = newView(c.stdout, c.output == "wide")
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
	if c.isPast() {
		return c.oncePast(ctx)
	}
	list, err := c.ask(c.client, ctx, c.query)
	if err != nil {
		return c.explain(err)
	}
	head, items := c.open(list)
	c.view.now, c.view.alone = head.GeneratedAt, c.sort != ""
	got := len(items)
	items = c.sorted(items)
	if err := c.print(list, items); err != nil {
		return command.Quiet(err)
	}
	c.again = true
	if c.note != nil && (c.output == "table" || c.output == "wide") {
		if text := c.note(items); text != "" {
			fmt.Fprintln(c.stderr, text)
		}
	}
	switch {
	case len(items) == 0:
		fmt.Fprintln(c.stderr, c.empty(ctx))
	case c.sort != "" && head.Total > got:
		fmt.Fprintf(c.stderr, "sorted %d of %d %s, since no server lists more\n", got, head.Total, cmp.Or(c.items, c.name))
	case head.Total > len(items) && c.top == 0:
		fmt.Fprintf(c.stderr, "listed %d of %d %s; --limit lists more\n", len(items), head.Total, cmp.Or(c.items, c.name))
	case head.Next != "" && c.top == 0: // of a time range, whose total nobody counts
		fmt.Fprintf(c.stderr, "listed the first %d %s; --limit lists more\n", len(items), cmp.Or(c.items, c.name))
	}
	if line := incomplete(head.Completeness); line != "" && c.output != "json" { // which has it in it
		fmt.Fprintln(c.stderr, line)
	}
	return nil
}

// print prints an answer about now.
func (c *queryCommand[L, T]) print(list *L, items []T) error {
	p := printed[T]{list: list, items: items, columns: c.columns, fields: c.fields, object: c.object}
	if c.foot != nil {
		p.foot = func() string { return printableLines(c.foot(&c.view, list)) }
	}
	return printAnswer(&c.printing, p)
}

// printed is what is printed of an answer.
type printed[T any] struct {
	list    any
	items   []T
	columns []tableColumn[T]
	fields  []csvField[T]
	object  func(*T) any
	foot    func() string // below a table; may be nil
}

// printing is how a command prints.
type printing struct {
	title  string // the name of the list
	output string
	watch  time.Duration
	view   view
	again  bool // not the first answer
	stdout io.Writer
}

// printAnswer writes an answer in one piece, so that a refresh does not flicker.
func printAnswer[T any](c *printing, p printed[T]) error {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	switch c.output {
	case "json":
		if err := writeJSON(w, p.list); err != nil {
			return err
		}
	case "ndjson":
		if err := writeLines(w, p.object, p.items); err != nil {
			return err
		}
	case "csv":
		if err := writeCSV(w, p.fields, p.items, !c.again); err != nil {
			return err
		}
	default:
		switch {
		case c.watch == 0:
		case c.view.terminal:
			w.WriteString("\x1b[H\x1b[2J") // to the top left, clear
			fmt.Fprintf(w, "waybill %s, every %v: %s\n\n", c.title, c.watch, c.view.now.Local().Format(time.DateTime))
		case c.again:
			w.WriteByte('\n')
		}
		if len(p.items) > 0 {
			writeTable(w, &c.view, p.columns, p.items)
			if p.foot != nil {
				fmt.Fprintf(w, "\n%s\n", p.foot())
			}
		}
	}
	w.Flush()
	_, err := c.stdout.Write(b.Bytes())
	return err
}
