package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newIncidentsCommand() *cobra.Command {
	cmd := newQueryCommand(incidentsQuestion())
	cmd.AddCommand(newIncidentAckCommand(), newIncidentNoteCommand(), newIncidentSilenceCommand())
	return cmd
}

func incidentsQuestion() question[client.IncidentList, client.Incident] {
	return question[client.IncidentList, client.Incident]{
		name:  "incidents",
		takes: " [ID]",
		short: "list what broke, with what followed from it",
		long: `Incidents lists what broke, the latest first: events that belong together, as one. CAUSE is the kind of the event that the
others follow from, LOST the packets that it cost, MOVED the changes of paths that it made, FLOWS the flows that it hit: ≥ stands
before what is a lower bound. With the ID of an incident, or of any event of it, that one is shown with its events, and by
which rule each follows from which.`,
		example: `  waybill incidents
  waybill incidents --open --severity warning
  waybill incidents --since 1d -o wide
  waybill incidents 3a0c64b6f1e0a7d2
  waybill incidents --follow
  waybill incidents ack 3a0c64b6f1e0a7d2 --note 'the optics are being replaced'
  waybill incidents silence 3a0c64b6f1e0a7d2 --for 2h`,
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
		open: func(l *client.IncidentList) (client.Head, []client.Incident) { return l.Head, l.Incidents },
		state: func(n *client.Incident) string {
			return n.ID + n.Severity.String() + fmt.Sprint(n.End == nil, n.Acknowledged != nil, len(n.Notes))
		},
		live: &live[client.Incident]{
			open: func(c *client.Client, ctx context.Context, q client.Query, s client.Stream[client.Incident]) error {
				return c.StreamIncidents(ctx, q, s)
			},
			id: func(n *client.Incident) string { return n.ID },
		},
		none: "nothing broke",
		lead: []string{"start", "end", "severity"},
		cells: map[string]func(*view, *client.Incident) Cell{
			"end": func(v *view, n *client.Incident) Cell { return PlainCell(v.lasted(n.Start, n.End)) },
			"packets_lost": func(_ *view, n *client.Incident) Cell {
				return boundCell(n, "packets_lost", badCell(n.PacketsLost))
			},
			"flows_moved": func(_ *view, n *client.Incident) Cell {
				return boundCell(n, "flows_moved", countCell(n.FlowsMoved))
			},
			"flows_hit": func(_ *view, n *client.Incident) Cell {
				return boundCell(n, "flows_hit", countCell(n.FlowsHit))
			},
			"hosts_hit": func(_ *view, n *client.Incident) Cell {
				return boundCell(n, "hosts_hit", countCell(n.HostsHit))
			},
			"packets_hit": func(_ *view, n *client.Incident) Cell {
				return boundCell(n, "packets_hit", countCell(n.PacketsHit))
			},
			"bytes_hit": func(_ *view, n *client.Incident) Cell {
				return boundCell(n, "bytes_hit", countCell(n.BytesHit))
			},
		},
	}
}

// boundCell marks a count that is a lower bound.
func boundCell(n *client.Incident, name string, c Cell) Cell {
	if slices.Contains(n.AtLeast, name) {
		c.text = "≥" + c.text
	}
	return c
}

