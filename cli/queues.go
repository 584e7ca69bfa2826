package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

func newQueuesCommand() *cobra.Command { return newQueryCommand(queuesQuestion()) }

func queuesQuestion() question[client.QueueList, telemetry.QueueDepth] {
	depth := func(of func(*telemetry.Distribution) float64) func(*view, *telemetry.QueueDepth) Cell {
		return func(_ *view, q *telemetry.QueueDepth) Cell {
			if q.Depth == nil {
				return PlainCell(unknown)
			}
			return PlainCell(strconv.FormatFloat(of(q.Depth), 'f', 0, 64))
		}
	}
	congestion := func(q *telemetry.QueueDepth, of func(*telemetry.Congestion) uint64, otherwise string) string {
		if q.Congestion == nil {
			return otherwise
		}
		return csvUint(of(q.Congestion))
	}
	return question[client.QueueList, telemetry.QueueDepth]{
		name:  "queues",
		short: "list queues, and how long packets found them",
		long: `Queues lists the queues that reports tell of: how many packets came to each, and how long it was when they came, in the unit
of the device: bytes, cells or packets. P99 is an estimate, to within 13 %. CONGESTION is the congestion status that nodes of
INT 0.5 report, in a unit of theirs.`,
		example: `  waybill queues
  waybill queues --node leaf1 -o wide
  waybill queues -o json | jq '.queues[] | select(.depth.p99 > 10000)'`,
		filters: addNodeFilter,
		ask:     (*client.Client).Queues,
		open:    func(l *client.QueueList) (client.Head, []telemetry.QueueDepth) { return l.Head, l.Queues },
		past: pastOf((*client.Client).QueueHistory, func(l *client.QueueHistory) (client.Head, client.Frame, []client.QueueRecord) {
			return l.Head, l.Frame, l.Queues
		}),
		state: func(q *telemetry.QueueDepth) string {
			return fmt.Sprint(q.Node, " ", numberText(q.Port, unknown), " ", q.Queue)
		},
		first: func(q *telemetry.QueueDepth) time.Time { return q.First },
		none:  "no queues yet: the reports that arrived do not say how long queues were",
		columns: []tableColumn[telemetry.QueueDepth]{
			{title: "NODE", order: "node", cell: func(_ *view, q *telemetry.QueueDepth) Cell { return PlainCell(nodeText(&q.Node, q.Name)) }},
			{title: "PORT", order: "port", right: true, cell: func(_ *view, q *telemetry.QueueDepth) Cell { return PlainCell(numberText(q.Port, unknown)) }},
			{title: "QUEUE", order: "queue", right: true, cell: func(_ *view, q *telemetry.QueueDepth) Cell { return countCell(uint64(q.Queue)) }},
			{title: "PACKETS", order: "depth.count", right: true, cell: depth(func(d *telemetry.Distribution) float64 { return float64(d.Count) })},
			{title: "MIN", wide: true, right: true, cell: depth(func(d *telemetry.Distribution) float64 { return float64(d.Min) })},
			{title: "MEAN", order: "depth.mean", right: true, cell: depth(func(d *telemetry.Distribution) float64 { return d.Mean })},
			{title: "P50", order: "depth.p50", right: true, cell: depth(func(d *telemetry.Distribution) float64 { return float64(d.P50) })},
			{title: "P99", order: "depth.p99", right: true, cell: depth(func(d *telemetry.Distribution) float64 { return float64(d.P99) })},
			{title: "MAX", order: "depth.max", right: true, cell: depth(func(d *telemetry.Distribution) float64 { return float64(d.Max) })},
			{title: "LAST", order: "last_depth", right: true, cell: func(_ *view, q *telemetry.QueueDepth) Cell { return PlainCell(numberText(q.LastDepth, unknown)) }},
			{title: "CONGESTION", wide: true, right: true, cell: func(_ *view, q *telemetry.QueueDepth) Cell {
				return PlainCell(congestion(q, func(c *telemetry.Congestion) uint64 { return uint64(c.Last) }, unknown))
			}},
			{title: "MAX", wide: true, right: true, cell: func(_ *view, q *telemetry.QueueDepth) Cell {
				return PlainCell(congestion(q, func(c *telemetry.Congestion) uint64 { return uint64(c.Max) }, unknown))
			}},
			{title: "FIRST SEEN", wide: true, cell: func(v *view, q *telemetry.QueueDepth) Cell { return v.age(q.First) }},
			{title: "LAST SEEN", order: "last", cell: func(v *view, q *telemetry.QueueDepth) Cell { return v.age(q.Last) }},
		},
		fields: slices.Concat(
			[]csvField[telemetry.QueueDepth]{
				{"node", func(q *telemetry.QueueDepth) string { return csvUint(q.Node) }},
				{"name", func(q *telemetry.QueueDepth) string { return q.Name }},
				{"port", func(q *telemetry.QueueDepth) string { return numberText(q.Port, "") }},
				{"queue", func(q *telemetry.QueueDepth) string { return csvUint(q.Queue) }},
			},
			depthFields(),
			[]csvField[telemetry.QueueDepth]{
				{"depth_last", func(q *telemetry.QueueDepth) string { return numberText(q.LastDepth, "") }},
				{"congestion_count", func(q *telemetry.QueueDepth) string {
					return congestion(q, func(c *telemetry.Congestion) uint64 { return c.Count }, "")
				}},
				{"congestion_max", func(q *telemetry.QueueDepth) string {
					return congestion(q, func(c *telemetry.Congestion) uint64 { return uint64(c.Max) }, "")
				}},
				{"congestion_last", func(q *telemetry.QueueDepth) string {
					return congestion(q, func(c *telemetry.Congestion) uint64 { return uint64(c.Last) }, "")
				}},
				{"first", func(q *telemetry.QueueDepth) string { return csvTime(q.First) }},
				{"last", func(q *telemetry.QueueDepth) string { return csvTime(q.Last) }},
			},
		),
	}
}

// depthFields returns the fields of the length of a queue. They have no unit: only the device knows it.
func depthFields() []csvField[telemetry.QueueDepth] {
	fields := distributionFields("depth", func(q *telemetry.QueueDepth) *telemetry.Distribution { return q.Depth })
	for i := range fields {
		fields[i].name = strings.TrimSuffix(fields[i].name, "_ns")
	}
	return fields
}
