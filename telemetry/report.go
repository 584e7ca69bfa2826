package telemetry

import "github.com/waybill-int/waybill/wire/codepoint"

// Fields says which values a Hop carries.
type Fields uint32

// Fields of a Hop.
const (
	HasNode Fields = 1 << iota
	HasIngressPort
	HasEgressPort
	HasLatency
	HasDerivedLatency // the latency is egress minus ingress time, the device sent none
	HasQueue          // occupancy; the id is 0 where the version has none
	HasCongestion
	HasIngressTime
	HasEgressTime
	HasWideTimes // the times have 64 bits: they do not wrap
	HasL2Ports
	HasTxUtil
	HasBuffer
	HasDrop
	HasTTL
	HasMicroTimes // the times count microseconds: 32 bits wrap after 4295 s
	HasShortTimes // the times have 31 bits (INT of June 2016)
	queueUnitLow  // the unit of the occupancy, see QueueUnit
	queueUnitHigh
	HasDepthAtEgress // the occupancy is that when the packet left the queue
	useInHundredths  // the utilization counts hundredths of a percent, see UtilizationUnit
)

// A QueueUnit is what a device counts the occupancy of its queues in.
type QueueUnit = codepoint.QueueUnit

const queueUnitShift = 17 // of queueUnitLow

// InQueueUnit returns HasQueue for an occupancy in a unit: one of the four without a number.
func InQueueUnit(u QueueUnit) Fields {
	return HasQueue | Fields(u)<<queueUnitShift&(queueUnitLow|queueUnitHigh)
}

// queueOf returns HasQueue with what the dialect knows of occupancies.
func queueOf(d *codepoint.Dialect) Fields {
	f := InQueueUnit(d.QueueUnit)
	if d.DepthAtEgress {
		f |= HasDepthAtEgress
	}
	return f
}

// A UtilizationUnit is what a device tells the use of its egress ports in.
type UtilizationUnit = codepoint.UtilizationUnit

// InUtilizationUnit returns HasTxUtil for a utilization in a unit: unknown or HundredthsOfPercent.
func InUtilizationUnit(u UtilizationUnit) Fields {
	if u == codepoint.HundredthsOfPercent {
		return HasTxUtil | useInHundredths
	}
	return HasTxUtil
}

// UtilizationUnit returns the unit of the utilization, as the dialect of the report has it.
func (f Fields) UtilizationUnit() UtilizationUnit {
	if f&useInHundredths != 0 {
		return codepoint.HundredthsOfPercent
	}
	return 0
}

// QueueUnit returns the unit of the occupancy, as the dialect of the report has it.
func (f Fields) QueueUnit() QueueUnit {
	return QueueUnit(f & (queueUnitLow | queueUnitHigh) >> queueUnitShift)
}

// WrapNs returns after how many nanoseconds the stamps of a hop begin at 0 again; 0: 64 bits do not.
func (f Fields) WrapNs() uint64 {
	wrap := uint64(1) << 32
	switch {
	case f&HasWideTimes != 0:
		return 0
	case f&HasShortTimes != 0:
		wrap >>= 1
	}
	if f&HasMicroTimes != 0 {
		wrap *= 1000
	}
	return wrap
}

// A Hop is what one node told about one packet. Values whose bit in Has is clear are meaningless.
type Hop struct {
	Has                     Fields
	NodeID                  uint32
	IngressPort, EgressPort uint32 // level 1 interface ids
	L2Ingress, L2Egress     uint32 // level 2 interface ids
	LatencyNs               uint64 // residence time
	IngressNs, EgressNs     uint64 // the node's own clock; 32 bit counters wrap (4.29 s for ns)
	QueueOccupancy          uint32 // in the QueueUnit of Has
	Congestion              uint32 // INT 2016 and 0.5: queue congestion status
	TxUtil                  uint32 // in the UtilizationUnit of Has
	BufferOccupancy         uint32
	QueueID                 uint8
	BufferID                uint8
	DropReason              uint8 // of the dialect's table
	TTL                     uint8 // of the packet at this node, for postcards
}

// Version is the version of a telemetry report, or the protocol that stands for one.
type Version uint8

