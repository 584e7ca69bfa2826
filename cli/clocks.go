package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newClocksCommand() *cobra.Command {
	return newQueryCommand(question[client.ClockList, client.Clock]{
		name:  "clocks",
		short: "list by how much the clocks of nodes differ",
		long: `Clocks lists the clock of each node against that of its reference, the node with the smallest id that packets join it to in
both directions. OFFSET is by how much it is ahead; it is not wrong by more than what stands behind it. DRIFT is by how much it is
faster, in parts per 10^9.`,
		example: `  waybill clocks
  waybill clocks --node spine1 -o json
  waybill clocks --watch 2s`,
		flags:   []fieldFlag{nodeFlag},
		open:    func(l *client.ClockList) (client.Head, []client.Clock) { return l.Head, l.Clocks },
		nowOnly: true,
		state: func(c *client.Clock) string {
			jumped := ""
			if c.LastJump != nil {
				jumped = c.LastJump.After.String()
			}
			return fmt.Sprint(c.Node, " ", c.Reference, " ", c.Trusted, " ", c.Reason, " ", jumped)
		},
		none: "no clocks yet: a clock shows when reports carry ingress and egress times of two nodes that a packet passed",
		cells: map[string]func(*view, *client.Clock) Cell{
			"offset_ns":      func(v *view, c *client.Clock) Cell { return PlainCell(v.signed(c.OffsetNs)) },
			"uncertainty_ns": func(v *view, c *client.Clock) Cell { return PlainCell(v.within(c.UncertaintyNs)) },
			"trusted":        clockState,
			"last_jump.step_ns": func(v *view, c *client.Clock) Cell {
				if c.LastJump == nil {
					return PlainCell(unknown)
				}
				return PlainCell(v.signed(&c.LastJump.StepNs))
			},
		},
	})
}

// clockState says whether a clock is known.
func clockState(_ *view, c *client.Clock) Cell {
	switch {
	case !c.Trusted:
		return Cell{text: "unknown: " + c.Reason, color: yellow}
	case c.Reason != "":
		return PlainCell(c.Reason)
	}
	return PlainCell("known")
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
