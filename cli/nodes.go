package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newNodesCommand() *cobra.Command { return newQueryCommand(nodesQuestion()) }

func nodesQuestion() question[client.NodeList, client.Node] {
	return question[client.NodeList, client.Node]{
		name:  "nodes",
		short: "list the devices that appeared in reports",
		long: `Nodes lists the devices that appeared in reports, with the packets that they forwarded and dropped and how long packets
stayed in them.`,
		example: `  waybill nodes
  waybill nodes --node leaf1 -o json
  waybill nodes --server http://collector:8080 --watch 2s`,
		flags:    []fieldFlag{nodeFlag},
		attached: true,
		open:     func(l *client.NodeList) (client.Head, []client.Node) { return l.Head, l.Nodes },
		state:    func(n *client.Node) string { return uintText(n.ID) },
		first:    func(n *client.Node) time.Time { return n.First },
		none:     "no nodes yet: the reports that arrived name no node",
	}
}
