package inband

import "encoding/binary"

// fields2016 is the value of each instruction bit of INT 2016 (§5.3.3).
var fields2016 = [8]Fields{
	NodeID, L1Ingress, HopLatency, QueueOccupancy, IngressTS, L1Egress, QueueCongestion, EgressTxUtil,
}

// decode2016 reads a record of format 2016; b has at least l.len bytes.
func (l *Layout) decode2016(b []byte, m *Metadata) {
	m.Has, m.Invalid = 0, 0
	for bit, field := range fields2016 {
		if l.bitmap&(0x8000>>bit) == 0 {
			continue
		}
		v := binary.BigEndian.Uint32(b) & notAvailable31
		b = b[4:]
		m.Has |= field
		if v == notAvailable31 {
			m.Invalid |= field
		}
		switch field {
		case NodeID:
			m.NodeID = v
		case L1Ingress:
			m.L1Ingress = v
		case HopLatency:
			m.HopLatency = v
		case QueueOccupancy:
			m.QueueOccupancy = v
		case IngressTS:
			m.IngressTS = uint64(v)
		case L1Egress:
			m.L1Egress = v
		case QueueCongestion:
			m.QueueCongestion = v
		case EgressTxUtil:
			m.EgressTxUtil = v
		}
	}
}

func (l *Layout) append2016(dst []byte, m *Metadata) []byte {
	values := [len(fields2016)]uint32{
		m.NodeID, m.L1Ingress, m.HopLatency, m.QueueOccupancy,
		uint32(m.IngressTS), m.L1Egress, m.QueueCongestion, m.EgressTxUtil,
	}
	for bit := range 16 {
		if l.bitmap&(0x8000>>bit) == 0 {
			continue
		}
		v := uint32(notAvailable31)
		if bit < len(values) && m.Has&^m.Invalid&fields2016[bit] != 0 {
			v = values[bit]
		}
		dst = binary.BigEndian.AppendUint32(dst, v&notAvailable31)
	}
	return dst
}
