package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// A drawing is what waybill trace and waybill path have in common: they draw paths, hop by hop.
type drawing struct {
	server serverFlags
	output string
}

func (d *drawing) register(cmd *cobra.Command) {
	d.server.register(cmd.Flags())
	OutputVar(cmd, &d.output, "table", "wide", "json", "yaml") // a table is a drawing
}

// A trace is what waybill trace -o json prints: a flow, and the links on its latest path.
type trace struct {
	Flow  *client.Flow  `json:"flow"`
	Links []client.Link `json:"links"`
}

func newTraceCommand() *cobra.Command {
	var d drawing
	var past pastTrace
	cmd := &cobra.Command{
		Use:   "trace FLOW | trace SRC[:PORT] DST[:PORT]",
		Short: "draw the way of one flow, hop by hop",
		Long: `Trace draws the way that the latest packet of a flow took: how long packets of the flow stay in each node, how long they are on
the links between, and the queues that they meet. FLOW is the id of a flow, as waybill flows -o wide lists it. If several flows
match, the one that was seen last is drawn. A bar begins where the one before ended; all are medians. The delay of a link is that of
all packets on it; it is not wrong by more than WITHIN, and unknown (?) if the clocks of its ends cannot be compared.

With --since it lists the ways that the flow took in a time range, from the store of the server: also of a flow that is no longer in
memory. How long its packets stayed in each node is not kept by flow; waybill hops --since has it by node.`,
		Example: `  waybill trace 10.0.1.1:5001 10.0.2.2:6001
  waybill trace 10.0.1.1:5001 10.0.2.2:6001 --since 3h --until 2h
  waybill trace 10.0.1.1 10.0.2.2 -o wide
  waybill trace 570bcbdef6c669f0 -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return command.Usage(errors.New("want the id of a flow, or its source and destination"))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion,
			cobra.ShellCompDirective,
		) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return d.server.completeFlows()(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q, is, err := flowOf(args)
			if err != nil {
				return command.Usage(err)
			}
			return d.server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				if past.asked() {
					return past.draw(ctx, &d, c, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
				}
				flows, err := client.Get[client.FlowList](ctx, c, "flows", q)
				if err != nil {
					return err
				}
				matches := slices.DeleteFunc(slices.Clone(flows.Flows), func(f client.Flow) bool { return !is(&f) })
				if len(matches) == 0 {
					return noFlow(args, flows)
				}
				links, err := client.Get[client.LinkList](ctx, c, "links", client.Query{Limit: followAll})
				if err != nil {
					return err
				}
				if err := d.printTrace(cmd.OutOrStdout(), flows.Head, &matches[0], links.Links); err != nil {
					return command.Quiet(err)
				}
				if len(matches) > 1 {
					fmt.Fprintf(
						cmd.ErrOrStderr(),
						"%d flows match; this is the one that was seen last. The ids of all: waybill flows --filter '%s' -o wide\n",
						len(matches),
						q.Filter,
					)
				}
				tellVerdict(ctx, c, cmd.OutOrStdout(), d.output, matches[0].ID)
				tellIncomplete(cmd.ErrOrStderr(), d.output, flows.Head)
				return nil
			})
		},
	}
	d.register(cmd)
	cmd.Flags().Var((*timeFlag)(&past.since), "since",
		"the ways of the flow after this `TIME`, or so long ago, from the store: 2026-11-21T09:00:00Z, 10m")
	cmd.Flags().Var((*timeFlag)(&past.until), "until", "the ways of the flow before this `TIME`, or so long ago")
	return cmd
}

// tellVerdict says where a flow lost its time, if the server knows that.
func tellVerdict(ctx context.Context, c *client.Client, to io.Writer, output, id string) {
	if isDocument(output) {
		return
	}
	answer, err := client.Item[client.FlowAnswer](ctx, c, "flows", id)
	if err != nil || answer.Verdict == nil {
		return // the flow has left the table since, or the server is older
	}
	fmt.Fprintf(to, "verdict: %s\n", printable(answer.Verdict.Text))
}

// flowOf returns what to ask for, and whether a flow of the answer is the one that the arguments name.
func flowOf(args []string) (q client.Query, is func(*client.Flow) bool, err error) {
	q.Limit = followAll
	if len(args) == 1 {
		if len(args[0]) != 16 || strings.Trim(strings.ToLower(args[0]), "0123456789abcdef") != "" {
			return q, nil,
				fmt.Errorf("%q is not the id of a flow, 16 hexadecimal digits; a source needs a destination", args[0])
		}
		return q, func(f *client.Flow) bool { return strings.EqualFold(f.ID, args[0]) }, nil
	}
	src, err := parseEnd(args[0])
	if err != nil {
		return q, nil, err
	}
	dst, err := parseEnd(args[1])
	if err != nil {
		return q, nil, err
	}
	q.Filter = fmt.Sprintf("src = %s and dst = %s", src.Addr(), dst.Addr())
	return q, func(f *client.Flow) bool {
		return (src.Port() == 0 || src.Port() == f.SrcPort) && (dst.Port() == 0 || dst.Port() == f.DstPort)
	}, nil
}

// parseEnd parses an address with or without a port. Port 0 is any.
func parseEnd(text string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil && addr.Zone() == "" {
		return netip.AddrPortFrom(addr.Unmap(), 0), nil
	}
	end, err := netip.ParseAddrPort(text)
	if err != nil || end.Addr().Zone() != "" {
		return end, fmt.Errorf("%q is not an end of a flow; it looks like 10.0.1.1, 10.0.1.1:5001 or [2001:db8::1]:443",
			text)
	}
	return netip.AddrPortFrom(end.Addr().Unmap(), end.Port()), nil
}

func noFlow(args []string, flows *client.FlowList) error {
	what := "flow " + args[0]
	if len(args) == 2 {
		what = "flow from " + args[0] + " to " + args[1]
	}
	if flows.Total > len(flows.Flows) {
		return fmt.Errorf("no %s among the %d of %d flows that were seen last", what, len(flows.Flows), flows.Total)
	}
	return fmt.Errorf(
		"no %s is in memory; waybill flows lists those that are. With --since 1h the store is asked, if the server has one",
		what,
	)
}

// printTrace prints a flow and its latest path.
func (d *drawing) printTrace(to io.Writer, head client.Head, f *client.Flow, links []client.Link) error {
	if isDocument(d.output) {
		return WriteDocument(to, d.output, trace{f, linksOf(stagesOf(latest(f).Hops, links))})
	}
	v := newView(to, d.output == "wide")
	v.now = head.GeneratedAt
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	drawTrace(w, &v, f, links)
	w.Flush()
	_, err := to.Write(b.Bytes())
	return err
}

// drawTrace draws a flow and its latest path.
func drawTrace(w *bufio.Writer, v *view, f *client.Flow, links []client.Link) {
	stages := stagesOf(latest(f).Hops, links)
	fmt.Fprintf(w, "flow %s: %s", f.ID, endpointsText(&f.Endpoints))
	if tunnel := tunnelText(&f.Endpoints); tunnel != "" {
		fmt.Fprintf(w, " in %s", printable(tunnel))
	}
	fmt.Fprintf(w, "\n%s, %s, %d dropped; last seen %s\n", counted(f.Packets, "packet"), size(f.Bytes), f.Drops,
		v.age(f.Last).text)
	if len(f.Paths) == 0 {
		w.WriteString("its reports tell of no hop\n")
	} else {
		fmt.Fprintf(w, "path %s: %s of it\n", f.Paths[0].ID, counted(f.Paths[0].Packets, "packet"))
		if unknown := f.Paths[0].Unknown; len(unknown) > 0 {
			fmt.Fprintf(w, "it is a part of a path: its %s is not known\n", strings.Join(unknown, " and its "))
		}
		fmt.Fprintf(w, "%s\n", sampleText(f.Paths[0].Sample))
		drawWaterfall(w, v, stages)
		fmt.Fprintf(w, "\nin nodes: P50 %s, P99 %s; end to end: mean %s\n", v.p50(f.Residence), v.p99(f.Residence),
			v.endToEnd(f))
		for _, p := range f.Paths[1:] {
			fmt.Fprintf(w, "before, until %s: %s\n", v.age(p.Last).text, printable(v.path(p.Hops, false).text))
		}
	}
}

// sampleText says which packets times are of.
func sampleText(s *client.Sample) string {
	if s == nil {
		return ""
	}
	text := map[string]string{
		"one_in_n": "times are of 1 in N packets", "on_event": "times are of reported packets (on event), not of all packets",
		"partial": "times are of reported packets, not of all packets",
	}[s.Kind]
	if s.Rate != nil {
		text = fmt.Sprintf("times are of 1 in %d packets", *s.Rate)
	}
	if s.Complete != nil && *s.Complete < 0.9995 {
		text = cmp.Or(
			text,
			"times are of all packets that were reported",
		) + ": " + percentText(
			*s.Complete,
		) + " are known"
	}
	if text != "" {
		text += "\n"
	}
	return text
}

// linksOf returns the links on a path.
func linksOf(stages []stage) []client.Link {
	links := []client.Link{} // null would not be a list
	for i := range stages {
		if stages[i].link != nil {
			links = append(links, *stages[i].link)
		}
	}
	return links
}
