package cli

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/client"
)

const (
	chartColumns = 64
	chartRows    = 12
)

// chartColors tell the flows of a burst apart, besides their letters.
var chartColors = [...]color{
	"\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[36m", "\x1b[34m", "\x1b[35m", "\x1b[91m",
	"\x1b[93m",
}

// A burstChart is how long a queue was over a burst, in columns of equal time.
type burstChart struct {
	*client.BurstDetail
	columns int
	depths  []float64 // in the unit of the queue, by column
}

// newBurstChart takes the highest point of each column; between two points the queue is taken to change evenly.
func newBurstChart(b *client.BurstDetail) *burstChart {
	c := &burstChart{BurstDetail: b, columns: chartColumns}
	if len(b.Stack.Bytes) > 0 {
		c.columns = len(b.Stack.Bytes[0])
	}
	c.depths = make([]float64, c.columns)
	seen := make([]bool, c.columns)
	for _, p := range b.Timeline {
		column := c.column(p.AtNs)
		if column < 0 {
			continue
		}
		depth := float64(p.Depth)
		if !p.Dropped && b.Unit == "bytes" {
			depth += float64(p.Bytes)
		}
		c.depths[column], seen[column] = max(c.depths[column], depth), true
	}
	before, ends := -1, float64(b.BelowDepth)
	for column := range c.columns + 1 {
		if column < c.columns && !seen[column] {
			continue
		}
		to := ends
		if column < c.columns {
			to = c.depths[column]
		}
		from := to
		if before >= 0 {
			from = c.depths[before]
		}
		for gap := before + 1; gap < column; gap++ {
			c.depths[gap] = from + (to-from)*float64(gap-before)/float64(column-before)
		}
		before = column
	}
	return c
}

// column returns where a moment is, -1 if it is before the burst.
func (c *burstChart) column(atNs int64) int {
	if atNs < 0 {
		return -1
	}
	stepNs := max(c.Stack.StepNs, 1)
	if len(c.Stack.Bytes) == 0 {
		stepNs = c.DurationNs/uint64(c.columns) + 1
	}
	return min(int(uint64(atNs)/stepNs), c.columns-1)
}

// letter returns the letter of the flow that has the cell of a row, of rows up to the queue's length in that column:
// from the bottom up, each flow has a part as large as that of its bytes in the queue.
func (c *burstChart) letter(column, row, rows int) Cell {
	total := uint64(0)
	for _, flow := range c.Stack.Bytes {
		total += flow[column]
	}
	if total == 0 {
		return PlainCell("?")
	}
	at, sum := (float64(row)+0.5)/float64(rows)*float64(total), uint64(0)
	for i := range c.Stack.Flows {
		if sum += c.Stack.Bytes[i][column]; at < float64(sum) {
			return stackCell(i)
		}
	}
	return PlainCell(".")
}

func stackCell(i int) Cell {
	return Cell{string(rune('A' + i)), chartColors[i%len(chartColors)]}
}

// drawBurst draws a burst: its queue over time, made of the letters of flows, and its flows in tables.
func drawBurst(to io.Writer, v *view, b *client.BurstDetail) error {
	var buffer bytes.Buffer
	w := bufio.NewWriter(&buffer)
	kind := "burst"
	if b.Incast {
		kind = "incast"
	}
	fmt.Fprintf(w, "%s %s at %s, %s, queue %d\n", kind, b.ID, printable(nodeText(&b.Node, b.Name)),
		printable(portText(&b.Port, b.PortName)),
		b.Queue)
	fmt.Fprintf(w, "%s to %s, %s\n", b.Start.Format("2006-01-02 15:04:05.000000"), b.End.Format("15:04:05.000000 MST"),
		v.duration(float64(b.DurationNs)))
	fmt.Fprintf(w,
		"peak %s after %s, longest wait %s; %d packets, %s, %d dropped; %d senders; %s of the bytes seen\n\n",
		depthText(&b.Burst, b.PeakDepth), v.duration(float64(b.Peak.Sub(b.Start))), v.duration(float64(b.PeakDelayNs)),
		b.Packets, size(b.Bytes), b.Drops, b.Sources, percentText(b.Complete))
	newBurstChart(b).draw(w, v)
	letters := map[string]int{}
	for i, flow := range b.Stack.Flows {
		if flow >= 0 && b.Flows[flow] != nil {
			letters[flowName(b.Flows[flow])] = i
		}
	}
	letter := func(e *client.Endpoints) Cell {
		if i, ok := letters[flowName(e)]; ok {
			return stackCell(i)
		}
		return PlainCell("")
	}
	if len(b.Culprits) > 0 {
		w.WriteString("\nculprits: who filled the queue\n")
		writeTable(w, v, culpritColumns(letter), b.Culprits)
	}
	if len(b.Victims) > 0 {
		w.WriteString("\nvictims: who waited in it\n")
		writeTable(w, v, victimColumns(letter), b.Victims)
	}
	if b.OtherFlows > 0 {
		fmt.Fprintf(w, "\nand %d other flows with %s\n", b.OtherFlows, size(b.OtherBytes))
	}
	w.Flush()
	_, err := to.Write(buffer.Bytes())
	return err
}

