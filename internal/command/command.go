package command

import (
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes of every subcommand.
const (
	ExitFailed = 1 // something could not be done
	ExitUsage  = 2 // the command line is wrong
)

// Execute runs the command line, prints an error as one line and returns the exit code.
func Execute(root *cobra.Command) int {
	signal.Ignore(syscall.SIGPIPE) // a write to a reader that went away fails instead, which is no error: see Quiet
	out := &output{w: root.OutOrStdout()}
	root.SetOut(out)
	checkShell(root)
	checkHelp(root)
	cmd, err := root.ExecuteC()
	// that, and not one of the network
	if err == nil || errors.Is(err, syscall.EPIPE) && errors.Is(out.err, syscall.EPIPE) {
		err = Quiet(out.err)
	}
	if err == nil {
		return 0
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cmd.CommandPath(), text)
	var usage usageError
	if errors.As(err, &usage) {
		return ExitUsage
	}
	return ExitFailed
}

// A usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage makes an error in the command line of err.
func Usage(err error) error { return usageError{err} }

// Invalid makes the error of a file that is wrong of err, and prints its mistakes if there are several: one a line.
func Invalid(stderr io.Writer, file string, err error) error {
	lines := strings.Split(err.Error(), "\n")
	if len(lines) == 1 {
		return Usage(err)
	}
	for _, line := range lines {
		fmt.Fprintln(stderr, line)
	}
	return Usage(fmt.Errorf("%s: %d mistakes", file, len(lines)))
}

// NoArgs refuses arguments that are no flags.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
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

// checkHelp makes help refuse a command that it does not know; cobra says so as if all were well.
func checkHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		return
	}
	help.Run, help.RunE = nil, func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return usageError{fmt.Errorf("unknown command %q; see %s --help", strings.Join(args, " "), root.Name())}
		}
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		return c.Help()
	}
}

// OneArg wants exactly one argument.
func OneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("want %s", what)}
		}
		return nil
	}
}

// FirstLine leaves out the picture of the place that errors of the YAML decoder have.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Scaled returns n, of units[0], in the largest unit that leaves a number before the point; each is 1000 of the one
// before.
func Scaled(n float64, units []string) string {
	i := 0
	for i < len(units)-1 && n >= 999.5 {
		n /= 1000
		i++
	}
	decimals := 0
	switch {
	case i == 0 || n >= 99.95:
	case n >= 9.995:
		decimals = 1
	default:
		decimals = 2
	}
	return strconv.FormatFloat(n, 'f', decimals, 64) + units[i]
}
