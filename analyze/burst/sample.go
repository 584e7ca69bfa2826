package burst

import (
	"cmp"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// A FlowRef names a flow by a number that only its giver understands; equal flows have equal numbers.
type FlowRef uint64

// SampleFields are a set of what is known of a Sample.
type SampleFields uint8

const (
	SampleIn         SampleFields = 1 << iota // InNs
	SampleOut                                 // OutNs
	SampleLatency                             // LatencyNs
	SampleDepth                               // Depth
	SampleDropped                             // the packet was dropped because the queue had no room
	SampleDepthAtOut                          // Depth is that when it left, itself not counted
	sampleTwice                               // the sample before is the same
)

// A Sample is what one packet met at one queue, as the metadata of its hop tell. A field that Has does not name means
// nothing. The moment at which the packet came must be known, or follow from OutNs and LatencyNs.
type Sample struct {
	Node, Port uint32 // Port is where the queue leads
	Queue      uint8
	Has        SampleFields

	InNs, OutNs uint64 // when it came and when it left, the node's clock
	LatencyNs   uint64 // between the two
	// InNs and OutNs begin again at 0 after WrapNs, if that is not 0: then it counts when the report came, ArrivalNs.
	WrapNs    uint64
	ArrivalNs int64
	Depth     uint32 // of the queue when it came, itself not counted
	Unit      Unit   // of Depth
	Bytes     uint32 // length of the frame, at most 2^20; 0 if unknown

	Flow   FlowRef
	Source uint32 // the sender: a number, or a hash of its address; 0 if unknown
	Packet uint64 // tells packets of a flow apart, so that a report that came twice counts once; 0 if unknown
	Every  uint32 // the sample stands for so many packets: 1 in Every is sampled; at most 2^20, and 0 counts as 1
}

// A Unit is what the depth of a queue is counted in.
type Unit = codepoint.QueueUnit

// A queued is a Sample in its queue.
type queued struct {
	in     uint64 // ns; with SampleDepthAtOut when it left
	flow   FlowRef
	packet uint64
	wait   uint32 // ns from coming to leaving, if has says SampleOut
	depth  uint32
	bytes  uint32
	every  uint32
	source uint32
	has    SampleFields
}

// timed reports whether it is known when the packet came.
func (s *Sample) timed() bool {
	return s.Has&SampleIn != 0 || s.Has&(SampleOut|SampleLatency) == SampleOut|SampleLatency
}

// times returns when the packet came and how long it waited, and what is known of s, which is timed: false and a count
// why if that cannot be.
func (s *Sample) times(c *Counters, n *nodeClock) (inNs, wait uint64, has SampleFields, ok bool) {
	outNs := s.OutNs
	if s.WrapNs == 0 && s.Has&SampleOut != 0 {
		outNs = n.turned(s.OutNs)
	}
	inNs, wait, has = s.InNs, s.LatencyNs, s.Has&(SampleDepth|SampleDropped)
	if s.WrapNs != 0 {
		if s.Has&SampleOut != 0 { // a report comes when its packet left
			outNs = n.unwrap(s.OutNs, s.WrapNs, s.ArrivalNs)
			inNs = outNs - (s.OutNs-s.InNs+s.WrapNs)%s.WrapNs
		} else if s.Has&SampleIn != 0 {
			inNs = n.unwrap(s.InNs, s.WrapNs, s.ArrivalNs)
		}
	} else if s.Has&SampleIn != 0 {
		inNs = n.turned(s.InNs)
	}
	switch s.Has & (SampleIn | SampleOut | SampleLatency) {
	case SampleIn:
		return inNs, 0, has, true
	case SampleIn | SampleLatency:
	case SampleIn | SampleOut, SampleIn | SampleOut | SampleLatency:
		wait = outNs - inNs // of a packet that left before it came far too much
	case SampleOut | SampleLatency:
		inNs = outNs - wait
	}
	if wait > 1<<32-1 || inNs+wait < inNs {
		c.Impossible++
		return 0, 0, 0, false
	}
	if has&SampleDropped != 0 { // it did not wait
		return inNs, 0, has, true
	}
	if s.Has&(SampleDepthAtOut|SampleDepth) == SampleDepthAtOut|SampleDepth {
		return inNs + wait, wait, has | SampleOut | SampleDepthAtOut, true
	}
	return inNs, wait, has | SampleOut, true
}

// came is the moment at which the packet came.
func (k *queued) came() uint64 {
	if k.has&SampleDepthAtOut != 0 {
		return k.in - min(k.in, uint64(k.wait))
	}
	return k.in
}

// out is the moment at which the packet had left.
func (k *queued) out() uint64 {
	if k.has&SampleDepthAtOut != 0 {
		return k.in
	}
	return k.in + uint64(k.wait)
}

// packetIn reports whether the packet was in the queue: it was not dropped, and is no duplicate.
func (k *queued) packetIn() bool { return k.has&(SampleDropped|sampleTwice) == 0 }

// tellsDepthBefore reports whether k tells what the packet found in the queue when it came.
func (k *queued) tellsDepthBefore() bool { return k.has&(SampleDepth|SampleDepthAtOut) == SampleDepth }

// is reports whether k and o are two reports of one packet. Their lengths may differ: a node that speaks of its queue
// alone does not say how long INT has made the packet.
func (k *queued) is(o *queued) bool {
	a, b := *k, *o
	a.has &^= sampleTwice
	b.has &^= sampleTwice
	a.bytes, b.bytes = 0, 0
	return a == b
}

// compareQueued sorts by the order in which packets came to the queue: of two at the same moment, the first found the
// queue shorter; of two reports of a packet, the longest comes first. The rest makes the order the same whatever the
// order of the reports was.
func compareQueued(a, b *queued) int {
	if a.in != b.in {
		return cmp.Compare(a.in, b.in)
	}
	if a.depth != b.depth {
		return cmp.Compare(a.depth, b.depth)
	}
	return cmp.Or(
		cmp.Compare(b.has&SampleDropped, a.has&SampleDropped), cmp.Compare(a.wait, b.wait), cmp.Compare(a.flow, b.flow),
		cmp.Compare(a.packet, b.packet), cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.source, b.source),
		cmp.Compare(a.every, b.every), cmp.Compare(a.has, b.has),
	)
}