// depthText is a depth of the queue of a burst with its unit.
func depthText(b *client.Burst, depth uint64) string {
	switch {
	case b.Unit == "bytes":
		return size(depth)
	case b.Unit == "unknown" || b.Unit == "":
		return fmt.Sprint(depth, " (unit unknown)")
	case strings.HasPrefix(b.Unit, "cells:"):
		return fmt.Sprintf("%d cells of %s B", depth, strings.TrimPrefix(b.Unit, "cells:"))
	}
	return fmt.Sprint(depth, " ", b.Unit)
}

// flowName returns the ends of a flow and its tunnel.
func flowName(e *client.Endpoints) string {
	if e == nil {
		return unkeptFlow
	}
	return strings.TrimSpace(endpointsText(e) + " " + tunnelText(e))
}

// draw writes the chart, with the bytes on the left and the time below. A dash marks the threshold in empty cells.
func (c *burstChart) draw(w *bufio.Writer, v *view) {
	high := float64(max(c.PeakDepth, 1))
	labels := make([]string, chartRows)
	margin := 0
	for row := range chartRows {
		labels[row] = depthText(&c.Burst, uint64(high*float64(row+1)/chartRows))
		margin = max(margin, len(labels[row]))
	}
	threshold := int(float64(c.AboveDepth) / high * chartRows)
	for row := chartRows - 1; row >= 0; row-- {
		var line strings.Builder
		for column := range c.columns {
			rows := int(c.depths[column]/high*chartRows + 0.5)
			switch {
			case row < rows:
				line.WriteString(c.letter(column, row, rows).colored(v))
			case row == threshold:
				line.WriteString(v.pick("\u2500", "-"))
			default:
				line.WriteByte(' ')
			}
		}
		fmt.Fprintf(w, "%*s %s%s\n", margin, labels[row], v.pick("\u2502", "|"), strings.TrimRight(line.String(), " "))
	}
	fmt.Fprintf(w, "%*s %s%s\n", margin, depthText(&c.Burst, 0), v.pick("\u2514", "+"), strings.Repeat(v.pick("\u2500", "-"), c.columns))
	end := v.duration(float64(c.DurationNs))
	fmt.Fprintf(w, "%*s %s%*s\n", margin, "", " 0", c.columns-1, end)
}

func culpritColumns(letter func(*client.Endpoints) Cell) []tableColumn[client.Culprit] {
	return []tableColumn[client.Culprit]{
		{title: "", cell: func(_ *view, f *client.Culprit) Cell { return letter(f.Flow) }},
		{
			title: "SHARE", right: true,
			cell: func(_ *view, f *client.Culprit) Cell { return PlainCell(percentText(f.Share)) },
		},
		{
			title: "BUILD-UP", right: true,
			cell: func(_ *view, f *client.Culprit) Cell { return PlainCell(size(f.BuildUpBytes)) },
		},
		{title: "PACKETS", right: true, cell: func(_ *view, f *client.Culprit) Cell { return countCell(f.Packets) }},
		{title: "BYTES", right: true, cell: func(_ *view, f *client.Culprit) Cell { return PlainCell(size(f.Bytes)) }},
		{title: "DROPS", right: true, cell: func(_ *view, f *client.Culprit) Cell { return badCell(f.Drops) }},
		{title: "FLOW", cell: func(_ *view, f *client.Culprit) Cell { return PlainCell(flowName(f.Flow)) }},
	}
}

func victimColumns(letter func(*client.Endpoints) Cell) []tableColumn[client.Victim] {
	return []tableColumn[client.Victim]{
		{title: "", cell: func(_ *view, f *client.Victim) Cell { return letter(f.Flow) }},
		{
			title: "EXTRA DELAY", right: true,
			cell: func(v *view, f *client.Victim) Cell { return PlainCell(v.duration(float64(f.ExtraNs))) },
		},
		{
			title: "MAX", right: true,
			cell: func(v *view, f *client.Victim) Cell { return PlainCell(v.duration(float64(f.MaxExtraNs))) },
		},
		{title: "PACKETS", right: true, cell: func(_ *view, f *client.Victim) Cell { return countCell(f.Packets) }},
		{title: "BYTES", right: true, cell: func(_ *view, f *client.Victim) Cell { return PlainCell(size(f.Bytes)) }},
		{title: "DROPS", right: true, cell: func(_ *view, f *client.Victim) Cell { return badCell(f.Drops) }},
		{title: "FLOW", cell: func(_ *view, f *client.Victim) Cell { return PlainCell(flowName(f.Flow)) }},
	}
}

// writeBurstPoints writes the packets of a burst as CSV.
func writeBurstPoints(w io.Writer, b *client.BurstDetail) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"time", "at_ns", "depth", "bytes", "extra_ns", "dropped", "flow"}) // Error tells
	for _, p := range b.Timeline {
		flow := ""
		if p.Flow >= 0 && b.Flows[p.Flow] != nil {
			flow = flowName(b.Flows[p.Flow])
		}
		_ = out.Write([]string{
			b.Start.Add(time.Duration(p.AtNs)).Format(time.RFC3339Nano), fmt.Sprint(p.AtNs), fmt.Sprint(p.Depth),
			fmt.Sprint(p.Bytes),
			fmt.Sprint(p.ExtraNs), strconv.FormatBool(p.Dropped), printable(flow),
		})
	}
	out.Flush()
	return out.Error()
}
