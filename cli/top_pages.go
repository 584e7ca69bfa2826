package cli

import (
	"bufio"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/encode"
)

// A topPage tells more of an item of a list. It is drawn anew each time, and longer than the screen.
type topPage struct {
	key   string // tells items apart
	title string
	draw  func(ctx context.Context, c *client.Client, v *view, w *bufio.Writer) error
}

// flowPage is the way of a flow, hop by hop.
func flowPage(f *client.Flow) *topPage {
	id, src, dst := f.ID, f.Src.String(), f.Dst.String()
	return &topPage{
		key: id, title: "flow " + id,
		draw: func(ctx context.Context, c *client.Client, v *view, w *bufio.Writer) error {
			flows, err := client.Get[client.FlowList](ctx, c, "flows",
				client.Query{Filter: fmt.Sprintf("src = %s and dst = %s and id = %q", src, dst, id)})
			if err != nil {
				return err
			}
			if len(flows.Flows) == 0 {
				w.WriteString("The server does not know this flow any more.\n")
				return nil
			}
			links, err := client.Get[client.LinkList](ctx, c, "links", client.Query{Limit: followAll})
			if err != nil {
				return err
			}
			v.now = flows.GeneratedAt
			drawTrace(w, v, &flows.Flows[0], links.Links)
			return nil
		},
	}
}

// nodePage is a node with its ports, what packets met between them, its queues, drops and events.
func nodePage(id uint32, name string) *topPage {
	text := nodeText(&id, name)
	return &topPage{
		key: "node " + text, title: "node " + text,
		draw: func(ctx context.Context, c *client.Client, v *view, w *bufio.Writer) error {
			q := client.Query{Filter: nodeTerm(uintText(id)), Limit: maxSection}
			for _, draw := range []func() error{
				func() error { return drawSection(ctx, c, v, w, nodesQuestion(), q) },
				func() error { return drawSection(ctx, c, v, w, linksQuestion(), q) },
				func() error { return drawSection(ctx, c, v, w, hopsQuestion(), q) },
				func() error { return drawSection(ctx, c, v, w, queuesQuestion(), q) },
				func() error { return drawSection(ctx, c, v, w, dropsQuestion(), q) },
				func() error { return drawSection(ctx, c, v, w, eventsQuestion(), q) },
			} {
				if err := draw(); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// maxSection is how many items of a list are on the page of a node.
const maxSection = 100

// drawSection draws a list under its name.
func drawSection[L, T any](ctx context.Context, c *client.Client, v *view, w *bufio.Writer, q question[L, T],
	query client.Query,
) error {
	list, err := q.get(ctx, c, query)
	if err != nil {
		return err
	}
	head, items := q.open(list)
	v.now = head.GeneratedAt
	title := fmt.Sprintf("%s: %d", q.name, head.Total)
	if head.Total > len(items) {
		title = fmt.Sprintf("%s: %d of %d", q.name, len(items), head.Total)
	}
	fmt.Fprintln(w, Cell{title, bold}.colored(v))
	if len(items) > 0 {
		writeTable(w, v, q.tableColumns(), items)
	}
	w.WriteByte('\n')
	return nil
}

// eventPage is an event with all that it rests on.
func eventPage(e *client.Event) *topPage {
	id := e.ID
	return &topPage{
		key: id, title: "event " + id,
		draw: func(ctx context.Context, c *client.Client, v *view, w *bufio.Writer) error {
			events, err := client.Get[client.EventList](ctx, c, "events",
				client.Query{Filter: fmt.Sprintf("id = %q", id)})
			if err != nil {
				return err
			}
			if len(events.Events) == 0 {
				w.WriteString("The server does not remember this event any more.\n")
				return nil
			}
			v.now = events.GeneratedAt
			e := &events.Events[0]
			fmt.Fprintf(w, "%s\n\n", Cell{printable(e.Text), severityCell(e.Severity).color}.colored(v))
			writeFields(w, v, e, "id", "text", "evidence", "bytes")
			fmt.Fprintf(w, "\n%s\n", Cell{"evidence", bold}.colored(v))
			for _, x := range e.Evidence {
				fmt.Fprintf(w, "  %-28s %s %s\n", printable(x.Name), strconv.FormatFloat(x.Value, 'g', 6, 64),
					printable(strings.TrimPrefix(x.Unit, "1")))
			}
			if hint := decodeHint(c, ctx, events.Events); hint != "" {
				fmt.Fprintf(w, "\n%s\n", hint)
			}
			return nil
		},
	}
}

// dropPage is what a reason of drops means, and what to do.
func dropPage(d *client.Drop) *topPage {
	place := dropsQuestion().state(d)
	q := client.Query{Filter: "reason = " + uintText(d.Reason), Limit: followAll}
	if d.Node != nil {
		q.Filter += " and " + nodeTerm(uintText(*d.Node))
	}
	return &topPage{
		key: place, title: "drops at " + nodeText(d.Node, d.Name) + ": " + d.ReasonName,
		draw: func(ctx context.Context, c *client.Client, v *view, w *bufio.Writer) error {
			return drawItem(ctx, c, v, w, dropsQuestion(), q, place, func(d *client.Drop) {
				fmt.Fprintf(w, "\n%s\n", printable(d.Meaning))
				if d.Action != "" {
					fmt.Fprintf(w, "%s %s\n", Cell{"what to do:", bold}.colored(v), printable(d.Action))
				}
			})
		},
	}
}

// exporterPage is the account of an exporter.
func exporterPage(e *client.Exporter) *topPage {
	who := exportersQuestion().state(e)
	q := client.Query{Filter: "source = " + e.Source.String(), Limit: followAll}
	return &topPage{
		key: who, title: "exporter " + e.Source.String() + " " + nodeText(e.Node, e.Name),
		draw: func(ctx context.Context, c *client.Client, v *view, w *bufio.Writer) error {
			return drawItem(ctx, c, v, w, exportersQuestion(), q, who, func(e *client.Exporter) {
				if note := noteText(e); note != "" {
					fmt.Fprintf(w, "\n%s\n", printable(note))
				}
			})
		},
	}
}

// drawItem draws the fields of the item in that state, and what more says of it.
func drawItem[L, T any](ctx context.Context, c *client.Client, v *view, w *bufio.Writer, q question[L, T],
	query client.Query, state string, more func(*T),
) error {
	list, err := q.get(ctx, c, query)
	if err != nil {
		return err
	}
	head, items := q.open(list)
	v.now = head.GeneratedAt
	for i := range items {
		if q.state(&items[i]) == state {
			writeFields(w, v, &items[i])
			more(&items[i])
			return nil
		}
	}
	w.WriteString("The server does not know this any more.\n")
	return nil
}

// writeFields writes the fields of an item that are known, but for some, a line each.
func writeFields[T any](w *bufio.Writer, v *view, item *T, but ...string) {
	for _, f := range encode.Columns(reflect.TypeFor[T]()) {
		text := encode.Text(f.Value(item))
		if text == "" || text == "null" || slices.Contains(but, f.Name) {
			continue
		}
		fmt.Fprintf(w, "%s %s\n", Cell{fmt.Sprintf("%-22s", f.Name), bold}.colored(v), printable(text))
	}
}
