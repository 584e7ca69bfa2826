package report

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Bits of Metadata.Bits: which fields are present, numbered as RepMdBits of TR 2.0 §3.3.1 (bit n is 0x8000 >> n). Bits
// 0 and 9 to 14 are reserved there.
const (
	MDInterfaces   uint16 = 0x4000 // bit 1, 4 bytes: IngressPort, EgressPort
	MDHopLatency   uint16 = 0x2000 // bit 2, 4 bytes
	MDQueue        uint16 = 0x1000 // bit 3, 4 bytes: QueueID, QueueOccupancy
	MDIngressTS    uint16 = 0x0800 // bit 4, 8 bytes
	MDEgressTS     uint16 = 0x0400 // bit 5, 8 bytes (TR 1.0: 4)
	MDL2Interfaces uint16 = 0x0200 // bit 6, 8 bytes: L2Ingress, L2Egress
	MDTxUtil       uint16 = 0x0100 // bit 7, 4 bytes
	MDBuffer       uint16 = 0x0080 // bit 8, 4 bytes: BufferID, BufferOccupancy
	MDDrop         uint16 = 0x0001 // bit 15, 4 bytes: DropQueueID, DropReason
)

const (
	mdBit0     uint16 = 0x8000
	mdBits9_14 uint16 = 0x007E
	mdReserved        = mdBit0 | mdBits9_14
	mdWide            = MDIngressTS | MDEgressTS | MDL2Interfaces // 8 bytes each
)

// Metadata is what the reporting node says about itself in the report header: the same struct for TR 1.0 §3.2 and TR
// 2.0 §3.3.1, so that a reader does not care which version brought it. A field is meaningful if its bit in Bits is set
// and its bit in Invalid is not.
type Metadata struct {
	Bits            uint16 // the fields that are present, MDInterfaces and so on; a clear bit's fields are zero
	IngressPort     uint16 // level 1 ingress interface
	EgressPort      uint16 // level 1 egress interface
	HopLatency      uint32
	QueueID         uint8
	QueueOccupancy  uint32 // 24 bits
	IngressTS       uint64
	EgressTS        uint64 // 32 bits in TR 1.0
	L2Ingress       uint32 // level 2 ingress interface
	L2Egress        uint32 // level 2 egress interface
	TxUtil          uint32 // egress port tx utilization
	BufferID        uint8
	BufferOccupancy uint32 // 24 bits
	DropQueueID     uint8  // the queue id that stands beside DropReason
	DropReason      uint8  // its meaning depends on the sender, see DropReasons

	// Reserved holds the words of reserved bits of TR 2.0: index 0 is bit 0, indexes 1 to 6 are bits 9 to 14.
	Reserved [8]uint32

	// Invalid is the subset of Bits whose value is all ones on the wire: the node could not tell. All ones means the
	// whole value of 4 or 8 bytes; a port of 0xFFFF beside another port is a port. Decode sets it. Append derives all
	// ones from the fields and needs Invalid only for the padding behind the drop reason.
	Invalid uint16
}

// MDWords returns how many words the fields in mdBits (see Metadata.Bits) take in a report of version 2.0: the part of
// V20.MDLength that is not domain specific. A reserved bit counts as one word.
func MDWords(mdBits uint16) int {
	return bits.OnesCount16(mdBits) + bits.OnesCount16(mdBits&mdWide)
}

// word loads the first word of b and notes in Invalid if the value of field is all ones.
func (m *Metadata) word(b []byte, field uint16) uint32 {
	w := binary.BigEndian.Uint32(b)
	if w == math.MaxUint32 {
		m.Invalid |= field
	}
	return w
}

// doubleWord is word for a field of 8 bytes.
func (m *Metadata) doubleWord(b []byte, field uint16) uint64 {
	w := binary.BigEndian.Uint64(b)
	if w == math.MaxUint64 {
		m.Invalid |= field
	}
	return w
}

func (m *Metadata) setInterfaces(w uint32) {
	m.IngressPort, m.EgressPort = uint16(w>>16), uint16(w)
}

func (m *Metadata) setQueue(w uint32) {
	m.QueueID, m.QueueOccupancy = uint8(w>>24), w&0xFFFFFF
}

func (m *Metadata) setDrop(w uint32) {
	m.DropQueueID, m.DropReason = uint8(w>>24), uint8(w>>16)
}

func (m *Metadata) appendInterfaces(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, m.IngressPort)
	return binary.BigEndian.AppendUint16(b, m.EgressPort)
}

func (m *Metadata) appendQueue(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(m.QueueID)<<24|m.QueueOccupancy&0xFFFFFF)
}

// appendDrop pads with ones if the word is invalid: only a whole word of ones says so.
func (m *Metadata) appendDrop(b []byte) []byte {
	if m.Invalid&MDDrop != 0 {
		return append(b, m.DropQueueID, m.DropReason, 0xFF, 0xFF)
	}
	return append(b, m.DropQueueID, m.DropReason, 0, 0)
}
