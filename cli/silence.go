package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/command"
)

func newSilenceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "silence",
		Short: "keep alerts from being delivered, for a time",
		Long: `Silence keeps alerts about the events that a filter selects from being delivered, for example while a switch is being replaced. The
alerts are still listed. Those that fire when the silence ends are delivered then.`,
		Example: `  waybill silence add --filter 'node = leaf1' --for 2h --reason 'new line card'
  waybill silence list
  waybill silence remove 3KQ7ZJ2M5PXA`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Usage(fmt.Errorf("unknown command %q; want add, list or remove", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSilenceAddCommand(), newSilenceListCommand(), newSilenceRemoveCommand())
	return cmd
}

func newSilenceAddCommand() *cobra.Command {
	var server serverFlags
	var selects, from, until, reason string
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:     "add",
		Short:   "begin a silence, and print its id",
		Example: `  waybill silence add --filter 'node = leaf1' --for 2h --reason 'new line card'`,
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := client.NewSilence{Filter: selects, Reason: reason}
			begin := time.Now().UTC()
			if selects == "" {
				return command.Usage(
					errors.New("--filter is missing: which events must not be told of, for example 'node = leaf1'"))
			}
			if (lasts > 0) == (until != "") {
				return command.Usage(errors.New("want --for or --until"))
			}
			if from != "" {
				at, err := filter.ParseTime(from, time.Local)
				if err != nil {
					return command.Usage(fmt.Errorf("--from is %q; want a time such as 2026-12-24T18:00:00Z", from))
				}
				begin, s.From = at, &at
			}
			s.Until = begin.Add(lasts)
			if until != "" {
				at, err := filter.ParseTime(until, time.Local)
				if err != nil {
					return command.Usage(fmt.Errorf("--until is %q; want a time such as 2026-12-24T18:00:00Z", until))
				}
				s.Until = at
			}
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				made, err := client.Change[client.Silence](ctx, c, "POST", "silences", s)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), made.ID)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&selects, "filter", "", "`EXPRESSION` that selects the events that must not be told of")
	_ = cmd.RegisterFlagCompletionFunc("filter", server.completeFilter("events"))
	DurationVar(f, &lasts, "for", 0, "how long it holds, a `DURATION` such as 2h")
	f.StringVar(&from, "from", "", "when it begins, a `TIME` such as 2026-12-24T18:00:00Z; without it now")
	f.StringVar(&until, "until", "", "when it ends, a `TIME`, instead of --for")
	f.StringVar(&reason, "reason", "", "`TEXT` that says why, for others")
	server.register(cmd.Flags())
	return cmd
}

func newSilenceListCommand() *cobra.Command {
	cmd := newQueryCommand(question[client.SilenceList, client.Silence]{
		name:    "silences",
		short:   "list silences, by end time",
		long:    `List lists the silences that hold or will hold: those of the file of rules, and those that were added.`,
		nowOnly: true,
		open:    func(l *client.SilenceList) (client.Head, []client.Silence) { return l.Head, l.Silences },
		none:    "no silences",
		cells: map[string]func(*view, *client.Silence) Cell{
			"from":  func(_ *view, s *client.Silence) Cell { return PlainCell(cmp.Or(silenceFrom(s), unknown)) },
			"until": func(_ *view, s *client.Silence) Cell { return PlainCell(s.Until.UTC().Format(time.RFC3339)) },
		},
	})
	cmd.Use = "list"
	return cmd
}

// silenceFrom returns when a silence begins, nothing if it always held.
func silenceFrom(s *client.Silence) string {
	if s.From.IsZero() {
		return ""
	}
	return s.From.UTC().Format(time.RFC3339)
}

func newSilenceRemoveCommand() *cobra.Command {
	var server serverFlags
	cmd := &cobra.Command{
		Use:   "remove ID",
		Short: "end a silence",
		Args:  command.OneArg("the id of a silence; waybill silence list tells it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return server.ask(cmd,
				func(ctx context.Context, c *client.Client) error {
					_, err := client.Change[struct{}](ctx, c, "DELETE", "silences/"+url.PathEscape(args[0]), nil)
					return err
				})
		},
	}
	server.register(cmd.Flags())
	return cmd
}
