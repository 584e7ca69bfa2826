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

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// maxDrawn is how many paths are drawn: who has more of them reads waybill paths.
const maxDrawn = 8

// pathsDrawn is what waybill path -o json prints: paths, and the links on them.
type pathsDrawn struct {
	Paths []client.Path `json:"paths"`
	Links []client.Link `json:"links"`
}

func newPathCommand() *cobra.Command {
	var d drawing
	cmd := &cobra.Command{
		Use:   "path SRC DST",
		Short: "draw the paths between two hosts or two nodes, hop by hop",
		Long: `Path draws the paths that flows from one host, or prefix, to another take now, or the paths that begin at one node and end at
another: how long packets stay in each node, how long they are on the links between, and the queues that they meet, over all flows on
the path. The path with the most of the flows is the first. A bar begins where the one before ended; all are medians. The delay of a
link is not wrong by more than WITHIN, and unknown (?) if the clocks of its ends cannot be compared.`,
		Example: `  waybill path 10.0.1.1 10.0.2.2
  waybill path 10.0.1.0/24 10.0.2.0/24 -o wide
  waybill path leaf1 leaf4`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return command.Usage(errors.New("want a source and a destination"))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion,
			cobra.ShellCompDirective,
		) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return d.server.completeNodes()(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			find := pathsOfNodes
			if hosts := [2]bool{isHost(args[0]), isHost(args[1])}; hosts[0] != hosts[1] {
				return command.Usage(errors.New("want two addresses or prefixes, or two nodes"))
			} else if hosts[0] {
				find = pathsOfHosts
			}
			return d.server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				head, paths, err := find(ctx, c, args[0], args[1])
				if err != nil {
					return err
				}
				if len(paths) == 0 {
					return fmt.Errorf("no path from %s to %s is known; waybill paths lists those that are", args[0],
						args[1])
				}
				links, err := client.Get[client.LinkList](ctx, c, "links", client.Query{Limit: followAll})
				if err != nil {
					return err
				}
				drawn := paths[:min(len(paths), maxDrawn)]
				if err := d.printPaths(cmd.OutOrStdout(), head, drawn, links.Links); err != nil {
					return command.Quiet(err)
				}
				if len(paths) > len(drawn) {
					fmt.Fprintf(cmd.ErrOrStderr(), "these are %d of %d paths\n", len(drawn), len(paths))
				}
				tellIncomplete(cmd.ErrOrStderr(), d.output, head)
				return nil
			})
		},
	}
	d.register(cmd)
	return cmd
}

// isHost reports whether text is an address or a prefix; it is a node otherwise.
func isHost(text string) bool {
	_, err := netip.ParseAddr(text)
	_, err2 := netip.ParsePrefix(text)
	return err == nil || err2 == nil
}

// A pathTaken is a path, and how many of the flows between two hosts take it.
type pathTaken struct {
	client.Path
	flows, of int // 0: all flows were asked for
}

// pathsOfHosts returns the paths that flows from src to dst take, those of most flows first.
func pathsOfHosts(ctx context.Context, c *client.Client, src, dst string) (client.Head, []pathTaken, error) {
	list, err := client.Get[client.FlowList](ctx, c, "flows",
		client.Query{Filter: fmt.Sprintf("src in %s and dst in %s", src, dst), Limit: followAll})
	if err != nil {
		return client.Head{}, nil, err
	}
	flows := map[string]int{}
	var taken []pathTaken
	for i := range list.Flows {
		p := latest(&list.Flows[i])
		if p.ID == "" {
			continue // its reports tell of no hop
		}
		if flows[p.ID] == 0 {
			taken = append(taken,
				pathTaken{Path: client.Path{
					ID: p.ID, Hops: p.Hops, Flows: 1, Packets: p.Packets, First: p.First,
					Last: p.Last,
				}})
		}
		flows[p.ID]++
	}
	for i := range taken {
		taken[i].flows, taken[i].of = flows[taken[i].ID], len(list.Flows)
	}
	slices.SortStableFunc(taken, func(a, b pathTaken) int { return cmp.Compare(b.flows, a.flows) })
	for i := range taken[:min(len(taken), maxDrawn)] {
		all, err := client.Get[client.PathList](ctx, c, "paths",
			client.Query{Filter: fmt.Sprintf("id = %q", taken[i].ID)})
		if err != nil {
			return client.Head{}, nil, err
		}
		if len(all.Paths) == 1 { // else it gave way to others, and what the flow knows of it has to do
			taken[i].Path = all.Paths[0]
		}
	}
	return list.Head, taken, nil
}

