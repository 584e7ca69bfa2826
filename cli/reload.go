package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newReloadCommand() *cobra.Command {
	var server serverFlags
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "let a server read its configuration again",
		Long: `Reload lets a server read its configuration again: its file, and the files that this names. What changes is printed, and what takes
effect at the next start only. If anything in it is wrong, nothing changes, and the mistakes are printed with their lines. SIGHUP does the
same; the log has what this prints.`,
		Example: `  waybill reload`,
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				answer, err := client.Change[client.Reload](ctx, c, "POST", "reload", nil)
				if err != nil {
					return err
				}
				for _, change := range answer.Changed {
					fmt.Fprintln(cmd.OutOrStdout(), change)
				}
				switch {
				case len(answer.NeedsRestart) > 0:
					fmt.Fprintln(cmd.OutOrStdout(), "needs a restart:", strings.Join(answer.NeedsRestart, ", "))
				case len(answer.Changed) == 0:
					fmt.Fprintln(cmd.OutOrStdout(), "nothing changed")
				}
				return nil
			})
		},
	}
	server.register(cmd.Flags())
	return cmd
}
