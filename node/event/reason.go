package event

import "strings"

// A Reason is a set of reasons to report a packet; the empty set is no report.
type Reason uint16

// The reasons, by the names of SONiC DTel where it has one: NewFlow, PathChange and LatencyChange are its flow state
// event, FlowEnd its TCP flag event.
const (
	NewFlow         Reason = 1 << iota // the flow was not known
	PathChange                         // it took other ports, or another path, than its last packet
	LatencyChange                      // its latency is in another quantum than that of its last packet
	Period                             // its last report is a period ago
	FlowEnd                            // the packet ends it
	All                                // the watchlist says to report every packet
	QueueCongestion                    // it met a congested queue
	TailDrop                           // it was dropped because its queue was full
	Drop                               // it was dropped for another reason; for the node to add
)

var reasonNames = [...]string{
	"new_flow", "path_change", "latency_change", "period", "flow_end", "all", "queue_congestion", "tail_drop", "drop",
}

// String returns the names of the reasons, "new_flow|flow_end", or "none".
func (r Reason) String() string {
	var names []string
	for i, name := range reasonNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, "|")
}
