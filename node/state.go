package node

import (
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/event"
	"github.com/waybill-int/waybill/node/watch"
)

// A State is all that a node remembers of a packet between Arrive and Depart or Drop: fixed size, no pointers.
type State struct {
	DSCP uint8  // to choose the queue by: without the mark of INT (INT 2.1 §5.7.2)
	Hash uint64 // to balance by: of the flow of the outermost packet as it was before INT

	// Protocol and DstPort are those of the outermost packet as it was before INT, for access lists; 0 if there are
	// none.
	Protocol uint8
	DstPort  uint16

	inPort    uint32
	arrivedNs uint64
	flow      uint64  // hash of the innermost flow, for events and collectors
	srcMAC    [6]byte // before a router has rewritten it
	ttl       uint8   // or Hop Limit, before a router has taken one

	// What the flow watchlist said.
	bitmap   uint16 // Instruction Bitmap to insert
	metadata uint16 // RepMdBits to report
	// of IOAM, what to insert
	traceType uint32
	mode      watch.Mode
	flags     stateFlags
}

type stateFlags uint8

const (
	fromOutside stateFlags = 1 << iota // from an edge port, and not with INT that is accepted
	watched                            // matches the flow watchlist, and was sampled
	reportAll                          // events do not matter
	flowStart                          // TCP SYN
	flowEnd                            // TCP FIN or RST
	untimed                            // when it came is not known
)

func (s *State) is(f stateFlags) bool { return s.flags&f != 0 }

// An Ingress is where and when a packet came.
type Ingress struct {
	Port   uint32 // from 1
	TimeNs uint64 // when its last bit did, by the clock of the node

	Unwatched bool // whoever looked at it first has decided so, and the watchlist is not asked
	Untimed   bool // nobody knows when it came; TimeNs is when it left
}

// A Verdict says what becomes of a packet that has arrived.
type Verdict struct {
	Drop   bool
	Reason uint8 // of the drop, a number of p4lang/switch
}

// An Egress is where and when a packet leaves, and what it met in its queue. Times are of the clock of the node, in ns.
type Egress struct {
	Port  uint32 // from 1; 0 in Process: the packet is dropped
	Queue uint8  // of that port, from 0

	QueueBytes  uint64 // in the queue when it came, itself not counted
	QueueLimit  uint64 // what could have been in the queue then, before it dropped; 0: unknown
	BufferBytes uint64 // in all queues then
	EnqueuedNs  uint64
	DepartedNs  uint64

	// Congestion is what somebody says of the queue who has seen all of its packets; nil: the node observes it itself.
	Congestion *event.Verdict

	TxBps uint64 // bit/s that left the port of late
	Bps   uint64 // bit/s that can; 0: unknown
	MTU   int    // of the link, bytes of an IP packet; 0: that of Spec

	// Others are the other ports that the packet could have left by. Copies leave there if it asks for them.
	Others []Other

	Reason uint8 // in Process: why the packet is dropped
}

// An Other is a port that leads where the port of an Egress does, at the same cost.
type Other struct {
	Port       uint32
	SameHop    bool   // to the same next hop: another link of a port channel
	First      bool   // of the ports to its next hop
	DepartedNs uint64 // when the first bit of a copy would leave there, by the clock of the node; 0: not known
}

// asked reports whether Rep asks for a copy on that port: on each link of the port channel, to each next hop, or on
// each link to each (INT 2016 §5.3.3).
func (o *Other) asked(rep embed.ReplicaPolicy) bool {
	switch {
	case o.SameHop:
		return rep&embed.ReplicatePorts != 0
	case o.First:
		return rep&embed.ReplicateNextHops != 0
	}
	return rep == embed.ReplicateBoth
}

// A Place says where in a switch a packet was lost.
type Place uint8

// The places.
const (
	PlaceIngress Place = iota // the switch decided not to forward it
	PlaceQueue                // no room: a tail drop
	PlaceEgress               // behind the queue, or the port is down
)

// A Drop says where and why a packet was lost.
type Drop struct {
	Place      Place
	Reason     uint8
	TimeNs     uint64         // by the clock of the node
	Port       uint32         // where it was to go out; 0 if that was not known yet
	Queue      uint8          // of that port
	QueueBytes uint64         // in that queue
	Congestion *event.Verdict // as in Egress
	Always     bool           // it is reported, whatever the drop watchlist says: a filter dropped it
}
