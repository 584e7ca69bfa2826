package inband

// A Metadata is what one node put on the stack. Units of latency, timestamps, occupancy and utilization are not defined
// by the specifications: they are the node's own.
//
// Has is what the record carried, Invalid the part of it that the node marked as not available. A field outside Has has
// no meaning: Layout.Decode leaves there what the struct held before.
type Metadata struct {
	Has     Fields
	Invalid Fields

	NodeID          uint32 // switch id up to INT 1.0
	L1Ingress       uint32 // level 1 (physical) interface, 16 bits; June 2016: ingress port, 31 bits
	L1Egress        uint32 // level 1 (physical) interface, 16 bits; June 2016: egress port, 31 bits
	HopLatency      uint32
	QueueID         uint8
	QueueOccupancy  uint32 // 24 bits; June 2016: 31 bits
	QueueCongestion uint32 // 24 bits; June 2016: 31 bits; from INT 1.0 on there is none
	IngressTS       uint64 // 64 bits from INT 2.0 on, 32 bits before
	EgressTS        uint64 // 64 bits from INT 2.0 on, 32 bits before
	L2Ingress       uint32 // level 2 (logical) interface; Format10Long: 16 bits
	L2Egress        uint32 // level 2 (logical) interface; Format10Long: 16 bits
	EgressTxUtil    uint32
	BufferID        uint8
	BufferOccupancy uint32    // 24 bits
	Complement      uint32    // checksum complement; never Invalid: all ones mean that it was not used
	Reserved        [6]uint32 // the words of reserved instruction bits 9-14; the bitmap says which are there
}
