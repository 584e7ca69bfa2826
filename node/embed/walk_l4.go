package embed

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// markedUDP reads the INT that something announces behind a UDP header to port dst, and what follows it. It reports
// whether there is INT. b[at:end] is the UDP payload.
func (w *walk) markedUDP(at, end int, dst uint16) bool {
	points := &w.d.Points
	dscp := points.MarksDSCP(w.dscp)
	switch {
	case points.INTUDPPort != 0 && dst == points.INTUDPPort:
		if w.outermost() {
			w.p.INT.Conflict = dscp
		}
		w.l4(l4INT{by: DstPort, protocol: packet.ProtoUDP, start: at, shim: at, end: end})
	case dscp && (!isTunnel(dst) || w.isShim(at, end)): // else the DSCP of a packet in the tunnel was copied to it
		w.l4(l4INT{by: DSCP, protocol: packet.ProtoUDP, start: at, shim: at, end: end})
	case w.isMarked(at, end):
		w.l4(l4INT{by: Marker, protocol: packet.ProtoUDP, start: at, shim: at + markerLen, end: end})
	default:
		return false
	}
	return true
}

// markedTCP is markedUDP for TCP, whose header of n bytes with its options is at offset at. INT may stand in front of
// the options.
func (w *walk) markedTCP(at, n int) bool {
	d := w.d
	in := l4INT{protocol: packet.ProtoTCP, end: len(w.b), start: at + n}
	behind := in.start
	if d.beforeTCPOptions() {
		in.start = at + tcpLen
		in.options = n - tcpLen
	}
	in.shim = in.start
	switch {
	case d.Version == inband.Version05 && d.Carrier == DstPort && d.Points.INTUDPPort != 0 &&
		w.p.Flow.DstPort == d.Points.INTUDPPort:
		in.by = DstPort
	case d.Points.MarksDSCP(w.dscp):
		in.by = DSCP
	case w.isMarked(behind, len(w.b)):
		in = l4INT{by: Marker, protocol: packet.ProtoTCP, end: len(w.b), start: behind, shim: behind + markerLen}
	default:
		return false
	}
	w.l4(in)
	return true
}

func isTunnel(port uint16) bool {
	return port == packet.PortVXLAN || port == packet.PortVXLANGPE || port == packet.PortGeneve
}

// isShim reports whether b[at:end] can start with a shim for TCP or UDP, by its type.
func (w *walk) isShim(at, end int) bool {
	if at >= end {
		return false
	}
	family := inband.DetectL4(w.b[at:end])
	return family == inband.Family2x || family == inband.FamilyOld && inband.CheckType(family, w.b[at]) == nil
}

// isMarked reports whether b[at:end] starts with the probe marker and a shim. Others may use the same marker, so that
// it alone announces nothing.
func (w *walk) isMarked(at, end int) bool {
	marker := w.d.Points.ProbeMarker
	return marker != 0 && end-at >= markerLen && binary.BigEndian.Uint64(w.b[at:]) == marker &&
		w.isShim(at+markerLen, end)
}

// An l4INT is INT behind a TCP or UDP header, on its way from the mark that announced it.
type l4INT struct {
	by       Carrier // the mark: DstPort, DSCP or Marker
	protocol uint8
	start    int // of what INT added behind the header
	shim     int
	end      int // of the TCP or UDP payload
	options  int // bytes of TCP options that stand behind INT
}

// isOwn reports whether INT marked by c is that of the domain.
func (w *walk) isOwn(c Carrier) bool {
	own := w.d.Carrier
	if own == NewUDP {
		own = DstPort
	}
	return w.outermost() && own == c && w.d.Mode != XD
}

// l4 reads the shim of in, and goes on behind INT.
func (w *walk) l4(in l4INT) {
	p := w.p
	own := w.isOwn(in.by)
	s := w.readShim(in.shim, in.end, own)
	if own {
		w.ownL4(&in, &s)
	} else {
		p.INT.Nested = true
	}
	w.depth++
	port := p.Flow.DstPort
	switch {
	case s.end == 0:
	case s.family == inband.Family2x && in.by == DstPort && s.npt == inband.NPTProtocol:
		p.Flow.SrcPort, p.Flow.DstPort = 0, 0
		w.original(s.end, s.protocol, own)
		return
	case s.family == inband.Family2x && in.by == DstPort && s.npt == inband.NPTDstPort:
		port = s.dstPort
	case own && in.by == DstPort && w.d.Version == inband.Version05:
		port = p.INT.next
	}
	p.Flow.DstPort = port
	if in.protocol == packet.ProtoUDP && s.end != 0 {
		w.udpPayload(s.end, port)
		return
	}
	w.done(in.protocol, p.Flow.SrcPort, port)
}

// original goes on with the packet that INT put a UDP header in front of.
func (w *walk) original(at int, protocol uint8, own bool) {
	if isIP := protocol == packet.ProtoIPv4 || protocol == packet.ProtoIPv6; own && isIP && w.d.NewIP {
		w.ip(at) // its IP header was there before
		return
	}
	w.transport(at, protocol)
}

// ownL4 takes down the domain's INT.
func (w *walk) ownL4(in *l4INT, s *shim) {
	p, d := w.p, w.d
	t := &p.INT
	t.Present, t.Carrier, t.Start, t.Shim = true, d.Carrier, in.start, in.shim
	if in.by == DstPort {
		t.Carrier = DstPort
		if s.npt == inband.NPTProtocol {
			t.Carrier = NewUDP
			t.Start = p.L4
			t.next = uint16(s.protocol)
			if isIP := s.protocol == packet.ProtoIPv4 || s.protocol == packet.ProtoIPv6; isIP && d.NewIP {
				t.g = true
				t.Start = p.L3
			}
		} else {
			t.next = s.dstPort
		}
	}
	t.dscp = s.dscp
	w.ownShim(s)
	if t.End == 0 {
		return
	}
	if !w.undoable(in, s) {
		t.End = 0
		if t.Malformed == 0 {
			t.Malformed = wire.ErrUnknownNPT
		}
		return
	}
	p.Payload = t.End + in.options
}

// undoable reports whether the shim or the tail says what the packet was before INT.
func (w *walk) undoable(in *l4INT, s *shim) bool {
	switch {
	case in.by != DstPort:
		return s.family == inband.FamilyOld || s.npt == inband.NPTDSCP
	case s.family == inband.FamilyOld:
		return w.d.hasTail() && w.p.INT.Malformed != wire.ErrTailMissing
	}
	return s.npt == inband.NPTDstPort || s.npt == inband.NPTProtocol
}
