package ioam

import "github.com/waybill-int/waybill/wire"

// Values that say "not available" for one of two values in a word. Node.Unavailable covers all other fields.
const (
	NoInterface     = 0xffff     // IngressIf, EgressIf
	NoInterfaceWide = 0xffffffff // IngressIfWide, EgressIfWide
)

// TransitDelayOverflow is set in TransitDelay when the delay did not fit in the other 31 bits (RFC 9197 §4.4.2).
const TransitDelayOverflow = 0x80000000

const (
	allOnes        = 0xffffffff
	allOnes64      = 0xffffffffffffffff
	nodeIDMask     = 0xffffff
	nodeIDWideMask = 0xffffffffffffff
)

// A Node is the record that one node adds to the data space of a trace (RFC 9197 §4.4.2). The trace type, not the
// record, says which fields are there; they stand in the order of the bits.
//
//	bit 0   |   Hop_Lim     |              node_id                  |
//	bit 1   |     ingress_if_id             |         egress_if_id  |
//	bit 2-7 |   one word each                                       |
//	bit 8   |   Hop_Lim     |              node_id (56 bits)      ~  |
//	bit 9   |     ingress_if_id (32 bits)   | egress_if_id (32)  ~  |
//	bit 10  |   namespace specific (64 bits)                     ~  |
//	bit 11- |   one word each                                       |
//	bit 22  |   Snapshot                                         ~  |
//
// The formats of the timestamps and the units of the queue depth and buffer occupancy belong to the namespace; they
// are not on the wire.
type Node struct {
	Has uint32 // trace type bits whose fields are in this record; set by Decode

	HopLimit     uint8
	NodeID       uint32 // 24 bits
	IngressIf    uint16
	EgressIf     uint16
	TsSec        uint32 // seconds of PTP, NTP or POSIX time
	TsFrac       uint32 // ns (PTP), 2^-32 s (NTP) or µs (POSIX)
	TransitDelay uint32 // ns, see TransitDelayOverflow
	NSData       uint32 // meaning defined by the namespace
	QueueDepth   uint32
	Complement   uint32 // checksum complement

	HopLimitWide  uint8
	NodeIDWide    uint64 // 56 bits
	IngressIfWide uint32
	EgressIfWide  uint32
	NSDataWide    uint64

	BufferOccupancy uint32
	Undefined       [10]uint32 // bits 12 to 21
	Snapshot        Snapshot

	// Unavailable holds the trace type bits of the fields for which the node had no value. Decode sets them and leaves
	// the value of the wire (all ones) in the field. Append writes all ones for them, whatever the field holds; hop
	// limits have no such value. The interface bits stand for both interfaces together.
	Unavailable uint32
}

// Decode reads n from the front of b as a record of traceType. It returns wire.ErrTruncatedIOAM if b ends before the
// snapshot's data and wire.ErrIOAMSnapshotOverrun if it ends inside them. Snapshot.Data is a view into b.
func (n *Node) Decode(b []byte, traceType uint32) (int, error) {
	*n = Node{Has: traceType & bitsKnown}
	size := 4 * NodeLen(traceType)
	if len(b) < size {
		return 0, wire.ErrTruncatedIOAM
	}

	f := fieldReader{b: b[:size], has: n.Has}
	id := f.word(BitHopLimitNodeID, nodeIDMask)
	n.HopLimit, n.NodeID = uint8(id>>24), id&nodeIDMask
	interfaces := f.word(BitInterfaces, allOnes)
	n.IngressIf, n.EgressIf = uint16(interfaces>>16), uint16(interfaces)
	n.TsSec = f.word(BitTsSec, allOnes)
	n.TsFrac = f.word(BitTsFrac, allOnes)
	n.TransitDelay = f.word(BitTransitDelay, allOnes)
	n.NSData = f.word(BitNSData, allOnes)
	n.QueueDepth = f.word(BitQueueDepth, allOnes)
	n.Complement = f.word(BitComplement, allOnes)
	wide := f.double(BitHopLimitNodeIDWide, nodeIDWideMask)
	n.HopLimitWide, n.NodeIDWide = uint8(wide>>56), wide&nodeIDWideMask
	wide = f.double(BitInterfacesWide, allOnes64)
	n.IngressIfWide, n.EgressIfWide = uint32(wide>>32), uint32(wide)
	n.NSDataWide = f.double(BitNSDataWide, allOnes64)
	n.BufferOccupancy = f.word(BitBufferOccupancy, allOnes)
	for i := range n.Undefined {
		n.Undefined[i] = f.word(bitUndefined12>>i, allOnes)
	}
	n.Unavailable = f.unavailable

	if n.Has&BitSnapshot == 0 {
		return size, nil
	}
	snapshot, err := n.Snapshot.Decode(b[size:])
	if err != nil {
		return 0, err
	}
	if n.Snapshot.SchemaID == noSchema && n.Snapshot.Data == nil {
		n.Unavailable |= BitSnapshot
	}
	return size + snapshot, nil
}

// Append appends n as a record of traceType, LenFor(traceType) bytes. It does not look at n.Has.
func (n *Node) Append(b []byte, traceType uint32) []byte {
	f := fieldWriter{b: b, has: traceType, unavailable: n.Unavailable}
	f.word(BitHopLimitNodeID, uint32(n.HopLimit)<<24|n.NodeID&nodeIDMask, nodeIDMask)
	f.word(BitInterfaces, uint32(n.IngressIf)<<16|uint32(n.EgressIf), allOnes)
	f.word(BitTsSec, n.TsSec, allOnes)
	f.word(BitTsFrac, n.TsFrac, allOnes)
	f.word(BitTransitDelay, n.TransitDelay, allOnes)
	f.word(BitNSData, n.NSData, allOnes)
	f.word(BitQueueDepth, n.QueueDepth, allOnes)
	f.word(BitComplement, n.Complement, allOnes)
	f.double(BitHopLimitNodeIDWide, uint64(n.HopLimitWide)<<56|n.NodeIDWide&nodeIDWideMask, nodeIDWideMask)
	f.double(BitInterfacesWide, uint64(n.IngressIfWide)<<32|uint64(n.EgressIfWide), allOnes64)
	f.double(BitNSDataWide, n.NSDataWide, allOnes64)
	f.word(BitBufferOccupancy, n.BufferOccupancy, allOnes)
	for i, v := range n.Undefined {
		f.word(bitUndefined12>>i, v, allOnes)
	}
	if traceType&BitSnapshot == 0 {
		return f.b
	}
	snapshot := n.sentSnapshot()
	return snapshot.Append(f.b)
}

// LenFor returns the size in bytes of n as a record of traceType, a multiple of 4.
func (n *Node) LenFor(traceType uint32) int {
	size := 4 * NodeLen(traceType)
	if traceType&BitSnapshot == 0 {
		return size
	}
	snapshot := n.sentSnapshot()
	return size + snapshot.Len()
}

// sentSnapshot returns the snapshot that Append writes.
func (n *Node) sentSnapshot() Snapshot {
	if n.Unavailable&BitSnapshot != 0 {
		return Snapshot{SchemaID: noSchema}
	}
	return n.Snapshot
}
