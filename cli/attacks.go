package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/conf/unit"
)

func newAttacksCommand() *cobra.Command {
	cmd := newQueryCommand(question[client.AttackList, client.Attack]{
		name:  "attacks",
		takes: " [ID]",
		short: "list attacks, the devices that send them, and what filters drop of them",
		long: `Attacks lists traffic to a target that is far more than usual there, the latest first. KIND surge is none: somebody asked
for it. EFFECT is the share that filters drop now, DEVICES how many devices send it. An attack that is mitigated goes on: it
has ended when nothing of it comes, and no filter drops any of it. With the ID of an attack, which is that of its event,
that one is shown with its devices and their paths, what gets through, and the signs that decided what it is.`,
		example: `  waybill attacks
  waybill attacks --active
  waybill attacks --filter 'device = "a6:1a:f6:b1:64:01"' --since 7d
  waybill attacks 3a0c64b6f1e0a7d2
  waybill attacks --follow
  waybill attacks 3a0c64b6f1e0a7d2 -o json | jq -r '.attack.devices[].device'`,
		flags: []fieldFlag{
			severityFlag,
			{"kind", "only attacks of this `KIND`; may be repeated, or a list with commas", "kind in (%s)", ""},
			{"state", "only attacks in this `STATE`; may be repeated, or a list with commas", "state in (%s)", ""},
			{"target", "only attacks on this `ADDRESS`", "target = %s", ""},
			{"active", "only attacks that go on", "end is null and severity > info", ""},
		},
		one: printOne[client.AttackList, client.Attack](func(w io.Writer, v *view, a *client.AttackAnswer) error {
			return drawAttack(w, v, &a.Attack)
		}),
		open: func(l *client.AttackList) (client.Head, []client.Attack) { return l.Head, l.Attacks },
		state: func(a *client.Attack) string {
			return a.State.String() + a.Kind.String() + fmt.Sprint(a.DevicesTotal)
		},
		first: func(a *client.Attack) time.Time { return a.Begin },
		live: &live[client.Attack]{
			open: func(c *client.Client, ctx context.Context, q client.Query, s client.Stream[client.Attack]) error {
				return c.StreamAttacks(ctx, q, s)
			},
			id: func(a *client.Attack) string { return a.ID },
		},
		none: "no attacks: nowhere does much more come than usual; `attacks` in the configuration says how much that is",
		lead: []string{"begin", "end", "state", "kind", "target"},
		cells: map[string]func(*view, *client.Attack) Cell{
			"end":      func(v *view, a *client.Attack) Cell { return PlainCell(v.lasted(a.Begin, a.End)) },
			"bps":      func(_ *view, a *client.Attack) Cell { return PlainCell(bitRate(a.BPS)) },
			"peak_bps": func(_ *view, a *client.Attack) Cell { return PlainCell(bitRate(a.PeakBPS)) },
			"evidence": func(_ *view, a *client.Attack) Cell { return PlainCell(evidenceText(a.Evidence)) },
		},
	})
	cmd.AddCommand(newMitigateCommand(), newReleaseCommand())
	return cmd
}

// bitRate returns "16.1Mbit/s".
func bitRate(bps uint64) string { return unit.RateText(bps, "") }

// drawAttack writes an attack with who sends it and what filters drop.
func drawAttack(w io.Writer, v *view, a *client.Attack) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, %s, %s, %s\n", a.Text, a.State, a.Severity, a.Begin.Local().Format(time.DateTime),
		v.lasted(a.Begin, a.End))
	fmt.Fprintf(&b, "%d packets, %d bytes", a.Packets, a.Bytes)
	if a.Uncertainty > 0 {
		fmt.Fprintf(&b, ", within %s", percentText(a.Uncertainty))
	}
	fmt.Fprintf(&b, "; filters dropped %d of them, and %d that are no part of it\n", a.FilteredPackets, a.Collateral)
	if a.Lost > 0 {
		fmt.Fprintf(&b, "%d packets to the target were lost otherwise, most for want of room\n", a.Lost)
	}
	fmt.Fprintf(&b, "signs: %s\n", evidenceText(a.Evidence))
	if a.CountError > 0 {
		fmt.Fprintf(&b, "more sources than are told apart: a source may have up to %d packets too many\n", a.CountError)
	}
	for _, part := range []struct {
		title string
		list  []client.AttackSource
		name  func(*client.AttackSource) string
	}{
		{"device", a.Devices, func(s *client.AttackSource) string { return s.Device }},
		{"gateway", a.Gateways, gatewayText},
		{"what gets through, by path", a.Paths, func(s *client.AttackSource) string { return s.Path }},
		{"source address, which may be forged", a.Addresses, func(s *client.AttackSource) string { return s.Address }},
	} {
		drawSources(&b, part.title, part.list, part.name)
	}
	if len(a.Filters) > 0 {
		b.WriteString("\nfilter at\n")
	}
	for i := range a.Filters {
		f := &a.Filters[i]
		name := f.Name
		if name == "" {
			name = fmt.Sprint("node ", f.Node)
		}
		fmt.Fprintf(&b, "  %s  %d packets  %s\n", name, f.Packets, strings.TrimSpace(f.Device+" "+f.DropKey))
	}
	if len(a.Rules) > 0 {
		b.WriteString("\nrules that hold; waybill attacks release " + a.ID + " withdraws them\n")
		drawRules(&b, a.Rules)
	}
	if len(a.Actions) > 0 {
		b.WriteString("\ndone about it\n")
	}
	for i := range a.Actions {
		b.WriteString("  " + actionText(&a.Actions[i]) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxSourcesShown is how many sources of a kind are shown; JSON has all.
const maxSourcesShown = 20

func drawSources(b *strings.Builder, title string, list []client.AttackSource, name func(*client.AttackSource) string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for i := range list[:min(len(list), maxSourcesShown)] {
		s := &list[i]
		text := fmt.Sprintf("  %s  %s  %d packets, %d dropped by filters", name(s), percentText(s.Share), s.Packets,
			s.Filtered)
		if s.Effectiveness != nil {
			text += fmt.Sprintf(", lately %s", percentText(*s.Effectiveness))
		}
		if s.Device != "" {
			text += "  behind " + gatewayText(s) + "  path " + s.Path
		}
		if s.OneExporter && s.Device != "" {
			text += "  (one exporter says so)"
		}
		fmt.Fprintln(b, text)
	}
	if more := len(list) - maxSourcesShown; more > 0 {
		fmt.Fprintf(b, "  and %d more; -o json lists all\n", more)
	}
}

func gatewayText(s *client.AttackSource) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Node != nil:
		return fmt.Sprint("node ", *s.Node)
	}
	return unknown
}
