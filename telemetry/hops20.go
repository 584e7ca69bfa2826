package telemetry

import "encoding/binary"

// hops20 fills hops, source first, from the records of recordLen bytes in stack, which bitmap says the content of. It
// does for the usual INT 2.x stack in one pass what inband.Layout.Decode and hop do in two; TestHops20 holds it to the
// same result. stack has len(hops)*recordLen bytes, and recordLen is what the bitmap asks for.
//
// Most sources ask for bits 0-3, 4-5 or both as a whole: those are read eight bytes at a time.
func (d *Decoder) hops20(hops []Hop, stack []byte, recordLen int, bitmap uint16) {
	timeUnit, latencyUnit := d.dialect.TimeUnit, d.dialect.LatencyUnit
	unit, queue := unitOf(timeUnit), queueOf(d.dialect)
	for i := len(hops) - 1; i >= 0; i-- { // the newest record comes first
		b := stack[:recordLen]
		stack = stack[recordLen:]
		h := &hops[i]
		h.QueueID = 0
		var has Fields
		switch {
		case bitmap&0xf000 == 0xf000:
			p := (*[16]byte)(b)
			first, second := binary.BigEndian.Uint64(p[:8]), binary.BigEndian.Uint64(p[8:])
			has = HasNode | HasIngressPort | HasEgressPort | HasLatency | queue
			h.NodeID = uint32(first >> 32)
			h.IngressPort, h.EgressPort = uint32(first>>16)&0xffff, uint32(first)&0xffff
			h.LatencyNs = second >> 32 * latencyUnit
			h.QueueID, h.QueueOccupancy = uint8(second>>24), uint32(second)&0xffffff
			if anyOnes(first) || anyOnes(second) {
				has &^= missing(first, HasNode, HasIngressPort|HasEgressPort) | missing(second, HasLatency, queue)
			}
			b = b[16:]
		case bitmap&0xf000 != 0:
			has, b = h.some20(b, bitmap, latencyUnit, queue)
		}
		switch {
		case bitmap&0x0c00 == 0x0c00 && has&HasLatency != 0:
			p := (*[16]byte)(b)
			ingress, egress := binary.BigEndian.Uint64(p[:8]), binary.BigEndian.Uint64(p[8:])
			h.IngressNs, h.EgressNs = ingress*timeUnit, egress*timeUnit
			has |= HasIngressTime | HasEgressTime | HasWideTimes
			if ingress == 1<<64-1 || egress == 1<<64-1 {
				has = has&^HasWideTimes&^HasIngressTime&^HasEgressTime | timesOf(ingress, egress)
			}
			b = b[16:]
		case bitmap&0x0c00 != 0:
			has, b = h.times20(has, b, bitmap, timeUnit)
		}
		if bitmap&0x0380 != 0 {
			has |= h.rare20(b, bitmap, d.dialect.UtilizationUnit)
		}
		if has&HasWideTimes != 0 {
			has |= unit
		}
		h.Has = has
	}
}

// timesOf returns the fields for those of two timestamps that are available.
func timesOf(ingress, egress uint64) (f Fields) {
	if ingress != 1<<64-1 {
		f = HasIngressTime | HasWideTimes
	}
	if egress != 1<<64-1 {
		f |= HasEgressTime | HasWideTimes
	}
	return f
}

const ones32 = 1<<32 - 1

// anyOnes reports whether one of the two words is all ones: not available.
func anyOnes(v uint64) bool { return v>>32 == ones32 || uint32(v) == ones32 }

// missing returns the fields of those words of v that are all ones.
func missing(v uint64, high, low Fields) (f Fields) {
	if v>>32 == ones32 {
		f = high
	}
	if uint32(v) == ones32 {
		f |= low
	}
	return f
}

// some20 reads what bitmap asks for of node id, level 1 interfaces, latency and queue.
func (h *Hop) some20(b []byte, bitmap uint16, latencyUnit uint64, queue Fields) (has Fields, rest []byte) {
	if bitmap&0x8000 != 0 {
		if v := binary.BigEndian.Uint32(b); v != ones32 {
			has |= HasNode
			h.NodeID = v
		}
		b = b[4:]
	}
	if bitmap&0x4000 != 0 {
		if v := binary.BigEndian.Uint32(b); v != ones32 {
			has |= HasIngressPort | HasEgressPort
			h.IngressPort, h.EgressPort = v>>16, v&0xffff
		}
		b = b[4:]
	}
	if bitmap&0x2000 != 0 {
		if v := binary.BigEndian.Uint32(b); v != ones32 {
			has |= HasLatency
			h.LatencyNs = uint64(v) * latencyUnit
		}
		b = b[4:]
	}
	if bitmap&0x1000 != 0 {
		if v := binary.BigEndian.Uint32(b); v != ones32 {
			has |= queue
			h.QueueID, h.QueueOccupancy = uint8(v>>24), v&0xffffff
		}
		b = b[4:]
	}
	return has, b
}

// times20 reads the timestamps, and takes the latency from them if the node sent none.
func (h *Hop) times20(has Fields, b []byte, bitmap uint16, timeUnit uint64) (Fields, []byte) {
	ingress, egress := uint64(1<<64-1), uint64(1<<64-1)
	if bitmap&0x0800 != 0 {
		ingress = binary.BigEndian.Uint64(b)
		b = b[8:]
	}
	if bitmap&0x0400 != 0 {
		egress = binary.BigEndian.Uint64(b)
		b = b[8:]
	}
	has |= timesOf(ingress, egress)
	h.IngressNs, h.EgressNs = ingress*timeUnit, egress*timeUnit
	if has&(HasIngressTime|HasEgressTime|HasLatency) == HasIngressTime|HasEgressTime {
		if stay, ok := stayNs(egress-ingress, timeUnit); ok {
			has |= HasLatency | HasDerivedLatency
			h.LatencyNs = stay
		}
	}
	return has, b
}

// rare20 reads level 2 interfaces, utilization and buffer, which few sources ask for.
func (h *Hop) rare20(b []byte, bitmap uint16, use UtilizationUnit) (has Fields) {
	if bitmap&0x0200 != 0 {
		if v := binary.BigEndian.Uint64(b); v != 1<<64-1 {
			has |= HasL2Ports
			h.L2Ingress, h.L2Egress = uint32(v>>32), uint32(v)
		}
		b = b[8:]
	}
	if bitmap&0x0100 != 0 {
		if v := binary.BigEndian.Uint32(b); v != ones32 {
			has |= InUtilizationUnit(use)
			h.TxUtil = v
		}
		b = b[4:]
	}
	if bitmap&0x0080 != 0 {
		if v := binary.BigEndian.Uint32(b); v != ones32 {
			has |= HasBuffer
			h.BufferID, h.BufferOccupancy = uint8(v>>24), v&0xffffff
		}
	}
	return has
}
