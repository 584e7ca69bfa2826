package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newEventsCommand() *cobra.Command { return newQueryCommand(eventsQuestion()) }

func eventsQuestion() question[client.EventList, client.Event] {
	return question[client.EventList, client.Event]{
		name:  "events",
		short: "list what happened in the network, and to the reports about it",
		long: `Events lists what happened in the network, and to the reports about it, the latest first: links that carry nothing any more,
flows that changed their path, storms of drops, loops, lost reports and others. An event goes on until nothing of it is
seen for a while.`,
		example: `  waybill events --open
  waybill events --kind drop_storm,link_lost --severity warning
  waybill events --filter 'node = leaf1 and start > now-10m' -o json
  waybill events --group-by kind,node --since 1d
  waybill events --follow`,
		flags: []fieldFlag{
			nodeFlag, severityFlag,
			{"id", "only the event with this `ID`; tells how to decode a report that shows it", "id = %s", ""},
			{"kind", "only events of this `KIND`; may be repeated, or a list with commas", "kind in (%s)", ""},
			{"open", "only events that go on", "end is null", ""},
		},
		open:  func(l *client.EventList) (client.Head, []client.Event) { return l.Head, l.Events },
		state: func(e *client.Event) string { return e.Severity.String() + strconv.FormatBool(e.End == nil) },
		live: &live[client.Event]{
			open: func(c *client.Client, ctx context.Context, q client.Query, s client.Stream[client.Event]) error {
				return c.StreamEvents(ctx, q, s)
			},
			id: func(e *client.Event) string { return e.ID },
		},
		none: "nothing happened",
		note: decodeHint,
		grouped: pastOf(func(l *client.EventGroups) (client.Head, client.Frame, []client.EventGroup) {
			return l.Head, client.Frame{}, l.Events
		}),
		lead: []string{"start", "end", "severity"},
		cells: map[string]func(*view, *client.Event) Cell{
			"end":      func(v *view, e *client.Event) Cell { return PlainCell(v.lasted(e.Start, e.End)) },
			"flow.src": func(_ *view, e *client.Event) Cell { return PlainCell(flowText(e.Flow, unknown)) },
			"evidence": func(_ *view, e *client.Event) Cell { return PlainCell(evidenceText(e.Evidence)) },
		},
	}
}

// decodeHint returns the command that decodes the report that shows an event as the server does, if it is the only one.
func decodeHint(c *client.Client, ctx context.Context, list []client.Event) string {
	if len(list) != 1 || len(list[0].Bytes) == 0 {
		return ""
	}
	answer, err := client.Get[client.DecodeCommands](ctx, c, "events/"+list[0].ID+"/decode", client.Query{})
	if err != nil {
		return "a report that shows it is kept, but not how to decode it: " + err.Error()
	}
	return "a report that shows it:\n" + strings.Join(answer.Commands, "\nor, in another dialect:\n")
}

func (v *view) lasted(start time.Time, end *time.Time) string {
	if end == nil {
		return "ongoing"
	}
	switch d := end.Sub(start); {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d > 0:
		return v.duration(float64(d))
	}
	return "a moment"
}

func severityCell(s client.Severity) Cell {
	c := PlainCell(s.String())
	switch s {
	case client.Warning:
		c.color = yellow
	case client.Critical:
		c.color = red
	}
	return c
}

func flowText(flow *client.Endpoints, otherwise string) string {
	if flow == nil {
		return otherwise
	}
	return endpointsText(flow)
}

// evidenceText returns "drops=30/s bytes=12345B".
func evidenceText(evidence []client.Evidence) string {
	list := make([]string, len(evidence))
	for i, v := range evidence {
		list[i] = v.Name + "=" + strconv.FormatFloat(v.Value, 'g', 6, 64) + strings.TrimPrefix(v.Unit, "1")
	}
	return strings.Join(list, " ")
}
