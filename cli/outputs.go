package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newOutputsCommand() *cobra.Command {
	var server serverFlags
	var listing Listing
	cmd := &cobra.Command{
		Use:   "outputs",
		Short: "show what other programs get, and what became of each record",
		Long: `Outputs shows the outputs of a server to other programs, such as Kafka or OpenTelemetry, and what became of the records for each: SENT
are those that the other side has confirmed, DROPPED those for which there was no room in the queue or that it will never take.`,
		Example: `  waybill outputs
  waybill outputs -o yaml`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				answer, err := client.Get[client.ExportList](ctx, c, "exports", client.Query{})
				if err != nil {
					return err
				}
				if len(answer.Exports) == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "the server has no outputs")
				}
				var rows [][]Cell
				for _, e := range answer.Exports {
					for i, n := range e.Records {
						waiting, state := "", PlainCell(e.State)
						if i == 0 {
							waiting = fmt.Sprint(e.Waiting)
						}
						if e.Error != "" {
							state = AlarmCell(e.State)
						}
						row := PlainCells(e.Name, e.Kind, "", n.Records, fmt.Sprint(n.Offered), fmt.Sprint(n.Sent),
							fmt.Sprint(n.QueueFull+n.Refused+n.Stopped), waiting, e.Error)
						row[2] = state
						rows = append(rows, row)
					}
				}
				return listing.Print(cmd.OutOrStdout(), answer, []string{
					"OUTPUT", "KIND", "STATE", "RECORDS", "OFFERED", "SENT", "DROPPED", "WAITING", "ERROR",
				}, rows)
			})
		},
	}
	server.register(cmd.Flags())
	listing.Register(cmd)
	return cmd
}
