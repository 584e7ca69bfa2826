package report

import "encoding/binary"

// decodeV20 reads the fields in present, in bit order. m is the zero Metadata, b holds MDWords(present) words.
func (m *Metadata) decodeV20(b []byte, present uint16) {
	m.Bits = present
	off := 0
	if present&mdBit0 != 0 {
		m.Reserved[0] = m.word(b, mdBit0)
		off = 4
	}
	if present&MDInterfaces != 0 {
		m.setInterfaces(m.word(b[off:], MDInterfaces))
		off += 4
	}
	if present&MDHopLatency != 0 {
		m.HopLatency = m.word(b[off:], MDHopLatency)
		off += 4
	}
	if present&MDQueue != 0 {
		m.setQueue(m.word(b[off:], MDQueue))
		off += 4
	}
	if present&MDIngressTS != 0 {
		m.IngressTS = m.doubleWord(b[off:], MDIngressTS)
		off += 8
	}
	if present&MDEgressTS != 0 {
		m.EgressTS = m.doubleWord(b[off:], MDEgressTS)
		off += 8
	}
	if present&MDL2Interfaces != 0 {
		l2 := m.doubleWord(b[off:], MDL2Interfaces)
		m.L2Ingress, m.L2Egress = uint32(l2>>32), uint32(l2)
		off += 8
	}
	if present&MDTxUtil != 0 {
		m.TxUtil = m.word(b[off:], MDTxUtil)
		off += 4
	}
	if present&MDBuffer != 0 {
		w := m.word(b[off:], MDBuffer)
		m.BufferID, m.BufferOccupancy = uint8(w>>24), w&0xFFFFFF
		off += 4
	}
	if present&mdBits9_14 != 0 {
		for i := 1; i <= 6; i++ {
			if reserved := MDBuffer >> i; present&reserved != 0 {
				m.Reserved[i] = m.word(b[off:], reserved)
				off += 4
			}
		}
	}
	if present&MDDrop != 0 {
		m.setDrop(m.word(b[off:], MDDrop))
	}
}

// appendV20 appends the fields in Bits, in bit order.
func (m *Metadata) appendV20(b []byte) []byte {
	if m.Bits&mdBit0 != 0 {
		b = binary.BigEndian.AppendUint32(b, m.Reserved[0])
	}
	if m.Bits&MDInterfaces != 0 {
		b = m.appendInterfaces(b)
	}
	if m.Bits&MDHopLatency != 0 {
		b = binary.BigEndian.AppendUint32(b, m.HopLatency)
	}
	if m.Bits&MDQueue != 0 {
		b = m.appendQueue(b)
	}
	if m.Bits&MDIngressTS != 0 {
		b = binary.BigEndian.AppendUint64(b, m.IngressTS)
	}
	if m.Bits&MDEgressTS != 0 {
		b = binary.BigEndian.AppendUint64(b, m.EgressTS)
	}
	if m.Bits&MDL2Interfaces != 0 {
		b = binary.BigEndian.AppendUint32(b, m.L2Ingress)
		b = binary.BigEndian.AppendUint32(b, m.L2Egress)
	}
	if m.Bits&MDTxUtil != 0 {
		b = binary.BigEndian.AppendUint32(b, m.TxUtil)
	}
	if m.Bits&MDBuffer != 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(m.BufferID)<<24|m.BufferOccupancy&0xFFFFFF)
	}
	for i := 1; i <= 6; i++ {
		if m.Bits&(MDBuffer>>i) != 0 {
			b = binary.BigEndian.AppendUint32(b, m.Reserved[i])
		}
	}
	if m.Bits&MDDrop != 0 {
		b = m.appendDrop(b)
	}
	return b
}
