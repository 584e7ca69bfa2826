// Waybill is an end-to-end In-band Network Telemetry system. This program holds all of it: each part is a subcommand.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes of every subcommand.
const (
	exitFailed = 1 // something could not be done
	exitUsage  = 2 // the command line is wrong
)

// version is set by the linker.
var version = "unknown"

func main() {
	os.Exit(execute(newRootCommand()))
}

// execute runs the command line, prints an error as one line and returns the exit code.
func execute(root *cobra.Command) int {
	signal.Ignore(syscall.SIGPIPE) // a write to a reader that went away fails instead, which is no error: see quiet
	out := &output{w: root.OutOrStdout()}
	root.SetOut(out)
	checkShell(root)
	cmd, err := root.ExecuteC()
	if err == nil || errors.Is(err, syscall.EPIPE) && errors.Is(out.err, syscall.EPIPE) { // that, and not one of the network
		err = quiet(out.err)
	}
	if err == nil {
		return 0
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cmd.CommandPath(), text)
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// A usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// noArgs refuses arguments that are no flags.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
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
				return usageError{fmt.Errorf("unknown command %q; see waybill --help", args[0])}
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetFlagErrorFunc(explainFlag)
	addCommands(root)
	return root
}

// checkShell makes completion refuse a shell that it does not know; cobra shows its help instead, as if all were well.
func checkShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil || completion == root {
		return
	}
	var shells []string
	for _, c := range completion.Commands() {
		shells = append(shells, c.Name())
	}
	completion.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError{fmt.Errorf("unknown shell %q; allowed: %s", args[0], strings.Join(shells, ", "))}
		}
		return nil
	}
	completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}
