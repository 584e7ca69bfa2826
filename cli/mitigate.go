package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newMitigateCommand() *cobra.Command {
	var server serverFlags
	var wanted client.NewMitigation
	var lasts time.Duration
	var output string
	cmd := &cobra.Command{
		Use:   "mitigate ID",
		Short: "drop what an attack sends, for a time",
		Long: `Mitigate sends rules that drop an attack: filters at the gateways next to its devices (node), BGP to routers (flowspec,
rtbh), or a message to another program (webhook), as the server is configured. With --dry-run it prints the rules, and
sends nothing. Rules end with the attack, by release, or when --for is over, whichever is first.`,
		Example: `  waybill attacks mitigate 3a0c64b6f1e0a7d2 --dry-run
  waybill attacks mitigate 3a0c64b6f1e0a7d2 --by flowspec --for 2h
  waybill attacks 3a0c64b6f1e0a7d2`,
		Args: command.OneArg("the id of an attack; waybill attacks tells it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if lasts < 0 || cmd.Flags().Changed("for") && lasts < time.Second {
				return command.Usage(fmt.Errorf("--for is %v; want at least 1s", lasts))
			}
			if lasts > 0 {
				wanted.For = lasts.String()
			}
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				m, err := client.Change[client.Mitigation](ctx, c, "POST",
					"attacks/"+url.PathEscape(args[0])+"/mitigate", wanted)
				if err != nil {
					return err
				}
				return writeMitigation(cmd.OutOrStdout(), output, m, "until "+m.Until.Local().Format(time.DateTime))
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&wanted.DryRun, "dry-run", false, "print the rules, and send nothing")
	f.StringVar(&wanted.By, "by", "", "`WHO` drops: node, flowspec, rtbh or webhook; else as the server is configured")
	DurationVar(f, &lasts, "for", 0, "how long the rules hold, a `DURATION` such as 1h; else as the server is configured")
	f.BoolVar(&wanted.Broad, "broad", false, "send rules that name no source, too: they drop what others send to the target")
	OutputVar(cmd, &output, "table", "json", "yaml")
	server.register(f)
	return cmd
}

func newReleaseCommand() *cobra.Command {
	var server serverFlags
	var output string
	cmd := &cobra.Command{
		Use:     "release ID",
		Short:   "withdraw all rules against an attack",
		Example: `  waybill attacks release 3a0c64b6f1e0a7d2`,
		Args:    command.OneArg("the id of an attack; waybill attacks tells it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				m, err := client.Change[client.Mitigation](ctx, c, "POST", "attacks/"+url.PathEscape(args[0])+"/release",
					nil)
				if err != nil {
					return err
				}
				return writeMitigation(cmd.OutOrStdout(), output, m, "withdrawn")
			})
		},
	}
	OutputVar(cmd, &output, "table", "json", "yaml")
	server.register(cmd.Flags())
	return cmd
}

// writeMitigation writes rules with what became of them.
func writeMitigation(w io.Writer, output string, m *client.Mitigation, became string) error {
	if isDocument(output) {
		return command.Quiet(WriteDocument(w, output, m))
	}
	var b strings.Builder
	if m.DryRun {
		became = "not sent; without --dry-run they hold " + became
	}
	fmt.Fprintf(&b, "%d rules by %s, %s\n", len(m.Rules), m.By, became)
	drawRules(&b, m.Rules)
	if m.Share > 0 {
		fmt.Fprintf(&b, "the attack is %s of all traffic that is seen\n", percentText(m.Share))
	}
	if len(m.Left) > 0 {
		b.WriteString("without a rule\n")
	}
	for i, l := range m.Left {
		if i == maxSourcesShown {
			fmt.Fprintf(&b, "  and %d more; -o json lists all\n", len(m.Left)-i)
			break
		}
		fmt.Fprintf(&b, "  %s: %s\n", l.What, l.Why)
	}
	_, err := io.WriteString(w, b.String())
	return command.Quiet(err)
}

func drawRules(b *strings.Builder, rules []client.MitigationRule) {
	for i := range rules {
		if i == maxSourcesShown {
			fmt.Fprintf(b, "  and %d more; -o json lists all\n", len(rules)-i)
			return
		}
		r := &rules[i]
		fmt.Fprintf(b, "  %s  %s", r.Text, r.State)
		if r.Error != "" {
			b.WriteString(": " + r.Error)
		}
		b.WriteString("\n")
	}
}

// actionText says what was done: "22:31:07 mitigate by node, 4 rules until 23:31:07, asked by ada".
func actionText(a *client.MitigationAction) string {
	text := fmt.Sprintf("%s %s by %s, %d rules", a.At.Local().Format(time.DateTime), a.Action, a.By, len(a.Rules))
	if a.Until != nil {
		text += " until " + a.Until.Local().Format(time.TimeOnly)
	}
	if a.Who != "" {
		text += ", asked by " + a.Who
	}
	if a.Error != "" {
		text += "; FAILED: " + a.Error
	}
	return text
}
