package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newHostsCommand() *cobra.Command {
	return newQueryCommand(question[client.HostList, client.Host]{
		name:  "hosts",
		short: "list addresses, and where they are attached",
		long: `Hosts lists the addresses that packets came from or went to, with the port of the node where they came in or left, and where
that was before. The addresses inside tunnels are listed with their tunnel, those of its ends without.`,
		example: `  waybill hosts
  waybill hosts --node leaf1
  waybill hosts --address 10.0.1.0/24 -o json`,
		flags:   []fieldFlag{nodeFlag, {"address", "only this `ADDRESS` or prefix", "address in %s", ""}},
		open:    func(l *client.HostList) (client.Head, []client.Host) { return l.Head, l.Hosts },
		nowOnly: true,
		state: func(h *client.Host) string {
			return fmt.Sprint(h.Address, " ", hostTunnel(h), " ", h.Places[0].Node, " ",
				numberText(h.Places[0].Port, unknown))
		},
		first: func(h *client.Host) time.Time { return h.Places[0].First },
		none:  "no hosts yet: a host shows when reports tell of all of the way of a packet",
		columns: []tableColumn[client.Host]{
			{
				title: "NODE",
				cell: func(_ *view,
					h *client.Host,
				) Cell {
					return PlainCell(nodeText(&h.Places[0].Node, h.Places[0].Name))
				},
			},
			{
				title: "PORT", right: true,
				cell: func(_ *view, h *client.Host) Cell {
					return PlainCell(cmp.Or(h.Places[0].PortName, numberText(h.Places[0].Port, unknown)))
				},
			},
			{
				title: "PACKETS", right: true,
				cell: func(_ *view, h *client.Host) Cell { return countCell(h.Places[0].Packets) },
			},
			{
				title: "SURE", wide: true, right: true,
				cell: func(_ *view, h *client.Host) Cell { return PlainCell(shareText(h.Places[0].Confidence)) },
			},
			{
				title: "FIRST SEEN", wide: true,
				cell: func(v *view, h *client.Host) Cell { return v.age(h.Places[0].First) },
			},
			{title: "LAST SEEN", cell: func(v *view, h *client.Host) Cell { return v.age(h.Places[0].Last) }},
			{title: "BEFORE", cell: func(_ *view, h *client.Host) Cell { return PlainCell(earlierPlace(h)) }},
		},
		cells: map[string]func(*view, *client.Host) Cell{
			"address": func(_ *view, h *client.Host) Cell {
				if h.HostName != "" {
					return PlainCell(fmt.Sprintf("%v (%s)", h.Address, h.HostName))
				}
				return PlainCell(h.Address.String())
			},
			"tunnel": func(_ *view, h *client.Host) Cell { return PlainCell(cmp.Or(hostTunnel(h), unknown)) },
		},
	})
}

func hostTunnel(h *client.Host) string {
	return tunnelText(&client.Endpoints{Tunnel: h.Tunnel, TunnelID: h.TunnelID})
}

// earlierPlace returns where a host was seen besides its latest place.
func earlierPlace(h *client.Host) string {
	if len(h.Places) < 2 {
		return ""
	}
	at := &h.Places[1]
	return nodeText(&at.Node, at.Name) + " " + portText(at.Port, at.PortName)
}
