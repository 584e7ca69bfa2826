package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newInventoryCommand() *cobra.Command {
	var server serverFlags
	var listing Listing
	cmd := &cobra.Command{
		Use:   "inventory",
		Short: "show who is asked for names of ports and hosts, and what became of it",
		Long: `Inventory shows the sources of the inventory beside its file: who is asked, when it answered last, and
what it knows. What all of them know together, each value with its source, is at /api/v1/inventory and on the console's
page Inventory.`,
		Example: `  waybill inventory`,
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				answer, err := client.Get[client.Inventory](ctx, c, "inventory", client.Query{})
				if err != nil {
					return err
				}
				if len(answer.Sources) == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "the inventory names nobody to ask")
				}
				var rows [][]Cell
				for _, s := range answer.Sources {
					last := unknown
					if !s.Last.IsZero() {
						last = s.Last.UTC().Format(time.DateTime)
					}
					rows = append(rows, PlainCells(s.Source, string(s.State), fmt.Sprint(s.Nodes), fmt.Sprint(s.Ports),
						fmt.Sprint(s.Hosts), fmt.Sprint(s.Neighbours), fmt.Sprint(s.LeftOut), last, s.Error))
				}
				return listing.Print(cmd.OutOrStdout(), answer.Sources, []string{
					"SOURCE", "STATE", "NODES", "PORTS", "HOSTS", "NEIGHBOURS", "LEFT OUT", "LAST ANSWER", "ERROR",
				}, rows)
			})
		},
	}
	server.register(cmd.Flags())
	listing.Register(cmd)
	return cmd
}
