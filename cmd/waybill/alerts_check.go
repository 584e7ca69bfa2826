package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/serve"
)

func newAlertsCheckCommand() *cobra.Command {
	var config string
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "say whether a file of alert rules is valid",
		Long:  `Check reads a file of alert rules, and says what is wrong with it or what is in it. Filters may use the names of nodes of --config.`,
		Args:  command.OneArg("a file of alert rules"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := serve.DefaultConfig()
			if config != "" {
				if err := c.ReadFile(config); err != nil {
					return command.Usage(fmt.Errorf("--config: %w", err))
				}
			}
			rules, err := alert.Load(args[0], c.Names)
			if err != nil {
				return command.Invalid(cmd.ErrOrStderr(), args[0], err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is valid: %d rules, %d silences, %d outputs\n", args[0],
				len(rules.Rules), len(rules.Silences), len(rules.Outputs))
			return nil
		},
	}
	cli.ConfigVar(cmd.Flags(), &config, "configuration `FILE` of waybill serve, for the names of nodes")
	return cmd
}
