package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

func newHostsCommand() *cobra.Command {
	return newQueryCommand(question[client.HostList, telemetry.Host]{
		name:  "hosts",
		short: "list addresses, and where they are attached",
		long: `Hosts lists the addresses that packets came from or went to, with the port of the node where they came in or left, and where
that was before. The addresses inside tunnels are listed with their tunnel, those of its ends without.`,
		example: `  waybill hosts
  waybill hosts --node leaf1
  waybill hosts --address 10.0.1.0/24 -o json`,
		flags:   []fieldFlag{nodeFlag, {"address", "only this `ADDRESS` or prefix", "address in %s", ""}},
		ask:     (*client.Client).Hosts,
		open:    func(l *client.HostList) (client.Head, []telemetry.Host) { return l.Head, l.Hosts },
		nowOnly: true,
		state: func(h *telemetry.Host) string {
			return fmt.Sprint(h.Address, " ", hostTunnel(h), " ", h.Places[0].Node, " ", numberText(h.Places[0].Port, unknown))
		},
		first: func(h *telemetry.Host) time.Time { return h.Places[0].First },
		none:  "no hosts yet: a host shows when reports tell of all of the way of a packet",
		columns: []tableColumn[telemetry.Host]{
			{title: "NODE", cell: func(_ *view, h *telemetry.Host) Cell { return PlainCell(nodeText(&h.Places[0].Node, h.Places[0].Name)) }},
			{title: "PORT", right: true, cell: func(_ *view, h *telemetry.Host) Cell { return PlainCell(numberText(h.Places[0].Port, unknown)) }},
			{title: "PACKETS", right: true, cell: func(_ *view, h *telemetry.Host) Cell { return countCell(h.Places[0].Packets) }},
			{title: "SURE", wide: true, right: true, cell: func(_ *view, h *telemetry.Host) Cell { return PlainCell(shareText(h.Places[0].Confidence)) }},
			{title: "FIRST SEEN", wide: true, cell: func(v *view, h *telemetry.Host) Cell { return v.age(h.Places[0].First) }},
			{title: "LAST SEEN", cell: func(v *view, h *telemetry.Host) Cell { return v.age(h.Places[0].Last) }},
			{title: "BEFORE", cell: func(_ *view, h *telemetry.Host) Cell { return PlainCell(earlierPlace(h)) }},
		},
		cells: map[string]func(*view, *telemetry.Host) Cell{"tunnel": func(_ *view, h *telemetry.Host) Cell { return PlainCell(cmp.Or(hostTunnel(h), unknown)) }},
	})
}

func hostTunnel(h *telemetry.Host) string {
	return tunnelText(&telemetry.Endpoints{Tunnel: h.Tunnel, TunnelID: h.TunnelID})
}

// earlierPlace returns where a host was seen besides its latest place.
func earlierPlace(h *telemetry.Host) string {
	if len(h.Places) < 2 {
		return ""
	}
	at := &h.Places[1]
	return nodeText(&at.Node, at.Name) + " port " + numberText(at.Port, unknown)
}
