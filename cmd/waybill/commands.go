package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/serve"
)

// A commandGroup is a heading of waybill --help, with the commands below it.
type commandGroup struct {
	id, title string
	commands  []*cobra.Command
}

// addCommands gives root all subcommands, in groups.
func addCommands(root *cobra.Command) {
	for _, g := range []commandGroup{
		{
			"receive", "Receive telemetry:",
			append([]*cobra.Command{
				newServeCommand(), newConfigCommand(), newPolicyCommand(), newStoreCommand(), newTokenCommand(),
				newPlanCommand(),
			}, cli.ServerCommands()...),
		},
		{"ask", "Ask a server, what the network does:", cli.AskCommands(serve.LocalStore{})},
		{"account", "Ask a server, what became of the reports:", cli.AccountCommands()},
		{"node", "Be part of a network:", []*cobra.Command{newNodeCommand(), newSwitchCommand()}},
		{"emulate", "Make a network:", []*cobra.Command{newFabricCommand(), newLabCommand()}},
		{
			"tools", "Work with captures:",
			[]*cobra.Command{
				newDecodeCommand(), newReplayCommand(), newWiresharkCommand(), newManCommand(), newVersionCommand(),
			},
		},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
			if c.Name() == "alerts" { // beside what asks a server
				c.AddCommand(newAlertsCheckCommand())
			}
		}
	}
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version of this program",
		Example: "  waybill version",
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "waybill version", version)
			return command.Quiet(err)
		},
	}
}

// rootLong and rootExample are what somebody reads who runs waybill for the first time.
const (
	rootLong = `Waybill receives In-band Network Telemetry: what switches write about a packet while it passes them. It tells the way of
each flow, where packets wait and where they are dropped, and accounts for every report that it did not get.`

	rootExample = `  # receive reports on udp port 8555, with the console on http://localhost:8080
  waybill serve

  # no switch at hand? emulate some
  waybill fabric demo --serve-config > demo.yaml
  waybill serve --config demo.yaml
  waybill fabric demo --reports 127.0.0.1:8555

  # what happens, which flows are slow, and where one of them spends its time
  waybill events --follow
  waybill flows --sort residence_ns.p99 --limit 10
  waybill trace 10.0.1.1 10.0.2.2

  # what is in a capture
  waybill decode reports.pcap`
)
