package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

func newEventsCommand() *cobra.Command { return newQueryCommand(eventsQuestion()) }

func eventsQuestion() question[client.EventList, telemetry.Event] {
	return question[client.EventList, telemetry.Event]{
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
		filters: func(cmd *cobra.Command, q *client.Query) {
			addNodeFilter(cmd, q)
			f := cmd.Flags()
			f.StringVar(&q.ID, "id", "", "only the event with this `ID`; tells how to decode a report that shows it")
			f.Var((*commaList)(&q.Kind), "kind", "only events of this `KIND`; may be repeated, or a list with commas")
			f.StringVar(&q.Severity, "severity", "", "only events of at least this `SEVERITY`: info, warning, critical")
			f.StringVar(&q.Filter, "filter", "", "only events that this `EXPRESSION` selects")
			f.BoolVar(&q.Open, "open", false, "only events that go on")
			_ = cmd.RegisterFlagCompletionFunc("severity", cobra.FixedCompletions([]string{"info", "warning", "critical"}, cobra.ShellCompDirectiveNoFileComp))
			_ = cmd.RegisterFlagCompletionFunc("kind", completeList(eventKinds()))
		},
		ask:   (*client.Client).Events,
		open:  func(l *client.EventList) (client.Head, []telemetry.Event) { return l.Head, l.Events },
		state: func(e *telemetry.Event) string { return e.Severity.String() + strconv.FormatBool(e.End == nil) },
		live: &live[telemetry.Event]{
			open: func(c *client.Client, ctx context.Context, q client.Query, s client.Stream[telemetry.Event]) error {
				q.ID, q.Open = "", false
				return c.StreamEvents(ctx, q, s)
			},
			id: func(e *telemetry.Event) string { return e.ID },
			wants: func(q *client.Query, e *telemetry.Event) bool {
				return (q.ID == "" || q.ID == e.ID) && (!q.Open || e.End == nil)
			},
		},
		none: "nothing happened",
		note: decodeHint,
		grouped: pastOf((*client.Client).EventGroups, func(l *client.EventGroups) (client.Head, client.Frame, []client.EventGroup) {
			return l.Head, client.Frame{}, l.Events
		}),
		columns: []tableColumn[telemetry.Event]{
			{title: "STARTED", order: "start", cell: startCell},
			{title: "LASTED", right: true, cell: func(v *view, e *telemetry.Event) Cell { return PlainCell(v.lasted(e)) }},
			{title: "SEVERITY", order: "severity", cell: severityCell},
			{title: "KIND", order: "kind", cell: func(_ *view, e *telemetry.Event) Cell { return PlainCell(e.Kind.String()) }},
			{title: "COUNT", order: "count", right: true, cell: func(_ *view, e *telemetry.Event) Cell { return countCell(e.Count) }},
			{title: "WHAT", cell: func(_ *view, e *telemetry.Event) Cell { return PlainCell(e.Text) }},
			{title: "OUT", wide: true, right: true, cell: func(_ *view, e *telemetry.Event) Cell { return PlainCell(numberText(e.Port, unknown)) }},
			{title: "IN", wide: true, right: true, cell: func(_ *view, e *telemetry.Event) Cell { return PlainCell(numberText(e.ToPort, unknown)) }},
			{title: "FLOW", wide: true, cell: func(_ *view, e *telemetry.Event) Cell { return PlainCell(flowText(e.Flow, unknown)) }},
			{title: "EVIDENCE", wide: true, cell: func(_ *view, e *telemetry.Event) Cell { return PlainCell(evidenceText(e)) }},
			{title: "ID", wide: true, cell: func(_ *view, e *telemetry.Event) Cell { return PlainCell(e.ID) }},
		},
		fields: []csvField[telemetry.Event]{
			{"id", func(e *telemetry.Event) string { return e.ID }},
			{"kind", func(e *telemetry.Event) string { return e.Kind.String() }},
			{"severity", func(e *telemetry.Event) string { return e.Severity.String() }},
			{"start", func(e *telemetry.Event) string { return csvTime(e.Start) }},
			{"end", func(e *telemetry.Event) string {
				if e.End == nil {
					return ""
				}
				return csvTime(*e.End)
			}},
			{"count", func(e *telemetry.Event) string { return csvUint(e.Count) }},
			{"text", func(e *telemetry.Event) string { return e.Text }},
			{"node", func(e *telemetry.Event) string { return numberText(e.Node, "") }},
			{"name", func(e *telemetry.Event) string { return e.Name }},
			{"port", func(e *telemetry.Event) string { return numberText(e.Port, "") }},
			{"queue", func(e *telemetry.Event) string { return numberText(e.Queue, "") }},
			{"to_node", func(e *telemetry.Event) string { return numberText(e.ToNode, "") }},
			{"to_name", func(e *telemetry.Event) string { return e.ToName }},
			{"to_port", func(e *telemetry.Event) string { return numberText(e.ToPort, "") }},
			{"reason", func(e *telemetry.Event) string { return numberText(e.Reason, "") }},
			{"reason_name", func(e *telemetry.Event) string { return e.ReasonName }},
			{"source", func(e *telemetry.Event) string { return e.Source }},
			{"flow", func(e *telemetry.Event) string { return flowText(e.Flow, "") }},
			{"path", func(e *telemetry.Event) string { return e.Path }},
			{"evidence", evidenceText},
			{"path_nodes", func(e *telemetry.Event) string { return strings.Join(e.PathNodes, " ") }},
			{"rule", func(e *telemetry.Event) string { return e.Rule }},
			{"bytes", func(e *telemetry.Event) string { return e.Bytes.String() }},
		},
	}
}