// drawIncident writes an incident as a tree: what follows from an event stands below it.
func drawIncident(w io.Writer, v *view, n *client.Incident) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, %s, %s\n\n", n.Text, n.Severity, n.Start.Local().Format(time.DateTime),
		v.lasted(n.Start, n.End))
	if a := n.Acknowledged; a != nil {
		fmt.Fprintf(&b, "acknowledged by %s, %s\n\n", cmp.Or(printable(a.By), "somebody"),
			a.At.Local().Format(time.DateTime))
	}
	fmt.Fprintf(&b, "%s\n\n", hitText(n))
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
	for i := range n.Unseen {
		fmt.Fprintf(&b, "\nnot seen: %s\n", unseenText(&n.Unseen[i]))
	}
	for _, d := range n.Doubts {
		fmt.Fprintf(&b, "\n%s\n", d)
	}
	for i := range n.Notes {
		note := &n.Notes[i]
		fmt.Fprintf(&b, "\n%s, %s: %s\n", note.At.Local().Format(time.DateTime),
			cmp.Or(printable(note.By), "somebody"), printable(note.Text))
	}
	if n.Action != "" {
		fmt.Fprintf(&b, "\nwhat to do: %s\n", n.Action)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unseenText says what an exporter could not tell meanwhile, in the words of the console. That nothing came may be as
// it should.
func unseenText(u *client.Unseen) string {
	who := cmp.Or(printable(u.Name), u.Source.String())
	if u.Silent {
		return "no reports from " + who +
			" in this time: it had nothing to report, as nodes that report on events only, or it was silent"
	}
	return fmt.Sprintf("%d of %s of %s were lost on the way here", u.Lost, counted(u.Sent, "datagram"), who)
}

// hitText says whom an incident hit, and which of its counts are lower bounds.
func hitText(n *client.Incident) string {
	if n.FlowsHit+n.PacketsHit == 0 {
		if len(n.AtLeast) > 0 {
			return "whom it hit is not known"
		}
		return "no flow was hit, as far as reports tell"
	}
	count := func(name string, v uint64, what string) string {
		switch {
		case !slices.Contains(n.AtLeast, name):
			return counted(v, what)
		case v == 0:
			return "an unknown number of " + what + "s"
		}
		return "at least " + counted(v, what)
	}
	return fmt.Sprintf("hit: %s of %s; %s, %s", count("flows_hit", n.FlowsHit, "flow"),
		count("hosts_hit", n.HostsHit, "host"), count("packets_hit", n.PacketsHit, "packet"),
		count("bytes_hit", n.BytesHit, "byte"))
}

func newIncidentAckCommand() *cobra.Command {
	var server serverFlags
	var note string
	var undo bool
	cmd := &cobra.Command{
		Use:   "ack ID",
		Short: "acknowledge an incident",
		Long: `Ack acknowledges an incident, by its id or that of any of its events. Others see it in lists and in the console. Who was
first stays. It changes nothing else: alerts are told as before.`,
		Example: `  waybill incidents ack 3a0c64b6f1e0a7d2
  waybill incidents ack 3a0c64b6f1e0a7d2 --note 'the optics are being replaced'
  waybill incidents ack 3a0c64b6f1e0a7d2 --undo`,
		Args: oneIncident,
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo && note != "" {
				return command.Usage(errors.New("want --note or --undo"))
			}
			method, body := "POST", any(client.NewNote{Text: note})
			if undo {
				method, body = "DELETE", nil
			}
			return changeIncident(cmd, &server, method, args[0], "acknowledge", body)
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "`TEXT` for others")
	cmd.Flags().BoolVar(&undo, "undo", false, "take the acknowledgement back")
	server.register(cmd.Flags())
	return cmd
}

func newIncidentNoteCommand() *cobra.Command {
	var server serverFlags
	cmd := &cobra.Command{
		Use:     "note ID TEXT",
		Short:   "write something about an incident for others",
		Example: `  waybill incidents note 3a0c64b6f1e0a7d2 'the optics were replaced'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || args[1] == "" {
				return command.Usage(errors.New("want the id of an incident and a text"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeIncident(cmd, &server, "POST", args[0], "notes", client.NewNote{Text: args[1]})
		},
	}
	server.register(cmd.Flags())
	return cmd
}

func newIncidentSilenceCommand() *cobra.Command {
	var server serverFlags
	var lasts time.Duration
	var reason string
	cmd := &cobra.Command{
		Use:   "silence ID",
		Short: "keep alerts about an incident from being delivered, and print the id of the silence",
		Long: `Silence keeps alerts about the events of an incident from being delivered, and about what its cause does again at the same place.
"waybill silence remove" ends it.`,
		Example: `  waybill incidents silence 3a0c64b6f1e0a7d2 --for 2h`,
		Args:    oneIncident,
		RunE: func(cmd *cobra.Command, args []string) error {
			if lasts <= 0 {
				return command.Usage(errors.New("--for is missing: how long, such as 2h"))
			}
			return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
				made, err := client.Change[client.Silence](ctx, c, "POST", "incidents/"+url.PathEscape(args[0])+"/silence",
					client.SilenceIncident{For: lasts.String(), Reason: reason})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), made.ID)
				return err
			})
		},
	}
	DurationVar(cmd.Flags(), &lasts, "for", 0, "how long it holds, a `DURATION` such as 2h")
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` that says why, for others; without it the incident")
	server.register(cmd.Flags())
	return cmd
}

func oneIncident(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return command.Usage(errors.New("want the id of an incident, or of one of its events"))
	}
	return nil
}

// changeIncident changes an incident and prints it.
func changeIncident(cmd *cobra.Command, server *serverFlags, method, id, what string, body any) error {
	return server.ask(cmd, func(ctx context.Context, c *client.Client) error {
		path := "incidents/" + url.PathEscape(id) + "/" + what
		answer, err := client.Change[client.IncidentAnswer](ctx, c, method, path, body)
		if err != nil {
			return err
		}
		n := &answer.Incident
		state := "not acknowledged"
		if n.Acknowledged != nil {
			state = "acknowledged by " + cmp.Or(printable(n.Acknowledged.By), "somebody")
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s, %s\n", n.Text, state, counted(uint64(len(n.Notes)), "note"))
		return err
	})
}
