package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newQueuesCommand() *cobra.Command { return newQueryCommand(queuesQuestion()) }

func queuesQuestion() question[client.QueueList, client.QueueDepth] {
	return question[client.QueueList, client.QueueDepth]{
		name:  "queues",
		short: "list queues, and how long packets found them",
		long: `Queues lists the queues that reports tell of: how many packets came to each, and how long it was when they came, in the unit
of the device: bytes, cells or packets. P99 is an estimate, to within 13 %. CONGESTION is the congestion status that nodes of
INT 0.5 report, in a unit of theirs.`,
		example: `  waybill queues
  waybill queues --node leaf1 -o wide
  waybill queues -o json | jq '.queues[] | select(.depth.p99 > 10000)'`,
		flags: []fieldFlag{nodeFlag},
		open:  func(l *client.QueueList) (client.Head, []client.QueueDepth) { return l.Head, l.Queues },
		past: pastOf(func(l *client.QueueHistory) (client.Head, client.Frame, []client.QueueRecord) {
			return l.Head, l.Frame, l.Queues
		}),
		state: func(q *client.QueueDepth) string {
			return fmt.Sprint(q.Node, " ", numberText(q.Port, unknown), " ", q.Queue)
		},
		first: func(q *client.QueueDepth) time.Time { return q.First },
		none:  "no queues yet: the reports that arrived do not say how long queues were",
	}
}
