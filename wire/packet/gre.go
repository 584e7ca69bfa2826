package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	greLen         = 4 // without optional words
	greWordLen     = 4 // each optional word
	greChecksum    = 0x8000
	greRouting     = 0x4000
	greKey         = 0x2000
	greSequence    = 0x1000
	greVersionMask = 0x0007
)

// A GRE is a GRE header of version 0, 4 to 16 bytes (RFC 2784 §2.1, Key and Sequence RFC 2890 §2).
//
//	+-+-+-+-+-----------------+-----+-------------------------------+
//	|C|R|K|S|    Reserved0    | Ver |           Protocol            |
//	+-+-+-+-+-----------------+-----+-------------------------------+
//	|     Checksum (if C is set)    |           Reserved1           |
//	+-------------------------------+-------------------------------+
//	|                      Key (if K is set)                        |
//	+---------------------------------------------------------------+
//	|                   Sequence (if S is set)                      |
//	+---------------------------------------------------------------+
type GRE struct {
	HasChecksum, HasKey, HasSequence bool   // C, K, S
	Protocol                         uint16 // EtherType of the payload
	Checksum                         uint16 // of header and payload; 0 if not HasChecksum
	Key, Sequence                    uint32 // 0 if not HasKey, HasSequence
}

// Decode reads h from the front of b and returns its length. Errors: ErrTruncatedGRE; ErrGREVersion (1 is PPTP);
// ErrGRERouting for the R bit of RFC 1701, behind which a list of unknown length would follow. C, K, S and Protocol are
// filled if the first 4 bytes are there. Reserved0 is ignored.
func (h *GRE) Decode(b []byte) (int, error) {
	*h = GRE{}
	if len(b) < greLen {
		return 0, wire.ErrTruncatedGRE
	}
	flags := binary.BigEndian.Uint16(b)
	h.HasChecksum = flags&greChecksum != 0
	h.HasKey = flags&greKey != 0
	h.HasSequence = flags&greSequence != 0
	h.Protocol = binary.BigEndian.Uint16(b[2:])
	if flags&greVersionMask != 0 {
		return 0, wire.ErrGREVersion
	}
	if flags&greRouting != 0 {
		return 0, wire.ErrGRERouting
	}
	n := h.Len()
	if len(b) < n {
		return 0, wire.ErrTruncatedGRE
	}
	optional := b[greLen:n]
	if h.HasChecksum {
		h.Checksum = binary.BigEndian.Uint16(optional)
		optional = optional[greWordLen:]
	}
	if h.HasKey {
		h.Key = binary.BigEndian.Uint32(optional)
		optional = optional[greWordLen:]
	}
	if h.HasSequence {
		h.Sequence = binary.BigEndian.Uint32(optional)
	}
	return n, nil
}

// Append appends h to b, with the optional words that it has.
func (h *GRE) Append(b []byte) []byte {
	var flags uint16
	if h.HasChecksum {
		flags |= greChecksum
	}
	if h.HasKey {
		flags |= greKey
	}
	if h.HasSequence {
		flags |= greSequence
	}
	b = binary.BigEndian.AppendUint16(b, flags)
	b = binary.BigEndian.AppendUint16(b, h.Protocol)
	if h.HasChecksum {
		b = binary.BigEndian.AppendUint16(b, h.Checksum)
		b = append(b, 0, 0)
	}
	if h.HasKey {
		b = binary.BigEndian.AppendUint32(b, h.Key)
	}
	if h.HasSequence {
		b = binary.BigEndian.AppendUint32(b, h.Sequence)
	}
	return b
}

// Len returns 4 plus 4 for each optional word that h has, in bytes.
func (h *GRE) Len() int {
	n := greLen
	if h.HasChecksum {
		n += greWordLen
	}
	if h.HasKey {
		n += greWordLen
	}
	if h.HasSequence {
		n += greWordLen
	}
	return n
}
