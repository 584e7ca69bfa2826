package cli

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// A pastQuestion asks for a list of a time range: records of what was counted, which are others than the items of now.
type pastQuestion func(ctx context.Context, c *client.Client, list string, q client.Query) (*pastAnswer, error)

// A pastAnswer is the answer.
type pastAnswer struct {
	head    client.Head
	frame   client.Frame
	print   func(*printing) error
	records int
}

// pastOf returns the question for a list of the API.
func pastOf[L, R any](open func(*L) (client.Head, client.Frame, []R), cells ...recordCells[R]) pastQuestion {
	return func(ctx context.Context, c *client.Client, name string, q client.Query) (*pastAnswer, error) {
		list, err := client.Get[L](ctx, c, name, q)
		if err != nil {
			return nil, err
		}
		head, frame, records := open(list)
		return &pastAnswer{
			head, frame,
			func(p *printing) error {
				var own recordCells[R]
				if len(cells) > 0 {
					own = cells[0]
				}
				return printAnswer(p, records, recordColumns(records, own, q.GroupBy != "" || q.Together), nil)
			}, len(records),
		}, nil
	}
}

// checkPast says what does not go with a time range, and turns --sort into what the server takes.
func (c *queryCommand[L, T]) checkPast() error {
	if c.grouped != nil && c.isPast() {
		return c.checkGrouped()
	}
	if c.query.Since == "" && c.query.Until == "" {
		if c.query.GroupBy != "" || c.query.Together || c.query.Interval != "" {
			return errors.New("--group-by and --interval are about a time range: add --since, for example --since 1h")
		}
		return nil
	}
	switch {
	case c.nowOnly:
		return fmt.Errorf(
			"%s are of now only; nodes, links, topology, flows, paths, hops, queues, bursts, drops, events, incidents, "+
				"attacks, exporters and loss know of --since", c.name,
		)
	case c.follow:
		return errors.New(
			"--since and --follow do not go together: what is new is of now; --watch asks about a time range again")
	}
	return nil
}

// checkGrouped says what does not go with groups, and turns --sort into what the server takes.
func (c *queryCommand[L, T]) checkGrouped() error {
	switch {
	case c.follow:
		return errors.New(
			"--group-by and --follow do not go together: groups are of all items; --watch 2s shows them again and again",
		)
	case c.query.Interval != "" && c.query.Since == "" && c.query.Until == "":
		return errors.New("--interval is about a time range: add --since, for example --since 1h")
	case len(c.args) > 0:
		return fmt.Errorf("--group-by is about all %s, not about %s", c.name, c.args[0])
	}
	return nil
}

// isPast reports whether records are asked for: those of a time range, or groups.
func (c *queryCommand[L, T]) isPast() bool {
	if c.grouped != nil {
		return c.query.GroupBy != "" || c.query.Together || c.query.Interval != ""
	}
	return c.past != nil && (c.query.Since != "" || c.query.Until != "")
}

// oncePast asks for a time range and prints the answer.
func (c *queryCommand[L, T]) oncePast(ctx context.Context) error {
	question := c.past
	if c.grouped != nil {
		question = c.grouped
	}
	a, err := question(ctx, c.client, c.name, c.query)
	if err != nil {
		return c.explain(err)
	}
	c.view.now = a.head.GeneratedAt
	if err := a.print(&c.printing); err != nil {
		return command.Quiet(err)
	}
	c.again = true
	switch {
	case a.records == 0 && a.frame.Since.Equal(a.frame.Until) && !a.frame.Since.IsZero():
		fmt.Fprintf(c.stderr,
			"nothing of that time range is written yet; hops and queues are written every second, all else every ten\n")
	case a.records == 0:
		fmt.Fprintf(c.stderr, "no %s match\n", c.name)
	case a.head.Next != "":
		fmt.Fprintf(c.stderr, "listed the first %d records; --limit lists more\n", a.records)
	}
	return nil
}

// recordColumns returns the columns of what records know: those of the list of now, by its titles; of groups by their
// names in the API. Columns of -o wide are shown too where somebody chose by what records are added up.
func recordColumns[R any](records []R, cells recordCells[R], chosen bool) (columns []tableColumn[R]) {
	item := reflect.TypeFor[R]()
	all, shown := encode.Columns(item), catalogue.TableOf(item)
	if len(shown) == 0 {
		for i := range all {
			shown = append(shown, &all[i])
		}
	}
	for _, f := range shown {
		if !slices.ContainsFunc(records, func(r R) bool { return isKnown(f.Value(&r)) }) {
			continue
		}
		c := tableColumn[R]{
			title: f.Table.Title, wide: f.Table.Wide && !chosen, right: f.Table.Right, cell: cellOf[R](f, all),
		}
		switch {
		case c.title == "":
			c.title = strings.ToUpper(strings.ReplaceAll(strings.TrimSuffix(f.Name, "_ns"), "_", " "))
			c.right = f.Kind >= catalogue.Uint && f.Kind <= catalogue.Rate || f.Kind == catalogue.Node
		case cells[f.Name] != nil && !chosen:
			c.cell = cells[f.Name]
		}
		if f.Kind == catalogue.Time {
			c.cell = func(_ *view, r *R) Cell { return timeCell(f.Value(r)) }
		}
		columns = append(columns, c)
	}
	return columns
}

// recordCells show fields of records in another way than by their kind.
type recordCells[R any] map[string]func(*view, *R) Cell

func timeCell(v reflect.Value) Cell {
	if !v.IsValid() {
		return PlainCell(unknown)
	}
	return PlainCell(clockText(v.Interface().(time.Time)))
}

func clockText(t time.Time) string { return t.Local().Format(time.DateTime) }

// isKnown reports whether a record has a value.
func isKnown(v reflect.Value) bool { return v.IsValid() && (v.Kind() != reflect.String || v.Len() > 0) }
