package report

import (
	"encoding/binary"
	"math/bits"
)

// Bits of V10.RepMdBits (TR 1.0 §3.2): other positions and another order than in TR 2.0, one word each.
const (
	V10Interfaces uint8 = 0x20 // bit 0
	V10HopLatency uint8 = 0x10 // bit 1
	V10Queue      uint8 = 0x08 // bit 2
	V10EgressTS   uint8 = 0x04 // bit 3
	V10Drop       uint8 = 0x02 // bit 4
	V10TxUtil     uint8 = 0x01 // bit 5
)

// mdInV10 are the fields of Metadata that TR 1.0 has.
const mdInV10 = MDInterfaces | MDHopLatency | MDQueue | MDEgressTS | MDDrop | MDTxUtil

// decodeV10 reads the fields that repMdBits announces, in their order. m is the zero Metadata, b holds one word for
// each bit.
func (m *Metadata) decodeV10(b []byte, repMdBits uint8) {
	off := 0
	if repMdBits&V10Interfaces != 0 {
		m.Bits |= MDInterfaces
		m.setInterfaces(m.word(b, MDInterfaces))
		off = 4
	}
	if repMdBits&V10HopLatency != 0 {
		m.Bits |= MDHopLatency
		m.HopLatency = m.word(b[off:], MDHopLatency)
		off += 4
	}
	if repMdBits&V10Queue != 0 {
		m.Bits |= MDQueue
		m.setQueue(m.word(b[off:], MDQueue))
		off += 4
	}
	if repMdBits&V10EgressTS != 0 {
		m.Bits |= MDEgressTS
		m.EgressTS = uint64(m.word(b[off:], MDEgressTS))
		off += 4
	}
	if repMdBits&V10Drop != 0 {
		m.Bits |= MDDrop
		m.setDrop(m.word(b[off:], MDDrop))
		off += 4
	}
	if repMdBits&V10TxUtil != 0 {
		m.Bits |= MDTxUtil
		m.TxUtil = m.word(b[off:], MDTxUtil)
	}
}

// Bits of V10.RepMdBits in the proposal of January 2018. The other two have no meaning.
const (
	january2018Interfaces uint8 = 0x20 // bit 0
	january2018Queue      uint8 = 0x10 // bit 1
	january2018EgressTS   uint8 = 0x08 // bit 2
	january2018Drop       uint8 = 0x04 // bit 3
)

// decodeJanuary2018 is decodeV10 for the proposal of January 2018.
func (m *Metadata) decodeJanuary2018(b []byte, repBits uint8) {
	for _, bit := range [...]uint8{january2018Interfaces, january2018Queue, january2018EgressTS, january2018Drop} {
		if repBits&bit == 0 {
			continue
		}
		switch bit {
		case january2018Interfaces:
			m.Bits |= MDInterfaces
			m.setInterfaces(m.word(b, MDInterfaces))
		case january2018Queue:
			m.Bits |= MDQueue
			m.setQueue(m.word(b, MDQueue))
		case january2018EgressTS:
			m.Bits |= MDEgressTS
			m.EgressTS = uint64(m.word(b, MDEgressTS))
		case january2018Drop:
			m.Bits |= MDDrop
			m.setDrop(m.word(b, MDDrop))
		}
		b = b[4:]
	}
}

// appendV10 appends the fields in Bits that TR 1.0 has, in its order.
func (m *Metadata) appendV10(b []byte) []byte {
	if m.Bits&MDInterfaces != 0 {
		b = m.appendInterfaces(b)
	}
	if m.Bits&MDHopLatency != 0 {
		b = binary.BigEndian.AppendUint32(b, m.HopLatency)
	}
	if m.Bits&MDQueue != 0 {
		b = m.appendQueue(b)
	}
	if m.Bits&MDEgressTS != 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(m.EgressTS))
	}
	if m.Bits&MDDrop != 0 {
		b = m.appendDrop(b)
	}
	if m.Bits&MDTxUtil != 0 {
		b = binary.BigEndian.AppendUint32(b, m.TxUtil)
	}
	return b
}

// lenV10 returns how many bytes appendV10 appends.
func (m *Metadata) lenV10() int { return 4 * bits.OnesCount16(m.Bits&mdInV10) }
