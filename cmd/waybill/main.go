// Waybill is an end-to-end In-band Network Telemetry system. This program holds all of it: each part is a subcommand.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
)

// version is set by the linker.
var version = "unknown"

func main() {
	os.Exit(command.Execute(newRootCommand()))
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "waybill",
		Version:       version,
		Short:         "In-band Network Telemetry: nodes, monitoring and tools",
		Long:          rootLong,
		Example:       rootExample,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Usage(fmt.Errorf("unknown command %q; see waybill --help", args[0]))
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetFlagErrorFunc(cli.ExplainFlag)
	addCommands(root)
	return root
}
