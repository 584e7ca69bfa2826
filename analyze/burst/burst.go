// Package burst finds the times in which queues were long, and keeps the latest of them. It knows samples of queues,
// and no tables: a flow is a number that only its giver understands. A Search is not for concurrent use; a Log locks
// itself.
//
// A microburst is over before a counter of bytes shows it. What packets met at a queue tells it: a Search takes one
// Sample for each packet and queue, and gives a Burst for each time that a queue was long, with those who made it
// long (culprits) and those who had to wait for them (victims).
//
// The life of a sample: Observe puts it into its queue, in the order of the packets' arrival there (search.go,
// queue.go). When no older one is to be expected, by the clock of the node (clock.go), a walk over the queue
// looks at it (walk.go), with thresholds from the queue's own past (baseline.go). The samples of a burst stay
// until it is over; then they are added up once (build.go). So nothing is decided before its time, and what two
// instances know is put together by putting their samples together.
package burst

// A Burst is a time during which a queue was long: from the packet that brought it above Above to the one whose
// leaving brought it to Below or less. The queue is (Node, Port, Queue), and times are those of the node's clock,
// in nanoseconds.
//
// A queue of which telemetry tells no depth is measured in the nanoseconds that packets wait: AboveNs and BelowNs take
// the place of Above and Below then, which are 0, as Peak is.
type Burst struct {
	Node, Port uint32
	Queue      uint8

	StartNs, PeakNs, EndNs uint64
	// AwayNs is what has to be added to the times for nanoseconds since 1970, and UncertaintyNs how far these may be
	// off then: of a node whose stamps wrap, so that its clock is that of the arrival of its reports. Else both are 0.
	AwayNs        int64
	UncertaintyNs uint64
	// StartSlackNs is how much earlier it may have begun: for so long before StartNs nothing was known of the queue.
	// EndSlackNs is how much later it may have ended. Both are 0 as far as every packet was seen, but for an EndSlackNs
	// where nobody knows what packets spent behind the queue when it became short: see behind.go.
	StartSlackNs, EndSlackNs uint64

	Unit               Unit   // of what follows
	Peak, Above, Below uint64 // the longest queue, and the thresholds
	PeakDelayNs        uint64 // the longest wait beyond what the queue costs when it is empty
	AboveNs, BelowNs   uint64

	// Packets and Bytes are those of the packets that were in the queue at some time of the burst, scaled up by the
	// rate of sampling; Samples is how many were seen. Drops is the number of packets for which there was no room.
	Packets, Bytes, Drops uint64
	Samples               int

	// Culprits brought the bytes of the build-up, most first; Victims waited in the queue that others made, longest
	// first. A flow is in one list only, see IsCulprit. OtherFlows were cut off the ends of both lists, with
	// OtherBytes.
	Culprits   []Share
	Victims    []Victim
	OtherFlows int
	OtherBytes uint64

	// Sources is the number of senders in the build-up, MainSources the fewest of them that brought 80% of its bytes,
	// and MainFlows the fewest flows. Incast says that these senders are many.
	Sources, MainSources, MainFlows int
	Incast                          bool

	Timeline []Point // in the order of time; if it is shorter than Samples, the highest points are left
	Stack    Stack

	// SeenPackets and SeenBytes are those of the packets that were seen and not dropped, not scaled up.
	SeenPackets, SeenBytes uint64
	// Complete is the share of the burst's bytes that was seen, from 0 to 1: less than 1 with sampling, and where jumps
	// in the depth of the queue tell of packets that were never reported.
	Complete float64

	Open bool // it is not over, or it is not known when it ended; EndNs is the latest moment that belongs to it
}

// A Share is what a flow had in a burst.
type Share struct {
	Flow                  FlowRef
	Source                uint32
	Packets, Bytes, Drops uint64 // in the whole burst, scaled up
	// of the packets that were in the queue from the start of the burst to its peak, scaled up
	BuildUpBytes uint64
	Share        float64 // of the build-up's bytes, 0 to 1
	MaxExtraNs   uint64  // as of a Victim
}

// A Victim is what a flow suffered from a burst that others made.
type Victim struct {
	Flow                  FlowRef
	Source                uint32
	Packets, Bytes, Drops uint64 // in the whole burst, scaled up
	// ExtraNs is what its packets waited beyond the queue's base latency, added up over those that were seen,
	// MaxExtraNs the longest wait of one.
	ExtraNs, MaxExtraNs uint64
}

// A Point is a packet that came to the queue: one that was really seen.
type Point struct {
	AtNs    uint64
	Flow    FlowRef
	Depth   uint32 // of the queue when it came
	Bytes   uint32 // its length
	ExtraNs uint32 // its wait beyond the queue's base latency; 0 for a drop
	Dropped bool
}
