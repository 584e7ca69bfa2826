package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newHopsCommand() *cobra.Command { return newQueryCommand(hopsQuestion()) }

func hopsQuestion() question[client.HopList, client.NodeHop] {
	return question[client.HopList, client.NodeHop]{
		name:  "hops",
		short: "list what packets met at each node between two of its ports",
		long: `Hops lists how long packets stayed in each node on their way from one of its ports to another, and the queues that they
met, over all paths.`,
		example: `  waybill hops
  waybill hops --node spine1 -o wide
  waybill hops -o csv > hops.csv`,
		flags: []fieldFlag{nodeFlag},
		open:  func(l *client.HopList) (client.Head, []client.NodeHop) { return l.Head, l.Hops },
		past: pastOf(func(l *client.HopHistory) (client.Head, client.Frame, []client.HopRecord) {
			return l.Head, l.Frame, l.Hops
		}),
		state: func(h *client.NodeHop) string {
			return fmt.Sprint(h.Node, " ", numberText(h.IngressPort, unknown), " ", numberText(h.EgressPort, unknown))
		},
		first: func(h *client.NodeHop) time.Time { return h.First },
		none:  "no hops yet: the reports that arrived name no node",
	}
}

// queueMean returns the mean occupancy with so many decimals, or as many as it has if that is -1.
func queueMean(q *client.Queue, otherwise string, decimals int) string {
	if q == nil {
		return otherwise
	}
	return strconv.FormatFloat(q.Mean, 'f', decimals, 64)
}

func queueMax(q *client.Queue, otherwise string) string {
	if q == nil {
		return otherwise
	}
	return uintText(q.Max)
}