// decodeHint returns the command that decodes the report that shows an event, if it is the only one.
func decodeHint(list []telemetry.Event) string {
	if len(list) != 1 || len(list[0].Bytes) == 0 {
		return ""
	}
	return "a report that shows it:\nwaybill decode --start telemetry_report --hex " + list[0].Bytes.String()
}

// A commaList is a flag whose values are joined by commas.
type commaList string

func (l *commaList) String() string { return string(*l) }

func (l *commaList) Type() string { return "list" }

func (l *commaList) Set(value string) error {
	if *l != "" {
		value = string(*l) + "," + value
	}
	*l = commaList(value)
	return nil
}

func eventKinds() []string {
	var names []string
	for k := telemetry.EventKind(1); k < telemetry.NumEventKinds; k++ {
		names = append(names, k.String())
	}
	return names
}

// startCell tells the age of an event, or the time of day in a table that grows: there an age is soon wrong.
func startCell(v *view, e *telemetry.Event) Cell {
	if v.grows {
		return PlainCell(e.Start.Local().Format(time.TimeOnly))
	}
	return v.age(e.Start)
}

func (v *view) lasted(e *telemetry.Event) string {
	if e.End == nil {
		return "goes on"
	}
	switch d := e.End.Sub(e.Start); {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d > 0:
		return v.duration(float64(d))
	}
	return "a moment"
}

func severityCell(_ *view, e *telemetry.Event) Cell {
	c := PlainCell(e.Severity.String())
	switch e.Severity {
	case telemetry.Warning:
		c.color = yellow
	case telemetry.Critical:
		c.color = red
	}
	return c
}

func flowText(flow *telemetry.Endpoints, otherwise string) string {
	if flow == nil {
		return otherwise
	}
	return endpointsText(flow)
}

// evidenceText returns "drops=30/s bytes=12345B".
func evidenceText(e *telemetry.Event) string {
	list := make([]string, len(e.Evidence))
	for i, v := range e.Evidence {
		list[i] = v.Name + "=" + strconv.FormatFloat(v.Value, 'g', 6, 64) + strings.TrimPrefix(v.Unit, "1")
	}
	return strings.Join(list, " ")
}
