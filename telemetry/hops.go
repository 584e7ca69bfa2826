package telemetry

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// onePass reports whether fill can read what layout says: the usual records of INT 0.5, 1.0 and 2.x. Queue congestion
// of 0.5 names the queue again, and some dialects have exceptions: Layout.Decode and hop know those.
func (d *Decoder) onePass(layout *inband.Layout) bool {
	switch layout.Format() {
	case inband.Format20:
		return true
	case inband.Format05:
		return layout.Bitmap()&0x0200 == 0 && !d.dialect.Has(codepoint.QuirkNoPort511|codepoint.QuirkHostINT)
	case inband.Format10:
		return !d.dialect.Has(codepoint.QuirkNoPort511 | codepoint.QuirkHostINT)
	}
	return false
}

// fill fills hops, source first, from the records in stack. It does in one pass what inband.Layout.Decode and hop do in
// two; TestFill holds it to the same result. onePass allows the layout, and stack has len(hops)*layout.Len() bytes.
//
// Most sources ask for bits 0-3, and for 4-5 as a whole or not at all: those are read eight bytes at a time, unless one
// of the values may be all ones.
func (d *Decoder) fill(hops []Hop, stack []byte, layout *inband.Layout) {
	bitmap, recordLen, wide := layout.Bitmap(), layout.Len(), layout.Format() == inband.Format20
	if !wide {
		bitmap &^= 0x0080 // reserved
	}
	clock, queue := unitOf(d.dialect.TimeUnit), queueOf(d.dialect)
	if wide {
		clock |= HasWideTimes
	}
	timeUnit, latencyUnit := d.dialect.TimeUnit, d.dialect.LatencyUnit
	const stamps = 0x0c00
	usual := bitmap&0xf380 == 0xf000 && (bitmap&stamps == 0 || bitmap&stamps == stamps)
	has := HasNode | HasIngressPort | HasEgressPort | HasLatency | queue
	if bitmap&stamps != 0 {
		has |= HasIngressTime | HasEgressTime | clock
	}
	for i := len(hops) - 1; i >= 0; i-- { // the newest record comes first
		b := stack[:recordLen]
		stack = stack[recordLen:]
		h := &hops[i]
		if !usual {
			h.fill(b, bitmap, wide, d.dialect, queue, clock)
			continue
		}
		p := (*[16]byte)(b)
		first, second := binary.BigEndian.Uint64(p[:8]), binary.BigEndian.Uint64(p[8:])
		odd := (first | second) & (1<<63 | 1<<31) // 0: no word is all ones
		switch {
		case bitmap&stamps == 0:
		case wide:
			p := (*[32]byte)(b)
			ingress, egress := binary.BigEndian.Uint64(p[16:24]), binary.BigEndian.Uint64(p[24:])
			odd |= (ingress | egress) & (1 << 63)
			h.IngressNs, h.EgressNs = ingress*timeUnit, egress*timeUnit
		default:
			both := binary.BigEndian.Uint64((*[24]byte)(b)[16:])
			odd |= missingBits(both)
			h.IngressNs, h.EgressNs = both>>32*timeUnit, both&ones32*timeUnit
		}
		if odd != 0 {
			h.fill(b, bitmap, wide, d.dialect, queue, clock)
			continue
		}
		h.Has, h.NodeID = has, uint32(first>>32)
		h.IngressPort, h.EgressPort = uint32(first>>16)&0xffff, uint32(first)&0xffff
		h.LatencyNs = second >> 32 * latencyUnit
		h.QueueID, h.QueueOccupancy = uint8(second>>24), uint32(second)&0xffffff
	}
}

const ones32 = 1<<32 - 1

// missingBits is not 0 if one of the words of v is all ones.
func missingBits(v uint64) uint64 {
	if v>>32 == ones32 || uint32(v) == ones32 {
		return 1
	}
	return 0
}

// fill reads a record of any content that Decoder.fill can have.
func (h *Hop) fill(b []byte, bitmap uint16, wide bool, dialect *codepoint.Dialect, queue, clock Fields) {
	h.QueueID = 0
	has, b := h.words(b, bitmap, dialect.LatencyUnit, queue)
	none := uint64(ones32) // a timestamp that is not available
	if wide {
		none = 1<<64 - 1
	}
	stamp := func(bit uint16) uint64 {
		switch {
		case bitmap&bit == 0:
			return none
		case wide:
			v := binary.BigEndian.Uint64(b)
			b = b[8:]
			return v
		}
		v := binary.BigEndian.Uint32(b)
		b = b[4:]
		return uint64(v)
	}
	ingress, egress := stamp(0x0800), stamp(0x0400)
	h.IngressNs, h.EgressNs = ingress*dialect.TimeUnit, egress*dialect.TimeUnit
	if ingress != none {
		has |= HasIngressTime | clock
	}
	if egress != none {
		has |= HasEgressTime | clock
	}
	if has&(HasIngressTime|HasEgressTime|HasLatency) == HasIngressTime|HasEgressTime {
		if stay, ok := stayNs((egress-ingress)&none, dialect.TimeUnit); ok {
			has |= HasLatency | HasDerivedLatency
			h.LatencyNs = stay
		}
	}
	h.Has = has | h.rareWords(b, bitmap, dialect.UtilizationUnit)
}

// words reads what bitmap asks for of node id, level 1 interfaces, latency and queue.
func (h *Hop) words(b []byte, bitmap uint16, latencyUnit uint64, queue Fields) (has Fields, rest []byte) {
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

// rareWords reads level 2 interfaces, utilization and buffer, which few sources ask for.
func (h *Hop) rareWords(b []byte, bitmap uint16, use UtilizationUnit) (has Fields) {
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
