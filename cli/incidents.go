package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newIncidentsCommand() *cobra.Command {
	return newQueryCommand(question[client.IncidentList, client.Incident]{
		name:  "incidents",
		takes: " [ID]",
		short: "list what broke, with what followed from it",
		long: `Incidents lists what broke, the latest first: events that belong together, as one. CAUSE is the kind of the event that the
others follow from, LOST the packets that it cost, MOVED the changes of paths that it made. With the ID of an incident, or of
any event of it, that one is shown with its events, and by which rule each follows from which.`,
		example: `  waybill incidents
  waybill incidents --open --severity warning
  waybill incidents --since 1d -o wide
  waybill incidents 3a0c64b6f1e0a7d2
  waybill incidents --follow`,
		flags: []fieldFlag{
			nodeFlag, severityFlag,
			{
				"kind", "only incidents whose cause is of this `KIND`; may be repeated, or a list with commas",
				"kind in (%s)", "",
			},
			{"open", "only incidents that go on", "end is null", ""},
		},
		one: printOne[client.IncidentList, client.Incident](func(w io.Writer, v *view, a *client.IncidentAnswer) error {
			return drawIncident(w, v, &a.Incident)
		}),
		open:  func(l *client.IncidentList) (client.Head, []client.Incident) { return l.Head, l.Incidents },
		state: func(n *client.Incident) string { return n.ID + n.Severity.String() + fmt.Sprint(n.End == nil) },
		none:  "nothing broke",
		lead:  []string{"start", "end", "severity"},
		cells: map[string]func(*view, *client.Incident) Cell{
			"end": func(v *view, n *client.Incident) Cell { return PlainCell(v.lasted(n.Start, n.End)) },
		},
	})
}

// drawIncident writes an incident as a tree: what follows from an event stands below it.
func drawIncident(w io.Writer, v *view, n *client.Incident) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, %s, %s\n\n", n.Text, n.Severity, n.Start.Local().Format(time.DateTime),
		v.lasted(n.Start, n.End))
	below := map[string][]int{}
	for i := range n.Events {
		below[n.Events[i].Of] = append(below[n.Events[i].Of], i)
	}
	var draw func(of string, depth int)
	draw = func(of string, depth int) {
		for _, i := range below[of] {
			e := &n.Events[i]
			fmt.Fprintf(&b, "%s%s  %s  %s\n", strings.Repeat("    ", depth), e.Start.Local().Format(time.TimeOnly),
				e.Kind, e.Text)
			if e.Of != "" {
				why := "since"
				if e.Likely {
					why = "likely, since"
				}
				fmt.Fprintf(&b, "%s%s %s (%s)\n", strings.Repeat("    ", depth+1), why, e.Because, e.Rule)
			}
			draw(e.ID, depth+1)
		}
	}
	draw("", 0)
	for _, c := range n.PossibleCauses {
		fmt.Fprintf(&b, "\npossible cause: %s (%s)\n    for it: %s\n    against it: %s\n", c.Text, c.Incident, c.For,
			c.Against)
	}
	for _, d := range n.Doubts {
		fmt.Fprintf(&b, "\n%s\n", d)
	}
	if n.Action != "" {
		fmt.Fprintf(&b, "\nwhat to do: %s\n", n.Action)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
