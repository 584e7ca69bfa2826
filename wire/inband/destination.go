package inband

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const destinationLen = 8

// A Destination is what a source of Waybill tells the sink in a destination header: which packet of its flow it is, and
// the TTL that it came with (INT 2016 §4.1, INT 2.1 §5.1). The documents have the purpose and no format. This one
// begins with a version that no other header has, so that nobody takes it for a metadata header.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|Ver=15 |S|T|0 0|  Original TTL |           Reserved            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Sequence Number                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Destination struct {
	HasSequence, HasTTL bool   // S and T: the source has filled them in
	TTL                 uint8  // of the outermost IP header, as the packet came to the source
	Sequence            uint32 // of the packet in its flow: one more for each into which the source put INT
}

// Values of byte 0.
const (
	destinationVersion = 0xF0
	destinationFlagS   = 0x08
	destinationFlagT   = 0x04
)

// Decode reads d from the front of b and returns 8. Errors are [wire.ErrINTHeaderTruncated], and
// [wire.ErrUnknownINTVersion] for the contents of another destination header.
func (d *Destination) Decode(b []byte) (int, error) {
	*d = Destination{}
	if len(b) < destinationLen {
		return 0, wire.ErrINTHeaderTruncated
	}
	if b[0]&0xF0 != destinationVersion {
		return 0, wire.ErrUnknownINTVersion
	}
	d.HasSequence, d.HasTTL = b[0]&destinationFlagS != 0, b[0]&destinationFlagT != 0
	d.TTL, d.Sequence = b[1], binary.BigEndian.Uint32(b[4:])
	return destinationLen, nil
}

// Append appends the 8 bytes of d to b.
func (d *Destination) Append(b []byte) []byte {
	first := byte(destinationVersion)
	if d.HasSequence {
		first |= destinationFlagS
	}
	if d.HasTTL {
		first |= destinationFlagT
	}
	return binary.BigEndian.AppendUint32(append(b, first, d.TTL, 0, 0), d.Sequence)
}

// Len returns 8.
func (d *Destination) Len() int { return destinationLen }
