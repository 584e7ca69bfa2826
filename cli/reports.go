package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// A reportsCommand is one call of waybill reports.
type reportsCommand = queryCommand[client.ReportList, client.RawReport]

func newReportsCommand() *cobra.Command {
	more := false // than were listed
	return newQueryCommand(question[client.ReportList, client.RawReport]{
		name:  "reports",
		takes: " [ID]",
		short: "list datagrams as they came, or save them as a capture",
		long: `Reports lists datagrams as they came, the newest first, of a server that keeps them (waybill serve --raw-reports SIZE). With the ID
of one, it shows what is in its bytes. With -o pcap all that is selected is written to the standard output as a capture
file, the oldest first; with --limit the newest of them.`,
		example: `  waybill reports --since 10m --filter 'node = leaf1 and hop.latency > 50us'
  waybill reports --flow 6f1c0a55d3b2e897 -o wide
  waybill reports 1a-4f310-7
  waybill reports --exporter 10.0.0.1 --filter 'outcome != decoded' -o pcap > bad.pcap`,
		filters: func(cmd *cobra.Command, q *client.Query) {
			f := cmd.Flags()
			f.StringVar(&q.Exporter, "exporter", "", "only reports from this `ADDRESS` or prefix")
			f.StringVar(&q.Flow, "flow", "", "only reports about the flow with this `ID`")
		},
		ask: func(c *client.Client, ctx context.Context, q client.Query) (*client.ReportList, error) {
			list, err := c.Reports(ctx, q)
			more = err == nil && list.Next != ""
			return list, err
		},
		note: func([]client.RawReport) string {
			if more {
				return "there are more; --limit lists more"
			}
			return ""
		},
		one:     printReport,
		capture: saveReports,
		open:    func(l *client.ReportList) (client.Head, []client.RawReport) { return l.Head, l.Reports },
		none:    "no raw reports that are asked for",
		columns: []tableColumn[client.RawReport]{
			{title: "ID", cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(r.ID) }},
			{title: "TIME", cell: func(_ *view, r *client.RawReport) Cell {
				return PlainCell(r.Time.Local().Format("2006-01-02 15:04:05.000"))
			}},
			{title: "EXPORTER", cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(r.Exporter.String()) }},
			{title: "PORT", wide: true, right: true, cell: func(_ *view, r *client.RawReport) Cell { return countCell(uint64(r.ExporterPort)) }},
			{title: "LISTENER", wide: true, cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(r.Listener) }},
			{title: "NODE", cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(nodeText(r.Node, r.Name)) }},
			{title: "VERSION", cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(textOr(r.Version, unknown)) }},
			{title: "DIALECT", wide: true, cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(textOr(r.Dialect, unknown)) }},
			{title: "SEQUENCE", wide: true, right: true, cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(numberText(r.Sequence, unknown)) }},
			{title: "OUTCOME", cell: outcomeCell},
			{title: "REPORTS", wide: true, right: true, cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(strconv.Itoa(r.Reports)) }},
			{title: "FLOW", cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(rawFlowText(r, unknown)) }},
			{title: "NODES", cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(textOr(nodesText(r), unknown)) }},
			{title: "BYTES", right: true, cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(strconv.Itoa(r.Length)) }},
			{title: "FLOW ID", wide: true, cell: func(_ *view, r *client.RawReport) Cell { return PlainCell(flowIDText(r, unknown)) }},
		},
		fields: []csvField[client.RawReport]{
			{"id", func(r *client.RawReport) string { return r.ID }},
			{"time", func(r *client.RawReport) string { return csvTime(r.Time) }},
			{"exporter", func(r *client.RawReport) string { return r.Exporter.String() }},
			{"exporter_port", func(r *client.RawReport) string { return csvUint(r.ExporterPort) }},
			{"listener", func(r *client.RawReport) string { return r.Listener }},
			{"version", func(r *client.RawReport) string { return r.Version }},
			{"dialect", func(r *client.RawReport) string { return r.Dialect }},
			{"outcome", func(r *client.RawReport) string { return r.Outcome }},
			{"reason", func(r *client.RawReport) string { return r.Reason }},
			{"node", func(r *client.RawReport) string { return numberText(r.Node, "") }},
			{"name", func(r *client.RawReport) string { return r.Name }},
			{"sequence", func(r *client.RawReport) string { return numberText(r.Sequence, "") }},
			{"reports", func(r *client.RawReport) string { return strconv.Itoa(r.Reports) }},
			{"nodes", nodesText},
			{"flow", func(r *client.RawReport) string { return rawFlowText(r, "") }},
			{"flow_id", func(r *client.RawReport) string { return flowIDText(r, "") }},
			{"length", func(r *client.RawReport) string { return strconv.Itoa(r.Length) }},
			{"truncated", func(r *client.RawReport) string { return strconv.FormatBool(r.Truncated) }},
		},
	})
}

func textOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func outcomeCell(_ *view, r *client.RawReport) Cell {
	c := PlainCell(r.Outcome)
	if r.Reason != "" {
		c.text += ": " + r.Reason
		c.color = red
	}
	return c
}

func rawFlowText(r *client.RawReport, otherwise string) string {
	if r.Flow == nil {
		return otherwise
	}
	return r.Flow.Text
}

func flowIDText(r *client.RawReport, otherwise string) string {
	if r.Flow == nil {
		return otherwise
	}
	return r.Flow.ID
}

// nodesText returns the ids of the nodes that a report tells of, source first.
func nodesText(r *client.RawReport) string {
	list := make([]string, len(r.Nodes))
	for i, n := range r.Nodes {
		list[i] = csvUint(n)
	}
	return strings.Join(list, " ")
}

// saveReports writes what is asked for as a capture file.
func saveReports(c *reportsCommand, ctx context.Context) error {
	if len(c.args) > 0 {
		return command.Usage(errors.New("-o pcap writes what flags select; it takes no ID"))
	}
	if c.view.terminal {
		return command.Usage(errors.New("a capture is not for a terminal: -o pcap > FILE"))
	}
	q := c.query
	if !c.limitGiven {
		q.Limit = 0 // all
	}
	return c.explain(command.Quiet(c.client.Capture(ctx, q, c.stdout)))
}

// printReport prints what is in the bytes of one datagram.
func printReport(c *reportsCommand, ctx context.Context, id string) error {
	r, err := c.client.Report(ctx, id)
	if err != nil {
		return c.explain(err)
	}
	c.view.now = time.Now()
	w := bufio.NewWriter(c.stdout)
	switch c.output {
	case "json":
		err = writeJSON(w, r)
	case "ndjson":
		err = writeLines(w, nil, []client.ReportAnswer{*r})
	case "csv":
		err = writeCSV(w, c.fields, []client.RawReport{r.RawReport}, true)
	default:
		writeTable(w, &c.view, c.columns, []client.RawReport{r.RawReport})
		t := layerTree{w: w, view: &c.view}
		t.layers(r.Layers, 0)
	}
	if err != nil {
		return err
	}
	return command.Quiet(w.Flush())
}

// A layerTree prints layers as waybill decode does.
type layerTree struct {
	w    *bufio.Writer
	view *view
}

// longValue is how many characters of a value are printed.
const longValue = 96

func (t *layerTree) line(depth int, text string, painted color) {
	fmt.Fprintf(t.w, "%s%s\n", strings.Repeat("  ", depth), Cell{text, painted}.colored(t.view))
}

func (t *layerTree) layers(layers []client.DecodedLayer, depth int) {
	for i := range layers {
		l := &layers[i]
		if l.Name != "" {
			t.line(depth, printable(l.Name+"  "+l.Title), bold)
		}
		t.fields(l.Fields, depth+1)
	}
}

func (t *layerTree) fields(fields []client.DecodedField, depth int) {
	for i := range fields {
		f := &fields[i]
		text := f.Name + ":"
		if value := f.Text; value != "" {
			if len(value) > longValue {
				value = value[:longValue] + fmt.Sprintf("... (%d bytes)", f.Length)
			}
			text += " " + value
		}
		if f.Meaning != "" {
			text += " (" + f.Meaning + ")"
		}
		painted := color("")
		if f.Error {
			text, painted = "error: "+f.Text+" ["+fmt.Sprint(f.Value)+"]", red
		}
		t.line(depth, printable(text), painted)
		t.fields(f.Fields, depth+1)
		t.layers(f.Layers, depth+1)
	}
}
