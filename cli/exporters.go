package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newExportersCommand() *cobra.Command {
	cmd := newQueryCommand(exportersQuestion())
	cmd.AddCommand(newForgetCommand())
	return cmd
}

func newForgetCommand() *cobra.Command {
	var server serverFlags
	var selects string
	cmd := &cobra.Command{
		Use:   "forget [NODE|ADDRESS]",
		Short: "forget exporters that are gone",
		Long: `Forget removes exporters from the ledger, from answers and from what is saved, and ends the event that they are silent: those of a node,
those that send from an address or prefix, or all that a filter selects. Who of them reports again is new. Records in the store stay.`,
		Example: `  waybill exporters forget leaf1
  waybill exporters forget 10.0.0.7
  waybill exporters forget --filter 'last < now-1h'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 1) == (selects != "") {
				return command.Usage(errors.New("want a node, an address or --filter EXPRESSION"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				selects = exporterFilter(args[0])
			}
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				answer, err := client.Change[client.ForgottenExporters](ctx, c, "POST", "exporters/forget",
					client.ForgetExporters{Filter: selects})
				if err != nil {
					return err
				}
				for i := range answer.Exporters {
					x := &answer.Exporters[i]
					fmt.Fprintf(cmd.OutOrStdout(), "forgot %s, node %s, with %d datagrams\n", x.Source,
						cmp.Or(printable(x.Name), numberText(x.Node, unknown)), x.Received)
				}
				if len(answer.Exporters) == 0 {
					return fmt.Errorf("no exporter has %s", selects)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&selects, "filter", "", "`EXPRESSION` that selects the exporters")
	_ = cmd.RegisterFlagCompletionFunc("filter", server.completeFilter("exporters"))
	server.register(cmd.Flags())
	return cmd
}

// exporterFilter selects the exporters at an address, in a prefix, or of a node.
func exporterFilter(which string) string {
	if _, err := netip.ParseAddr(which); err == nil {
		return "source = " + which
	}
	if _, err := netip.ParsePrefix(which); err == nil {
		return "source in " + which
	}
	if _, err := strconv.ParseUint(which, 0, 32); err == nil {
		return "node = " + which
	}
	return "node = " + strconv.Quote(which)
}

func exportersQuestion() question[client.ExporterList, client.Exporter] {
	return question[client.ExporterList, client.Exporter]{
		name:  "exporters",
		short: "list who sends reports, and what was lost of them or could not be read",
		long: `Exporters lists the senders of reports with an account of their datagrams: received, lost on the way as far as the
sequence numbers tell, and those of which a part (DAMAGED) or nothing (MALFORMED) could be read, with the reasons. Of IPFIX,
whose numbers count records, it is records that were lost. The loss of an exporter whose sequence numbers do not count is
unknown; it is not zero. Sources that may not send what they send are listed last, with how many of their datagrams were
refused.`,
		example: `  waybill exporters
  waybill exporters --source 10.0.0.0/24
  waybill exporters --node leaf1 -o json
  waybill exporters --watch 2s`,
		flags: []fieldFlag{
			nodeFlag,
			{"source", "only exporters that send from this `ADDRESS` or prefix", "source in %s", ""},
		},
		open: func(l *client.ExporterList) (client.Head, []client.Exporter) { return l.Head, l.Exporters },
		past: pastOf(func(l *client.ExporterHistory) (client.Head, client.Frame, []client.ExporterRecord) {
			return l.Head, l.Frame, l.Exporters
		}),
		state: func(x *client.Exporter) string {
			return fmt.Sprint(x.Source, " ", numberText(x.Node, unknown), " ", numberText(x.HWID, unknown), " ",
				x.Version, " ", x.RefusedBecause)
		},
		first: func(x *client.Exporter) time.Time { return x.First },
		none:  "no exporters yet",
		cells: map[string]func(*view, *client.Exporter) Cell{
			"lost":       func(_ *view, e *client.Exporter) Cell { return lossCell(e) },
			"loss_known": func(_ *view, e *client.Exporter) Cell { return PlainCell(noteText(e)) },
		},
	}
}

// lossCell returns how many datagrams were lost, with their share of what was sent.
func lossCell(e *client.Exporter) Cell {
	if e.Refused > 0 {
		return PlainCell(unknown)
	}
	if e.RecordsLost != nil {
		return recordsCell(int64(*e.RecordsLost))
	}
	if e.Lost == nil {
		return Cell{"unknown", yellow}
	}
	lost := *e.Lost
	if lost == 0 {
		return PlainCell("0")
	}
	sent := float64(lost) + float64(e.Received-min(e.Duplicate, e.Received))
	return Cell{fmt.Sprintf("%d (%s)", lost, percentText(float64(lost)/sent)), red}
}

// recordsCell returns how many records were lost, where these are what sequence numbers count.
func recordsCell(lost int64) Cell {
	text := fmt.Sprintf("%d records", lost)
	if lost > 0 {
		return Cell{text, red}
	}
	return PlainCell(text)
}

// percentText returns a share as 12%, 1.25% or <0.01%.
func percentText(share float64) string {
	switch percent := 100 * share; {
	case percent >= 10:
		return fmt.Sprintf("%.0f%%", percent)
	case percent >= 0.01:
		return fmt.Sprintf("%.2f%%", percent)
	}
	return "<0.01%"
}

// noteText says why the loss is not known and what was wrong with datagrams.
func noteText(e *client.Exporter) string {
	var notes []string
	if e.Refused > 0 {
		return fmt.Sprintf("refused %d: %s", e.Refused, e.RefusedBecause)
	}
	if e.Lost == nil && e.RecordsLost == nil {
		notes = append(notes, "loss unknown: "+strings.TrimPrefix(e.LossKnown, "no: "))
	}
	if len(e.Damaged) > 0 {
		notes = append(notes, "damaged: "+reasonsText(e.Damaged))
	}
	if len(e.Malformed) > 0 {
		notes = append(notes, "malformed: "+reasonsText(e.Malformed))
	}
	return strings.Join(notes, "; ")
}

// reasonsText lists reasons with their counts, by name.
func reasonsText(counts map[string]uint64) string {
	var texts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, fmt.Sprintf("%s %d", reason, counts[reason]))
	}
	return strings.Join(texts, ", ")
}

func sumOf(counts map[string]uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
