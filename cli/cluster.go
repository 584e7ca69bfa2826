package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newClusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "show collectors, the bus and who analyzes what comes by it",
		Args:  command.NoArgs,
	}
	cmd.AddCommand(newClusterStatusCommand())
	return cmd
}

func newClusterStatusCommand() *cobra.Command {
	var server serverFlags
	var listing Listing
	cmd := &cobra.Command{
		Use:   "status",
		Short: "show collectors, partitions, their owners, what is on its way and what was lost",
		Long: `Status asks the server that analyzes: how far it is behind each collector, what the collectors keep until it is
confirmed, what did not arrive, and who owns each partition of the exporters.`,
		Example: `  waybill cluster status
  waybill cluster status -o json`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				answer, err := client.Get[client.Cluster](ctx, c, "cluster", client.Query{})
				if err != nil {
					return err
				}
				if isDocument(listing.output) {
					return command.Quiet(WriteDocument(cmd.OutOrStdout(), listing.output, answer))
				}
				return command.Quiet(writeCluster(cmd.OutOrStdout(), answer, listing.noHeaders))
			})
		},
	}
	server.register(cmd.Flags())
	listing.Register(cmd)
	return cmd
}

// writeCluster writes what people look for first: is it connected, is anything lost, who is behind.
func writeCluster(to io.Writer, c *client.Cluster, noTitles bool) error {
	if c.Bus == nil {
		_, err := fmt.Fprintln(to, "one server receives and analyzes: there is no bus, and no collector elsewhere")
		return err
	}
	connected := "connected"
	if !c.Bus.Connected {
		connected = "no connection"
	}
	fmt.Fprintf(to, "bus: %s, %d messages not here yet, %d wait for others, %d came twice, %d unreadable\n", connected,
		c.Bus.Pending, c.Bus.Held, c.Bus.Duplicates, c.Bus.Damaged)
	for _, url := range c.Bus.Servers {
		fmt.Fprintf(to, "     %s\n", url)
	}
	if c.Term > 0 {
		standing := make([]string, len(c.Standing))
		for i, s := range c.Standing {
			standing[i] = s.Name
		}
		fmt.Fprintf(to, "analyzer: elected, term %d; standing by: %s\n", c.Term,
			cmp.Or(strings.Join(standing, ", "), "none"))
	}
	fmt.Fprintln(to)
	var collectors, partitions [][]Cell
	for _, o := range c.Collectors {
		behind := unknown
		if o.Until != nil {
			behind = max(c.GeneratedAt.Sub(*o.Until), 0).Round(time.Millisecond).String()
		}
		collectors = append(collectors, PlainCells(o.Name, o.State, behind, fmt.Sprint(o.Received),
			fmt.Sprint(o.KernelDrops), fmt.Sprint(o.Refused), fmt.Sprint(o.Delivered), fmt.Sprint(o.Lost),
			size(o.Spooled)))
		for _, p := range o.Partitions {
			partitions = append(partitions, PlainCells(fmt.Sprint(p.Partition), o.Name, p.Owner, fmt.Sprint(p.Messages),
				fmt.Sprint(p.Unconfirmed), fmt.Sprint(p.Delivered), fmt.Sprint(p.Lost)))
		}
	}
	err := printTable(to, []string{
		"COLLECTOR", "STATE", "BEHIND", "RECEIVED", "KERNEL DROPS", "REFUSED", "DELIVERED", "LOST", "SPOOL",
	}, collectors, noTitles)
	fmt.Fprintln(to)
	err = cmp.Or(err, printTable(to, []string{
		"PARTITION", "COLLECTOR", "OWNER", "MESSAGES", "UNCONFIRMED", "DELIVERED", "LOST",
	}, partitions, noTitles))
	if len(c.Tables) == 0 {
		return err
	}
	fmt.Fprintln(to)
	var tables [][]Cell
	for _, t := range c.Tables {
		taken := "none"
		if len(t.Partitions) > 0 {
			taken = strings.Trim(fmt.Sprint(t.Partitions), "[]")
		}
		tables = append(tables, PlainCells(t.Address, fmt.Sprint(t.Shards), fmt.Sprint(t.Reports), fmt.Sprint(t.Flows),
			fmt.Sprint(t.FlowLimit), taken, size(t.RelayedBytes)))
	}
	return cmp.Or(err, printTable(to, []string{
		"TABLES", "SHARDS", "REPORTS", "FLOWS", "ROOM FOR", "PARTITIONS", "RELAYED",
	}, tables, noTitles))
}
