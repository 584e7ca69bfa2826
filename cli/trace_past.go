package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// A pastTrace asks the store for the ways that a flow took in a time range.
type pastTrace struct{ since, until string }

// asked reports whether a time range is given.
func (t *pastTrace) asked() bool { return t.since != "" || t.until != "" }

// draw prints the paths of the flow that the arguments name, as c.FlowPaths has them.
func (t *pastTrace) draw(ctx context.Context, d *drawing, c *client.Client, args []string, to, notes io.Writer) error {
	id, others, err := t.flow(ctx, c, args)
	if err != nil {
		return err
	}
	list, err := client.Get[client.FlowPathList](ctx, c, "flows/"+id+"/paths",
		client.Query{Since: t.since, Until: t.until, Limit: followAll})
	if err != nil {
		return err
	}
	if len(list.Paths) == 0 {
		return fmt.Errorf("the store has nothing of flow %s from %s to %s", id,
			list.Since.Local().Format(time.DateTime), list.Until.Local().Format(time.DateTime))
	}
	if isDocument(d.output) {
		return WriteDocument(to, d.output, list)
	}
	v := newView(to, d.output == "wide")
	v.now = list.GeneratedAt
	w := bufio.NewWriter(to)
	drawPast(w, &v, list)
	if err := w.Flush(); err != nil {
		return command.Quiet(err)
	}
	if others > 0 {
		fmt.Fprintf(
			notes,
			"%d more flows match; this is the one with the most packets. The ids of all: waybill flows --since %s --src %s --dst %s\n",
			others,
			t.since,
			ends(args[0]),
			ends(args[1]),
		)
	}
	return nil
}

// flow returns the id of the flow that the arguments name, and how many others they name.
func (t *pastTrace) flow(ctx context.Context, c *client.Client, args []string) (id string, others int, err error) {
	q, _, err := flowOf(args)
	if err != nil || len(args) == 1 {
		return strings.ToLower(args[0]), 0, err
	}
	src, _ := parseEnd(args[0]) // flowOf has read both
	dst, _ := parseEnd(args[1])
	q.Since, q.Until = t.since, t.until
	flows, err := client.Get[client.FlowHistory](ctx, c, "flows", q)
	if err != nil {
		return "", 0, err
	}
	matches := slices.DeleteFunc(flows.Flows, func(f client.FlowRecord) bool {
		return f.ID == nil || src.Port() != 0 && (f.SrcPort == nil || *f.SrcPort != src.Port()) || dst.Port() != 0 &&
			(f.DstPort == nil || *f.DstPort != dst.Port())
	})
	if len(matches) == 0 {
		return "", 0, fmt.Errorf("the store has no flow from %s to %s, from %s to %s", args[0], args[1],
			flows.Since.Local().Format(time.DateTime), flows.Until.Local().Format(time.DateTime))
	}
	return *matches[0].ID, len(matches) - 1, nil // the one with the most packets comes first
}

// ends is the address of an end of a flow.
func ends(text string) string {
	end, _ := parseEnd(text)
	return end.Addr().String()
}

// drawPast draws the ways that a flow took, the first first. Latencies of each hop are not kept by flow.
func drawPast(w *bufio.Writer, v *view, list *client.FlowPathList) {
	fmt.Fprintf(w, "flow %s", list.ID)
	if list.Flow != nil {
		fmt.Fprintf(w, ": %s", endpointsText(list.Flow))
		if tunnel := tunnelText(list.Flow); tunnel != "" {
			fmt.Fprintf(w, " in %s", printable(tunnel))
		}
	}
	w.WriteByte('\n')
	fmt.Fprintf(w, "%s to %s, in steps of %v\n", list.Since.Local().Format(time.DateTime),
		list.Until.Local().Format(time.DateTime), time.Duration(list.ResolutionNs))
	for i := range list.Paths {
		p := &list.Paths[i]
		fmt.Fprintf(w, "\n%s to %s: %s", p.Start.Local().Format(time.DateTime), p.End.Local().Format(time.DateTime),
			counted(p.Packets, "packet"))
		if p.Drops != nil && *p.Drops > 0 {
			fmt.Fprintf(w, ", %d dropped", *p.Drops)
		}
		if p.Residence != nil && p.ResidenceMin != nil && p.ResidenceMax != nil {
			fmt.Fprintf(w, "; in nodes: mean %s, %s to %s", v.duration(float64(*p.Residence)),
				v.duration(float64(*p.ResidenceMin)), v.duration(float64(*p.ResidenceMax)))
		}
		switch {
		case p.ID == "":
			w.WriteString("\n  its path is not known\n")
		case len(p.Hops) == 0:
			fmt.Fprintf(w, "\n  path %s, whose hops are not kept\n", p.ID)
		default:
			fmt.Fprintf(w, "\n  path %s: %s\n", p.ID, printable(v.path(p.Hops, false).text))
		}
	}
}
