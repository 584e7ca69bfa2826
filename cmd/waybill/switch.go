package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/sonic"
)

func newSwitchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "switch",
		Short: "configure what switches report",
		Args:  command.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sonicCommand := &cobra.Command{
		Use:   "sonic",
		Short: "configure the telemetry of a switch that runs SONiC (DTel)",
		Args:  command.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sonicCommand.AddCommand(newSonicApplyCommand())
	cmd.AddCommand(sonicCommand)
	return cmd
}

func newSonicApplyCommand() *cobra.Command {
	var address string
	var write bool
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "show how a switch's telemetry differs from a file, and with --write change it",
		Long: `Apply compares a file with the tables of telemetry in a switch's CONFIG_DB (DTEL, DTEL_REPORT_SESSION, DTEL_INT_SESSION,
DTEL_QUEUE_REPORT, DTEL_EVENT) and prints what differs. With --write it makes the tables as the file says, all at once or
not at all: what the file does not have, goes. Watch lists are rules of ACLs; they stay as they are.`,
		Example: `  # on the switch
  waybill switch sonic apply leaf1.yaml --redis /var/run/redis/redis.sock

  # from elsewhere: its Redis listens on loopback only
  ssh -fNL 6380:127.0.0.1:6379 admin@leaf1
  waybill switch sonic apply leaf1.yaml --redis 127.0.0.1:6380
  waybill switch sonic apply leaf1.yaml --redis 127.0.0.1:6380 --write`,
		Args: command.OneArg("one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := sonic.Load(args[0])
			if err != nil {
				return command.Invalid(cmd.ErrOrStderr(), args[0], err)
			}
			return applySonic(cmd, args[0], c, address, write)
		},
	}
	f := cmd.Flags()
	f.StringVar(&address, "redis", "127.0.0.1:6379", "`ADDRESS` of the switch's Redis: HOST:PORT, or the path of its socket")
	f.BoolVar(&write, "write", false, "write the difference")
	return cmd
}

func applySonic(cmd *cobra.Command, file string, c *sonic.Config, address string, write bool) error {
	s, err := sonic.Dial(cmd.Context(), address)
	if err != nil {
		return err
	}
	defer s.Close()
	changes, err := s.Diff(cmd.Context(), c)
	switch {
	case err != nil && strings.Contains(err.Error(), "\n"): // more than one thing that does not fit
		return command.Invalid(cmd.ErrOrStderr(), file, err)
	case err != nil:
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, "switch", printed(s.Name))
	for _, change := range changes {
		for _, line := range change.Lines() {
			fmt.Fprintln(out, printed(line))
		}
	}
	switch {
	case len(changes) == 0:
		_, err = fmt.Fprintln(out, "the switch is as the file says")
	case !write:
		_, err = fmt.Fprintf(out, "keys that differ: %d; nothing was written, --write does it\n", len(changes))
	default:
		if err := s.Apply(cmd.Context(), changes); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "keys written: %d; \"config save\" on the switch keeps them over its restart\n",
			len(changes))
	}
	return command.Quiet(err)
}

// printed returns a text without what a terminal would take for something else: it comes from the switch.
func printed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