// Versions of telemetry reports.
const (
	Version05 Version = iota
	Version10
	Version20
	VersionSFlow // no telemetry report, but a datagram of sFlow 5, as with the next ones: see Observation
	VersionNetFlow9
	VersionIPFIX
)

func (v Version) String() string {
	return [...]string{"0.5", "1.0", "2.0", "sflow5", "netflow9", "ipfix"}[min(v, VersionIPFIX)]
}

// SequenceBits returns the width of the sequence number.
func (v Version) SequenceBits() int {
	if v == Version20 {
		return 22
	}
	return 32
}

// Flags of a report and of the INT header in its fragment.
type Flags uint32

// Flags.
const (
	Dropped      Flags = 1 << iota // D: the packet was dropped
	Congested                      // Q: a monitored queue was congested
	Tracked                        // F: the packet belongs to a tracked flow
	Intermediate                   // I: a transit node reports the stack so far (TR 2.0)
	Embedded                       // the fragment carries an INT stack or IOAM trace: Hops holds it (INT-MD)
	Instructed                     // the fragment carries INT instructions only (INT-MX)
	HopLimit                       // E of the INT header: the maximum hop count was reached
	MTUExceeded                    // M of the INT header
	// D of an INT 2.x header or C of an older one: a copy or probe, not delivered to the host
	Discard
	StackCut      // the report ends inside the stack: the oldest hops are missing or incomplete
	LaterFragment // an IP fragment without L4 header
	HasFlow       // Flow is known
	HasOuter      // Outer is known
	HasDevice     // Device is known
	DropSummary   // a report of many drops: DropCount, and DropKey or Flow, no packet
	// the checksum of the outermost IPv4 header in the fragment does not fit the header
	WrongChecksum
	CheckedL4       // the fragment has a whole packet, and its TCP or UDP checksum was looked at
	WrongL4Checksum // that one does not fit
	// DropCount goes on from report to report of the rule; else it counts since the last one
	DropTotal
	HasFlowSequence // FlowSequence is known
	// INT of June 2016 or 0.5: nodes with a slow path tell of the packet in a FollowUp, and their record is not in Hops
	SlowPaths
	// the fragment is what a node with a slow path sent after the packet: Hops ends with its record (INT 2016 §4.2)
	FollowUp
	HasFirstTTL // FirstTTL is known
	// FlowSequence counts packets that are not all reported: the sink tells of those that it misses in a DropSummary
	GapsReported
	Opening // a TCP packet that asks for a connection: SYN, and no ACK
	Copied  // beside Discard: a copy that a node made for another port (C, INT 2016 §5.3.3), which goes another way
	Sampled // Observed says which packets of the flow Local told of; that adds to no exact figure
)

// A Report is one telemetry report about one packet, whatever its version. A field that a flag announces is meaningless
// without the flag.
type Report struct {
	Version   Version
	HWID      uint8
	HasNodeID bool  // v0.5 without a local header names its node by the source address only
	TTL       uint8 // of the outermost IP header, whose path it is
	DSCP      uint8 // of the original packet, as far as known
	Flags     Flags
	NodeID    uint32 // the node that sent the report
	Sequence  uint32
	Account   uint32 // of the exporter, as Batch.Attribute notes it: of the socket in Batch.Origin, from 1 on; 0: none

	Flow  FlowKey // the innermost flow, with its tunnel
	Outer FlowKey // the flow that carries it, where HasOuter is set
	Bytes uint32  // IP length of the original packet, INT not counted; 0: unknown

	// INTBytes is how much longer INT has made the packet, RecordBytes how much of that each node in Hops has added.
	INTBytes    uint16
	RecordBytes uint8

	// StreamFrom and StreamTo are where the data of a TCP packet begins in the stream of its connection and where it
	// ends, without its end, as sequence numbers: they wrap. SYN and FIN count as a byte each (RFC 9293 §3.4). They are
	// equal if the packet has no data, if it resets the connection, or if the report does not tell.
	StreamFrom, StreamTo uint32

	// PacketID is the same for reports of one packet by several nodes and differs between packets of a flow as far as
	// IP id, TCP sequence number and the first bytes of the payload do.
	PacketID uint64

	ReportNs uint64 // ingress time of the report header, the node's clock; 0: not given
	Local    Hop    // what the node that sent the report said about itself; Has is 0 if nothing
	Hops     []Hop  // the embedded stack, source first

	Observed Observed // where Sampled is set

	DropReasons ReasonTable // that Local.DropReason is a number of, where Local has one

	Device    uint64 // Transparent Security source device id, where HasDevice is set
	DropKey   uint64 // Transparent Security drop report: hash of the rule
	DropCount uint32 // of a DropSummary: packets

	// FlowSequence is the number that the source gave the packet in its flow; of a DropSummary, that of the first
	// packet which is missing.
	FlowSequence uint32
	// FirstTTL is the TTL with which the packet came to the source: TTL is less by one for each router since, with INT
	// or without.
	FirstTTL uint8

	// Datagram is the UDP payload that the report came in. It is a view of what Decoder.Decode was given, or a copy in
	// the batch that the report was added to, of at most MaxDatagram bytes; nil where the batch did not keep it.
	Datagram []byte
}

