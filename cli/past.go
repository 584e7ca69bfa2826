package cli

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// A pastQuestion asks for a list of a time range: records of what was counted, which are others than the items of now.
type pastQuestion func(ctx context.Context, c *client.Client, q client.Query) (*pastAnswer, error)

// A pastAnswer is the answer.
type pastAnswer struct {
	list    any // as the API has it
	head    client.Head
	frame   client.Frame
	records reflect.Value // a slice of structs whose fields are nil where they are not known
}

// pastOf returns the question for a list of the API.
func pastOf[L, R any](ask func(*client.Client, context.Context, client.Query) (*L, error), open func(*L) (client.Head, client.Frame, []R)) pastQuestion {
	return func(ctx context.Context, c *client.Client, q client.Query) (*pastAnswer, error) {
		list, err := ask(c, ctx, q)
		if err != nil {
			return nil, err
		}
		a := pastAnswer{list: list}
		var records []R
		a.head, a.frame, records = open(list)
		a.records = reflect.ValueOf(records)
		return &a, nil
	}
}

// A pastRecord is one of the records.
type pastRecord struct{ reflect.Value }

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
		return fmt.Errorf("%s are of now only; nodes, links, topology, flows, paths, hops, queues, bursts, drops, events, exporters and loss know of --since", c.name)
	case c.follow:
		return errors.New("--since and --follow do not go together: what is new is of now; --watch asks about a time range again")
	case c.past == nil || c.sort == "":
		return nil
	case c.query.Order != "":
		return errors.New("--order and --sort do not go together for a time range, which the server sorts")
	}
	c.query.Order = c.sort
	return nil
}

// checkGrouped says what does not go with groups, and turns --sort into what the server takes.
func (c *queryCommand[L, T]) checkGrouped() error {
	switch {
	case c.follow:
		return errors.New("--group-by and --follow do not go together: groups are of all items; --watch 2s shows them again and again")
	case c.query.Interval != "" && c.query.Since == "" && c.query.Until == "":
		return errors.New("--interval is about a time range: add --since, for example --since 1h")
	case len(c.args) > 0:
		return fmt.Errorf("--group-by is about all %s, not about %s", c.name, c.args[0])
	}
	c.query.Order = c.sort
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
	a, err := question(ctx, c.client, c.query)
	if err != nil {
		return c.explain(err)
	}
	c.view.now = a.head.GeneratedAt
	records := make([]pastRecord, a.records.Len())
	for i := range records {
		records[i] = pastRecord{a.records.Index(i)}
	}
	columns, fields := pastColumns(a.records)
	if err := printAnswer(&c.printing, printed[pastRecord]{
		list: a.list, items: records, columns: columns, fields: fields, object: func(r *pastRecord) any { return r.Interface() },
	}); err != nil {
		return command.Quiet(err)
	}
	c.again = true
	switch {
	case len(records) == 0 && a.frame.Since.Equal(a.frame.Until) && !a.frame.Since.IsZero():
		fmt.Fprintf(c.stderr, "nothing of that time range is written yet; hops and queues are written every second, all else every ten\n")
	case len(records) == 0:
		fmt.Fprintf(c.stderr, "no %s match\n", c.name)
	case a.head.Next != "" && c.top == 0:
		fmt.Fprintf(c.stderr, "listed the first %d records; --limit lists more\n", len(records))
	}
	return nil
}

// pastColumns returns the columns of what the records know, by their names in the API.
func pastColumns(records reflect.Value) ([]tableColumn[pastRecord], []csvField[pastRecord]) {
	var columns []tableColumn[pastRecord]
	var fields []csvField[pastRecord]
	of := records.Type().Elem()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		known := false
		for j := range records.Len() {
			known = known || !records.Index(j).Field(i).IsZero()
		}
		if !known {
			continue
		}
		fields = append(fields, csvField[pastRecord]{name, func(r *pastRecord) string { return r.text(i) }})
		title := strings.ToUpper(strings.ReplaceAll(strings.TrimSuffix(name, "_ns"), "_", " "))
		columns = append(columns, tableColumn[pastRecord]{
			title: title, right: isNumber(of.Field(i).Type), cell: func(v *view, r *pastRecord) Cell { return PlainCell(r.shown(v, i, name)) },
		})
	}
	return columns, fields
}

func isNumber(of reflect.Type) bool {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	_, text := reflect.New(of).Interface().(encoding.TextMarshaler)
	return !text && of != reflect.TypeFor[time.Time]() && of != reflect.TypeFor[netip.Addr]() && of.Kind() != reflect.String && of.Kind() != reflect.Bool
}

// text is a field in CSV.
func (r *pastRecord) text(i int) string {
	f := reflect.Indirect(r.Field(i))
	if !f.IsValid() {
		return ""
	}
	switch v := f.Interface().(type) {
	case time.Time:
		return csvTime(v)
	case interface{ MarshalText() ([]byte, error) }:
		text, _ := v.MarshalText()
		return string(text)
	}
	return fmt.Sprint(f.Interface())
}

// shown is a field in a table.
func (r *pastRecord) shown(v *view, i int, name string) string {
	f := reflect.Indirect(r.Field(i))
	if !f.IsValid() {
		return unknown
	}
	switch {
	case strings.HasSuffix(name, "_ns"):
		return v.duration(float64(f.Int()))
	case name == "bytes":
		return size(f.Uint())
	case f.Type() == reflect.TypeFor[time.Time]():
		return clockText(f.Interface().(time.Time))
	case f.CanFloat():
		return fmt.Sprintf("%.1f", f.Float())
	}
	return r.text(i)
}

func clockText(t time.Time) string { return t.Local().Format(time.DateTime) }
