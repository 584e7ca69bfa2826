package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

func newClocksCommand() *cobra.Command {
	return newQueryCommand(question[client.ClockList, telemetry.Clock]{
		name:  "clocks",
		short: "list by how much the clocks of nodes differ",
		long: `Clocks lists the clock of each node against that of its reference, the node with the smallest id that packets join it to in
both directions. OFFSET is by how much it is ahead; it is not wrong by more than what stands behind it. DRIFT is by how much it is
faster, in parts per 10^9.`,
		example: `  waybill clocks
  waybill clocks --node spine1 -o json
  waybill clocks --watch 2s`,
		filters: addNodeFilter,
		ask:     (*client.Client).Clocks,
		open:    func(l *client.ClockList) (client.Head, []telemetry.Clock) { return l.Head, l.Clocks },
		nowOnly: true,
		state: func(c *telemetry.Clock) string {
			jumped := ""
			if c.LastJump != nil {
				jumped = c.LastJump.After.String()
			}
			return fmt.Sprint(c.Node, " ", c.Reference, " ", c.Trusted, " ", c.Reason, " ", jumped)
		},
		none: "no clocks yet: a clock shows when reports carry ingress and egress times of two nodes that a packet passed",
		columns: []tableColumn[telemetry.Clock]{
			{title: "NODE", cell: func(_ *view, c *telemetry.Clock) Cell { return PlainCell(nodeText(&c.Node, c.Name)) }},
			{title: "REFERENCE", cell: func(_ *view, c *telemetry.Clock) Cell { return PlainCell(nodeText(&c.Reference, c.ReferenceName)) }},
			{title: "OFFSET", right: true, cell: func(v *view, c *telemetry.Clock) Cell { return PlainCell(v.signed(c.OffsetNs)) }},
			{title: "WITHIN", right: true, cell: func(v *view, c *telemetry.Clock) Cell { return PlainCell(v.within(c.UncertaintyNs)) }},
			{title: "DRIFT", right: true, cell: func(_ *view, c *telemetry.Clock) Cell { return PlainCell(ppb(c.DriftPPB, unknown)) }},
			{title: "WITHIN", wide: true, right: true, cell: func(_ *view, c *telemetry.Clock) Cell { return PlainCell(ppb(c.DriftWithin, unknown)) }},
			{title: "LINKS", wide: true, right: true, cell: func(_ *view, c *telemetry.Clock) Cell { return PlainCell(strconv.Itoa(c.Links)) }},
			{title: "LAST JUMP", cell: jumpCell},
			{title: "BY", right: true, cell: func(v *view, c *telemetry.Clock) Cell {
				if c.LastJump == nil {
					return PlainCell(unknown)
				}
				return PlainCell(v.signed(&c.LastJump.StepNs))
			}},
			{title: "STATE", cell: clockState},
		},
		fields: []csvField[telemetry.Clock]{
			{"node", func(c *telemetry.Clock) string { return csvUint(c.Node) }},
			{"name", func(c *telemetry.Clock) string { return c.Name }},
			{"reference", func(c *telemetry.Clock) string { return csvUint(c.Reference) }},
			{"reference_name", func(c *telemetry.Clock) string { return c.ReferenceName }},
			{"links", func(c *telemetry.Clock) string { return strconv.Itoa(c.Links) }},
			{"trusted", func(c *telemetry.Clock) string { return strconv.FormatBool(c.Trusted) }},
			{"reason", func(c *telemetry.Clock) string { return c.Reason }},
			{"offset_ns", func(c *telemetry.Clock) string { return csvInt(c.OffsetNs) }},
			{"uncertainty_ns", func(c *telemetry.Clock) string { return csvInt(c.UncertaintyNs) }},
			{"drift_ppb", func(c *telemetry.Clock) string { return ppb(c.DriftPPB, "") }},
			{"drift_uncertainty_ppb", func(c *telemetry.Clock) string { return ppb(c.DriftWithin, "") }},
			{"span_ns", func(c *telemetry.Clock) string { return csvInt(c.SpanNs) }},
			{"last_jump_before", func(c *telemetry.Clock) string {
				if c.LastJump == nil {
					return ""
				}
				return csvTime(c.LastJump.Before)
			}},
			{"last_jump_ns", func(c *telemetry.Clock) string {
				if c.LastJump == nil {
					return ""
				}
				return csvInt(&c.LastJump.StepNs)
			}},
		},
	})
}

// clockState says whether a clock is known.
func clockState(_ *view, c *telemetry.Clock) Cell {
	switch {
	case !c.Trusted:
		return Cell{text: "unknown: " + c.Reason, color: yellow}
	case c.Reason != "":
		return PlainCell(c.Reason)
	}
	return PlainCell("known")
}

func jumpCell(v *view, c *telemetry.Clock) Cell {
	if c.LastJump == nil {
		return PlainCell(unknown)
	}
	return v.age(c.LastJump.Before)
}

// signed returns a duration that may be negative or not known.
func (v *view) signed(ns *int64) string {
	switch {
	case ns == nil:
		return unknown
	case *ns < 0:
		return "-" + v.duration(-float64(*ns))
	}
	return "+" + v.duration(float64(*ns))
}

// within returns an uncertainty that may not be known.
func (v *view) within(ns *int64) string {
	if ns == nil {
		return unknown
	}
	return v.pick("±", "+-") + v.duration(float64(*ns))
}

// ppb returns parts per 10^9.
func ppb(n *float64, otherwise string) string {
	if n == nil {
		return otherwise
	}
	return strconv.FormatFloat(*n, 'f', 1, 64)
}

func csvInt(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
