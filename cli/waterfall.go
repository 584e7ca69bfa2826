package cli

import (
	"bufio"
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/api/client"
)

// leastBar is the narrowest waterfall that says something, mostBar the widest that the eye can follow to its row.
const (
	leastBar = 10
	mostBar  = 100
)

// A stage is a node that packets stayed in, or a link between two nodes, on a path.
type stage struct {
	hop  *client.PathHop // nil: a link
	link *client.Link    // nil: a node, or a link that is not known
	time *client.Distribution

	startNs float64 // the usual time of all stages before
}

// stagesOf returns the nodes of a path in their order, with the links between those that are known.
func stagesOf(hops []client.PathHop, links []client.Link) []stage {
	var stages []stage
	for i := range hops {
		h := &hops[i]
		if i > 0 && h.Node != nil && hops[i-1].Node != nil {
			s := stage{link: linkBetween(&hops[i-1], h, links)}
			if s.link != nil {
				s.time = known(s.link.Delay)
			}
			stages = append(stages, s)
		}
		stages = append(stages, stage{hop: h, time: h.LatencyNs})
	}
	for i := 1; i < len(stages); i++ {
		ns, _ := stages[i-1].usual()
		stages[i].startNs = stages[i-1].startNs + ns
	}
	return stages
}

// linkBetween returns the link from one hop to the next, nil if there is none or several could be it.
func linkBetween(from, to *client.PathHop, links []client.Link) *client.Link {
	same := func(a, b *uint32) bool { return a == nil || b == nil || *a == *b }
	var found *client.Link
	for i := range links {
		l := &links[i]
		if l.From == *from.Node && l.To == *to.Node && same(l.FromPort, from.EgressPort) &&
			same(l.ToPort, to.IngressPort) {
			if found != nil {
				return nil
			}
			found = l
		}
	}
	return found
}

// usual returns the median of a stage, or the mean where only that is kept, in nanoseconds.
func (s *stage) usual() (ns float64, ok bool) {
	switch {
	case s.time == nil:
		return 0, false
	case hasQuantiles(s.time):
		return float64(s.time.P50), true
	}
	return s.time.Mean, true
}

// waterfallColumns are those without the bars.
var waterfallColumns = []tableColumn[stage]{
	{title: "NODE", cell: stageCell},
	{title: "IN", right: true, cell: func(_ *view, s *stage) Cell {
		return hopCell(s, func(h *client.PathHop) string { return numberText(h.IngressPort, unknown) })
	}},
	{title: "OUT", right: true, cell: func(_ *view, s *stage) Cell {
		return hopCell(s, func(h *client.PathHop) string { return numberText(h.EgressPort, unknown) })
	}},
	{title: "QUEUE MEAN", wide: true, right: true, cell: func(_ *view, s *stage) Cell {
		return hopCell(s, func(h *client.PathHop) string { return queueMean(h.Queue, unknown, 1) })
	}},
	{title: "QUEUE MAX", right: true, cell: func(_ *view, s *stage) Cell {
		return hopCell(s, func(h *client.PathHop) string { return queueMax(h.Queue, unknown) })
	}},
	{
		title: "TIME MEAN", wide: true, right: true,
		cell: func(v *view, s *stage) Cell { return PlainCell(v.mean(s.time)) },
	},
	{title: "TIME P50", right: true, cell: func(v *view, s *stage) Cell { return PlainCell(v.p50(s.time)) }},
	{title: "P99", right: true, cell: func(v *view, s *stage) Cell { return PlainCell(v.p99(s.time)) }},
	{title: "MAX", wide: true, right: true, cell: func(v *view, s *stage) Cell { return PlainCell(v.highest(s.time)) }},
	{title: "WITHIN", right: true, cell: func(v *view, s *stage) Cell {
		if s.link == nil {
			return PlainCell("") // a node has one clock
		}
		return PlainCell(v.delayWithin(s.link.Delay))
	}},
}

func stageCell(v *view, s *stage) Cell {
	if s.hop == nil {
		return PlainCell(v.pick("│ link", "| link"))
	}
	c := Cell{nodeText(s.hop.Node, s.hop.Name), bold}
	if s.hop.Missing > 0 {
		c = PlainCell(missingText(s.hop))
	}
	if s.hop.Dropped {
		c = Cell{c.text + v.pick(" ✗ dropped", " x dropped"), red}
	}
	return c
}

// hopCell is empty in the row of a link.
func hopCell(s *stage, text func(*client.PathHop) string) Cell {
	if s.hop == nil {
		return PlainCell("")
	}
	return PlainCell(text(s.hop))
}

// drawWaterfall writes a row for each stage, with a bar that begins where that of the stage before ended. A terminal
// that is too narrow for bars has none.
func drawWaterfall(w *bufio.Writer, v *view, stages []stage) {
	columns := slices.Clone(waterfallColumns)
	if bars := barColumn(v, stages, v.columns-tableWidth(v, columns, stages)-2); bars != nil {
		columns = append(columns, *bars)
	}
	writeTable(w, v, columns, stages)
}

// barColumn returns the bars, in so many columns of a terminal; nil if that is too few, or no time is known. The
// slowest stage has a colour. What took any time has a bar of one column at least.
func barColumn(v *view, stages []stage, columns int) *tableColumn[stage] {
	columns = min(columns, mostBar)
	total, slowest := 0.0, 0.0
	about := ""
	for i := range stages {
		ns, _ := stages[i].usual()
		about = max(about, aboutMark(stages[i].time))
		total += ns
		slowest = max(slowest, ns)
	}
	if columns < leastBar || total == 0 {
		return nil
	}
	at := func(ns float64) int { return int(math.Round(ns / total * float64(columns))) }
	scale := about + v.duration(total)
	return &tableColumn[stage]{
		title: "0" + strings.Repeat(" ", columns-1-width(scale)) + scale,
		cell: func(v *view, s *stage) Cell {
			ns, ok := s.usual()
			from := min(at(s.startNs), columns-1)
			if !ok {
				return PlainCell(strings.Repeat(" ", from) + "?")
			}
			if ns == 0 {
				return PlainCell("")
			}
			c := PlainCell(strings.Repeat(" ", from) + strings.Repeat(barOf(v, s), max(at(s.startNs+ns)-from, 1)))
			if ns == slowest {
				c.color = yellow
			}
			return c
		},
	}
}

// barOf returns what bars are made of.
func barOf(v *view, s *stage) string {
	if s.hop == nil {
		return v.pick("─", "-")
	}
	return v.pick("█", "#")
}

// tableWidth returns the columns of a terminal that a table takes.
func tableWidth[T any](v *view, columns []tableColumn[T], items []T) int {
	var b bytes.Buffer
	colorless := *v
	colorless.color = false
	w := bufio.NewWriter(&b)
	writeTable(w, &colorless, columns, items)
	w.Flush()
	widest := 0
	for line := range strings.Lines(b.String()) {
		widest = max(widest, width(strings.TrimSuffix(line, "\n")))
	}
	return widest
}
