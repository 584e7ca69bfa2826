package inband

import "encoding/binary"

// longTimestamps reports whether timestamps have 8 bytes.
func (l *Layout) longTimestamps() bool {
	return l.format != Format05 && l.format != Format10 && l.format != Format10Short
}

// shortL2 reports whether level 2 interfaces have 2 bytes each.
func (l *Layout) shortL2() bool { return l.format == Format10Long || l.format == Format10Short }

// is05 reports whether bit 6 is queue congestion and bit 15 reserved.
func (l *Layout) is05() bool { return l.format == Format05 || l.format == Format05Long }

// decodeWords reads a record of any format but 2016; b has at least l.len bytes.
// It is the hot path of a collector: one branch per instruction bit, no loop, no table.
func (l *Layout) decodeWords(b []byte, m *Metadata) {
	var has, invalid Fields
	bitmap, off := l.bitmap, 0
	if bitmap&insNodeID != 0 {
		m.NodeID = binary.BigEndian.Uint32(b)
		has |= NodeID
		invalid |= ifOnes32(m.NodeID, NodeID)
		off += 4
	}
	if bitmap&insL1 != 0 {
		v := binary.BigEndian.Uint32(b[off:])
		m.L1Ingress, m.L1Egress = v>>16, v&0xFFFF
		has |= L1Ingress | L1Egress
		invalid |= ifOnes32(v, L1Ingress|L1Egress)
		off += 4
	}
	if bitmap&insHopLatency != 0 {
		m.HopLatency = binary.BigEndian.Uint32(b[off:])
		has |= HopLatency
		invalid |= ifOnes32(m.HopLatency, HopLatency)
		off += 4
	}
	if bitmap&insQueue != 0 {
		v := binary.BigEndian.Uint32(b[off:])
		m.QueueID, m.QueueOccupancy = uint8(v>>24), v&notAvailable24
		has |= QueueID | QueueOccupancy
		invalid |= ifOnes32(v, QueueID|QueueOccupancy)
		off += 4
	}
	if bitmap&(insIngressTS|insEgressTS) != 0 {
		width, none := 4, uint64(notAvailable32)
		if l.longTimestamps() {
			width, none = 8, notAvailable64
		}
		if bitmap&insIngressTS != 0 {
			m.IngressTS = timestamp(b[off:], width)
			has |= IngressTS
			if m.IngressTS == none {
				invalid |= IngressTS
			}
			off += width
		}
		if bitmap&insEgressTS != 0 {
			m.EgressTS = timestamp(b[off:], width)
			has |= EgressTS
			if m.EgressTS == none {
				invalid |= EgressTS
			}
			off += width
		}
	}
	if bitmap&insL2 != 0 {
		switch {
		case l.is05():
			has, invalid = decodeCongestion(binary.BigEndian.Uint32(b[off:]), m, has, invalid)
			off += 4
		case l.shortL2():
			v := binary.BigEndian.Uint32(b[off:])
			m.L2Ingress, m.L2Egress = v>>16, v&0xFFFF
			has |= L2Ingress | L2Egress
			invalid |= ifOnes32(v, L2Ingress|L2Egress)
			off += 4
		default:
			v := binary.BigEndian.Uint64(b[off:])
			m.L2Ingress, m.L2Egress = uint32(v>>32), uint32(v)
			has |= L2Ingress | L2Egress
			invalid |= ifOnes64(v, L2Ingress|L2Egress)
			off += 8
		}
	}
	if bitmap&insTxUtil != 0 {
		m.EgressTxUtil = binary.BigEndian.Uint32(b[off:])
		has |= EgressTxUtil
		invalid |= ifOnes32(m.EgressTxUtil, EgressTxUtil)
		off += 4
	}
	if bitmap&insBuffer != 0 {
		if l.format == Format20 {
			v := binary.BigEndian.Uint32(b[off:])
			m.BufferID, m.BufferOccupancy = uint8(v>>24), v&notAvailable24
			has |= BufferID | BufferOccupancy
			invalid |= ifOnes32(v, BufferID|BufferOccupancy)
		}
		off += 4
	}
	if bitmap&insReserved != 0 {
		for i := range m.Reserved {
			if bitmap&(0x8000>>(9+i)) != 0 {
				m.Reserved[i] = binary.BigEndian.Uint32(b[off:])
				off += 4
			}
		}
	}
	if bitmap&insComplement != 0 && !l.is05() {
		m.Complement = binary.BigEndian.Uint32(b[len(b)-4:])
		has |= Complement
	}
	m.Has, m.Invalid = has, invalid
}

