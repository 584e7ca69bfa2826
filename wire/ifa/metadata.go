package ifa

import "github.com/waybill-int/waybill/wire"

// Bits of the Action Vector.
const (
	ActionLoss   = 0x80
	ActionColour = 0x40
)

const metadataLen = 4

// Metadata is the metadata header behind the transport header; the stack follows it (draft-kumar-ippm-ifa).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| Request Vector| Action Vector |   Hop Limit   | Current Length|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Metadata struct {
	RequestVector uint8
	ActionVector  uint8 // the Action constants
	HopLimit      uint8 // each node subtracts one; at 0 nobody adds
	CurrentLength uint8 // words of 4 bytes in the stack
}

// Decode reads m from the front of b. Fewer than 4 bytes are wire.ErrTruncatedIFA.
func (m *Metadata) Decode(b []byte) (int, error) {
	*m = Metadata{}
	if len(b) < metadataLen {
		return 0, wire.ErrTruncatedIFA
	}
	m.RequestVector, m.ActionVector, m.HopLimit, m.CurrentLength = b[0], b[1], b[2], b[3]
	return metadataLen, nil
}

// Append appends the 4 bytes of m.
func (m *Metadata) Append(b []byte) []byte {
	return append(b, m.RequestVector, m.ActionVector, m.HopLimit, m.CurrentLength)
}

// Len returns 4, without the stack.
func (m *Metadata) Len() int { return metadataLen }
