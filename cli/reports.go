package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/internal/command"
)

// A reportsCommand is one call of waybill reports.
type reportsCommand = queryCommand[client.ReportList, client.RawReport]

func newReportsCommand() *cobra.Command {
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
		flags: []fieldFlag{
			{"exporter", "only reports from this `ADDRESS` or prefix", "exporter in %s", ""},
			{"flow", "only reports about the flow with this `ID`", "flow = %s", ""},
		},
		ask:     (*client.Client).Reports,
		one:     printReport,
		capture: saveReports,
		open: func(l *client.ReportList) (client.Head, []client.RawReport) {
			l.Head.Next = l.Next
			return l.Head, l.Reports
		},
		none: "no raw reports that are asked for",
		lead: []string{"id", "time", "exporter", "exporter_port", "listener", "node", "version"},
		cells: map[string]func(*view, *client.RawReport) Cell{
			"time": func(_ *view, r *client.RawReport) Cell {
				return PlainCell(r.Time.Local().Format("2006-01-02 15:04:05.000"))
			},
			"outcome": outcomeCell,
		},
	})
}

func outcomeCell(_ *view, r *client.RawReport) Cell {
	c := PlainCell(r.Outcome)
	if r.Reason != "" {
		c.text += ": " + r.Reason
		c.color = red
	}
	return c
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
	r, err := client.Item[client.ReportAnswer](ctx, c.client, "reports", id)
	if err != nil {
		return c.explain(err)
	}
	c.view.now = time.Now()
	w := bufio.NewWriter(c.stdout)
	switch c.output {
	case "json", "yaml":
		err = WriteDocument(w, c.output, r)
	case "ndjson":
		err = writeLines(w, nil, []client.ReportAnswer{*r})
	case "csv":
		err = encode.CSV(w, rowsOf("reports", []client.RawReport{r.RawReport}), true)
	default:
		writeTable(w, &c.view, c.shown, []client.RawReport{r.RawReport})
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