// pathsOfNodes returns the paths that begin at one node and end at another, the most used first.
func pathsOfNodes(ctx context.Context, c *client.Client, src, dst string) (client.Head, []pathTaken, error) {
	list, err := client.Get[client.PathList](ctx, c, "paths", client.Query{Filter: nodeTerm(src), Limit: followAll})
	if err != nil {
		return client.Head{}, nil, err
	}
	is := func(h *client.PathHop, node string) bool {
		return h.Node != nil && (h.Name == node || uintText(*h.Node) == node)
	}
	var taken []pathTaken
	for _, p := range list.Paths {
		if n := len(p.Hops); n > 0 && is(&p.Hops[0], src) && is(&p.Hops[n-1], dst) {
			taken = append(taken, pathTaken{Path: p})
		}
	}
	return list.Head, taken, nil
}

// printPaths prints paths, one below the other.
func (d *drawing) printPaths(to io.Writer, head client.Head, paths []pathTaken, links []client.Link) error {
	if isDocument(d.output) {
		all := pathsDrawn{Links: []client.Link{}}
		for i := range paths {
			all.Paths = append(all.Paths, paths[i].Path)
			for _, l := range linksOf(stagesOf(paths[i].Hops, links)) {
				if !slices.ContainsFunc(all.Links, func(o client.Link) bool { return linkState(&o) == linkState(&l) }) {
					all.Links = append(all.Links, l)
				}
			}
		}
		return WriteDocument(to, d.output, all)
	}
	v := newView(to, d.output == "wide")
	v.now = head.GeneratedAt
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for i := range paths {
		p := &paths[i]
		if i > 0 {
			w.WriteByte('\n')
		}
		fmt.Fprintf(w, "path %s: ", p.ID)
		if p.of > 0 {
			fmt.Fprintf(w, "%d of %d flows; ", p.flows, p.of)
		}
		fmt.Fprintf(w, "in all %s of %s; last seen %s\n\n", counted(p.Packets, "packet"),
			counted(uint64(p.Flows), "flow"), v.age(p.Last).text)
		drawWaterfall(w, &v, stagesOf(p.Hops, links))
		fmt.Fprintf(w, "\nin nodes: P50 %s, P99 %s; end to end: %s\n", v.p50(p.Residence), v.p99(p.Residence),
			v.delayText(p.Delay))
		if p.Uncertain {
			w.WriteString("the order of some nodes is uncertain\n")
		}
	}
	w.Flush()
	_, err := to.Write(b.Bytes())
	return err
}

// delayText returns a delay in words.
func (v *view) delayText(d *client.Delay) string {
	if ns := known(d); ns != nil {
		return fmt.Sprintf("P50 %s, P99 %s, %s", v.p50(ns), v.p99(ns), v.delayWithin(d))
	}
	if d == nil || d.Unknown == "" {
		return "unknown"
	}
	return "unknown: " + printable(d.Unknown)
}

// counted returns "1 flow" or "2 flows".
func counted(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return uintText(n) + " " + what
}

// tellIncomplete says on how many reports an answer rests, as lists do.
func tellIncomplete(w io.Writer, output string, head client.Head) {
	if line := incomplete(head.Completeness); line != "" && !isDocument(output) {
		fmt.Fprintln(w, line)
	}
}
