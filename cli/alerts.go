package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newAlertsCommand() *cobra.Command {
	cmd := newQueryCommand(question[client.AlertList, client.Alert]{
		name:  "alerts",
		short: "list alerts, check their rules, send a test",
		long: `Alerts lists the alerts that rules made of events, the latest first: those that are pending, since their events do not go on for
long enough yet, those that fire, and those that were resolved lately.`,
		example: `  waybill alerts --state firing
  waybill alerts --severity critical -o json
  waybill alerts check alerts.yaml
  waybill alerts test link-lost`,
		filters: func(cmd *cobra.Command, q *client.Query) {
			f := cmd.Flags()
			f.StringVar(&q.State, "state", "", "only alerts in this `STATE`: pending, firing, resolved")
			f.StringVar(&q.Severity, "severity", "", "only alerts of at least this `SEVERITY`: info, warning, critical")
			_ = cmd.RegisterFlagCompletionFunc("state",
				cobra.FixedCompletions([]string{"pending", "firing", "resolved"}, cobra.ShellCompDirectiveNoFileComp))
			_ = cmd.RegisterFlagCompletionFunc("severity",
				cobra.FixedCompletions([]string{"info", "warning", "critical"}, cobra.ShellCompDirectiveNoFileComp))
		},
		flags:   []fieldFlag{nodeFlag},
		nowOnly: true,
		open:    func(l *client.AlertList) (client.Head, []client.Alert) { return l.Head, l.Alerts },
		state:   func(a *client.Alert) string { return a.ID + string(a.State) + a.Since.String() },
		none:    "no alerts: nothing happened that a rule selects",
		lead:    []string{"since", "state", "severity", "rule", "summary"},
		cells: map[string]func(*view, *client.Alert) Cell{
			"state": alertStateCell,
			"told":  func(_ *view, a *client.Alert) Cell { return PlainCell(cmp.Or(toldText(a), unknown)) },
		},
	})
	cmd.AddCommand(newAlertsTestCommand())
	return cmd
}

func newAlertsTestCommand() *cobra.Command {
	var server serverFlags
	var output string
	cmd := &cobra.Command{
		Use:   "test RULE | test --output NAME",
		Short: "send a test to the outputs of a rule, or to one output",
		Long: `Test lets a server send a message that says that it is a test, at once and whatever is silenced, and says what became of it. Its exit
code is 1 if it was not delivered everywhere.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 1) == (output != "") {
				return command.Usage(errors.New("want a rule, or an output with --output"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			test := client.AlertTest{Output: output}
			if len(args) == 1 {
				test.Rule = args[0]
			}
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				tested, err := client.Change[client.AlertTestResults](ctx, c, "POST", "alerts/test", test)
				if err != nil {
					return err
				}
				failed := 0
				for _, r := range tested.Results {
					what := "delivered in " + r.Took.Round(time.Millisecond).String()
					if r.Error != "" {
						what = "failed: " + r.Error
						failed++
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", printable(r.Output), printable(what))
				}
				if failed > 0 {
					return fmt.Errorf("%d of %d outputs did not take the test", failed, len(tested.Results))
				}
				if len(tested.Results) == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "this rule has no outputs")
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "`NAME` of the output")
	server.register(cmd.Flags())
	return cmd
}

// ask calls do with a client of the server, and explains what goes wrong.
func (s *serverFlags) ask(cmd *cobra.Command, do func(context.Context, *client.Client) error) error {
	c, err := s.client()
	if err != nil {
		return command.Usage(err)
	}
	ctx, cancel := context.WithTimeout(cmp.Or(cmd.Context(), context.Background()), 2*queryTimeout)
	defer cancel()
	if err := do(ctx, c); err != nil {
		return explain(c, err)
	}
	return nil
}

func alertStateCell(_ *view, a *client.Alert) Cell {
	c := PlainCell(string(a.State))
	switch {
	case a.SilencedBy != "":
		c.text += ", silenced"
	case a.State == client.AlertFiring:
		c.color = red
	case a.State == client.AlertResolved && a.Resolution != client.AlertEnded:
		c.text += " (" + string(a.Resolution) + ")"
	}
	return c
}

// toldText names the outputs that took a message about an alert.
func toldText(a *client.Alert) string {
	var names []string
	for _, t := range a.Told {
		if t.Delivered != nil {
			names = append(names, t.Output)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
