package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newCablesCommand() *cobra.Command {
	return newQueryCommand(question[client.CableList, client.Cable]{
		name:  "cables",
		short: "compare what LLDP tells of cables with the links that packets show",
		long: `Cables lists what devices tell of their neighbours by LLDP, as the sources of the inventory have it, and
compares it with the links that packets show. STATE is used if packets with telemetry take a cable; unused if none did,
though both of its ends report; silent if one of its ends is in no report; not_told if packets take it and LLDP does not
tell of it, though one of its ends was asked; one_end if what is at its other end is no node that is known here.`,
		example: `  waybill cables
  waybill cables --filter 'state = unused or state = not_told'
  waybill cables --node leaf1 -o wide`,
		flags:   []fieldFlag{nodeFlag},
		open:    func(l *client.CableList) (client.Head, []client.Cable) { return l.Head, l.Cables },
		nowOnly: true,
		state: func(c *client.Cable) string {
			return fmt.Sprint(c.Node, " ", c.Port, " ", numberText(c.To, c.ToName), " ",
				numberText(c.ToPort, c.ToPortName), " ", c.State)
		},
		none: "no cables: they show when a source of the inventory tells of LLDP's neighbours",
		cells: map[string]func(*view, *client.Cable) Cell{
			"state": func(_ *view, c *client.Cable) Cell {
				if c.State == "unused" || c.State == "not_told" {
					return Cell{text: string(c.State), color: yellow}
				}
				return PlainCell(string(c.State))
			},
			"to": func(_ *view, c *client.Cable) Cell { return PlainCell(orUnknown(c.ToName, c.To)) },
			"to_port": func(_ *view, c *client.Cable) Cell {
				return PlainCell(orUnknown(c.ToPortName, c.ToPort))
			},
		},
	})
}

// orUnknown returns a name, or else the number.
func orUnknown(name string, number *uint32) string {
	if name != "" {
		return name
	}
	return numberText(number, unknown)
}