// Is reports whether any of the flags is set.
func (r *Report) Is(f Flags) bool { return r.Flags&f != 0 }

// AddsLocal reports whether the node that sent r comes behind the stack (TR 2.0 §3.4): it is not the newest hop of it,
// and the newest hop says who it is.
func (r *Report) AddsLocal() bool {
	if r.Local.Has&HasNode == 0 {
		return false
	}
	if len(r.Hops) == 0 {
		return true
	}
	newest := &r.Hops[len(r.Hops)-1]
	if newest.Has&HasNode == 0 || newest.NodeID != r.Local.NodeID {
		return newest.Has&HasNode != 0
	}
	// In a loop, the last node that the hop limit let write may be this one, some rounds ago.
	return r.Is(HopLimit) && newest.Has&HasIngressTime != 0 && r.ReportNs != 0 && newest.IngressNs != r.ReportNs
}

// A Batch holds decoded Reports and owns the memory of their Hops. It is reused: Reset keeps its memory.
type Batch struct {
	Reports []Report
	// Counters are what devices count at their ports. Those of datagrams that came again are among them.
	Counters []CounterSample
	// Origin is where they came from. Reset clears it.
	Origin Origin
	// KeepDatagrams asks whoever adds reports to copy the datagrams of all of them; otherwise only those are copied
	// that show something rare by themselves. Reset keeps it.
	KeepDatagrams bool
	hops          []Hop
	datagrams     datagramCopies
}

// Reset empties the batch. Reports and Hops taken from it before are overwritten by what comes next.
func (b *Batch) Reset() {
	b.Reports, b.Counters, b.Origin = b.Reports[:0], b.Counters[:0], Origin{}
	b.hops = b.hops[:0]
	b.datagrams.reset()
}

// next returns a new Report at the end of the batch, with undefined content but no Hops.
func (b *Batch) next() *Report {
	if len(b.Reports) < cap(b.Reports) {
		b.Reports = b.Reports[:len(b.Reports)+1]
	} else {
		b.Reports = append(b.Reports, Report{})
	}
	return &b.Reports[len(b.Reports)-1]
}

// takeHops returns n Hops of the batch's memory, with undefined content.
func (b *Batch) takeHops(n int) []Hop {
	start := len(b.hops)
	if start+n > cap(b.hops) {
		// Hops handed out before stay where they are; the new block serves from now on.
		b.hops = make([]Hop, 0, max(2*cap(b.hops), 256, n))
		start = 0
	}
	b.hops = b.hops[:start+n]
	return b.hops[start : start+n : start+n]
}

// Add appends a copy of r, with its Hops, to the batch, and with its Datagram if that is to be kept.
func (b *Batch) Add(r *Report) {
	to := b.next()
	*to = *r
	if len(r.Hops) > 0 {
		to.Hops = b.takeHops(len(r.Hops))
		copy(to.Hops, r.Hops)
	}
	if b.KeepDatagrams || r.Is(HopLimit|MTUExceeded|WrongChecksum|WrongL4Checksum) {
		to.Datagram = b.datagrams.keep(r.Datagram)
	} else {
		to.Datagram = nil
	}
}
