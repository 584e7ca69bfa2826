package ioam

import "math/bits"

// Bits of the 24 bit IOAM-Trace-Type: the data fields that each node adds, in this order (RFC 9197 §4.4.1). A source
// leaves the undefined bits and bit 23 zero.
const (
	BitHopLimitNodeID     = 0x800000 // bit 0
	BitInterfaces         = 0x400000
	BitTsSec              = 0x200000
	BitTsFrac             = 0x100000
	BitTransitDelay       = 0x080000
	BitNSData             = 0x040000
	BitQueueDepth         = 0x020000
	BitComplement         = 0x010000
	BitHopLimitNodeIDWide = 0x008000 // bit 8
	BitInterfacesWide     = 0x004000
	BitNSDataWide         = 0x002000
	BitBufferOccupancy    = 0x001000
	BitsUndefined         = 0x000ffc // bits 12 to 21
	BitSnapshot           = 0x000002 // bit 22; bit 23 is reserved and stands for no field
)

const (
	bitUndefined12 = 0x000800 // the first of BitsUndefined
	bitsWide       = BitHopLimitNodeIDWide | BitInterfacesWide | BitNSDataWide
	bitsShort      = 0xff0000 | BitBufferOccupancy | BitsUndefined
	traceTypeMask  = 0xffffff
	bitsKnown      = bitsShort | bitsWide | BitSnapshot
)

// NodeLen returns the words of 4 bytes that a node adds for traceType, the opaque state snapshot not counted:
// what the NodeLen field of a Trace must hold (RFC 9197 §4.4.1). It is between 0 and 25.
func NodeLen(traceType uint32) int {
	return bits.OnesCount32(traceType&bitsShort) + 2*bits.OnesCount32(traceType&bitsWide)
}