// ifOnes32 returns f if the word v is not available.
func ifOnes32(v uint32, f Fields) Fields {
	if v == notAvailable32 {
		return f
	}
	return 0
}

// ifOnes64 returns f if the double word v is not available.
func ifOnes64(v uint64, f Fields) Fields {
	if v == notAvailable64 {
		return f
	}
	return 0
}

func timestamp(b []byte, width int) uint64 {
	if width == 8 {
		return binary.BigEndian.Uint64(b)
	}
	return uint64(binary.BigEndian.Uint32(b))
}

// decodeCongestion reads bit 6 of INT 0.5. Its word names the queue again; the name from bit 3 stays if this one is not
// available.
func decodeCongestion(v uint32, m *Metadata, has, invalid Fields) (Fields, Fields) {
	m.QueueCongestion = v & notAvailable24
	switch {
	case v != notAvailable32:
		m.QueueID = uint8(v >> 24)
		invalid &^= QueueID
	case has&QueueID == 0:
		m.QueueID = uint8(v >> 24)
		invalid |= QueueID | QueueCongestion
	default:
		invalid |= QueueCongestion
	}
	return has | QueueID | QueueCongestion, invalid
}

// appendWords appends a record of any format but 2016, with ds before the complement.
func (l *Layout) appendWords(dst []byte, m *Metadata, ds []byte) []byte {
	bitmap, known := l.bitmap, m.Has&^m.Invalid
	if bitmap&insNodeID != 0 {
		dst = binary.BigEndian.AppendUint32(dst, known.pick(NodeID, m.NodeID))
	}
	if bitmap&insL1 != 0 {
		dst = binary.BigEndian.AppendUint32(dst,
			known.pick(L1Ingress, m.L1Ingress)<<16|known.pick(L1Egress, m.L1Egress)&0xFFFF)
	}
	if bitmap&insHopLatency != 0 {
		dst = binary.BigEndian.AppendUint32(dst, known.pick(HopLatency, m.HopLatency))
	}
	if bitmap&insQueue != 0 {
		dst = appendSplit24(dst, known.pick(QueueID, uint32(m.QueueID)), known.pick(QueueOccupancy, m.QueueOccupancy))
	}
	if bitmap&insIngressTS != 0 {
		dst = l.appendTimestamp(dst, m.IngressTS, known&IngressTS != 0)
	}
	if bitmap&insEgressTS != 0 {
		dst = l.appendTimestamp(dst, m.EgressTS, known&EgressTS != 0)
	}
	if bitmap&insL2 != 0 {
		ingress, egress := known.pick(L2Ingress, m.L2Ingress), known.pick(L2Egress, m.L2Egress)
		switch {
		case l.is05():
			dst = appendSplit24(dst, known.pick(QueueID, uint32(m.QueueID)),
				known.pick(QueueCongestion, m.QueueCongestion))
		case l.shortL2():
			dst = binary.BigEndian.AppendUint32(dst, ingress<<16|egress&0xFFFF)
		default:
			dst = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(dst, ingress), egress)
		}
	}
	if bitmap&insTxUtil != 0 {
		dst = binary.BigEndian.AppendUint32(dst, known.pick(EgressTxUtil, m.EgressTxUtil))
	}
	if bitmap&insBuffer != 0 {
		if l.format != Format20 {
			known &^= BufferID | BufferOccupancy
		}
		dst = appendSplit24(dst, known.pick(BufferID, uint32(m.BufferID)),
			known.pick(BufferOccupancy, m.BufferOccupancy))
	}
	for reserved := bitmap & insReserved; reserved != 0; reserved &= reserved - 1 {
		dst = binary.BigEndian.AppendUint32(dst, notAvailable32)
	}
	dst = append(dst, ds...)
	if bitmap&insComplement != 0 {
		if l.is05() {
			known &^= Complement
		}
		dst = binary.BigEndian.AppendUint32(dst, known.pick(Complement, m.Complement))
	}
	return dst
}

// pick returns v if f is in s, or else all ones.
func (s Fields) pick(f Fields, v uint32) uint32 {
	if s&f == 0 {
		return notAvailable32
	}
	return v
}

// appendSplit24 appends a word of 8 and 24 bits.
func appendSplit24(dst []byte, id, value uint32) []byte {
	return binary.BigEndian.AppendUint32(dst, id<<24|value&notAvailable24)
}

func (l *Layout) appendTimestamp(dst []byte, ts uint64, known bool) []byte {
	if !known {
		ts = notAvailable64
	}
	if l.longTimestamps() {
		return binary.BigEndian.AppendUint64(dst, ts)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(ts))
}
