package embed

import (
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/packet"
)

// An ipHeader is what is needed of an IP header with its extension headers. Offsets are from the start of the frame.
type ipHeader struct {
	version    uint8
	protocol   uint8 // of what is at l4
	protocolAt int   // offset of the byte that says so
	l4         int
	end        int // of the IP packet as it says, even behind the end of the frame

	dscp, ecn, ttl uint8
	fragment       bool // any fragment
	later          bool // a fragment without the header at l4
	src, dst       telemetry.Addr
}

// decode reads the IP header at offset at of b.
func (h *ipHeader) decode(b []byte, at int) error {
	switch etherTypeOf(b[at:]) {
	case packet.EtherTypeIPv6:
		return h.decode6(b, at)
	default: // its decoder says what is wrong
		return h.decode4(b, at)
	}
}

func (h *ipHeader) decode4(b []byte, at int) error {
	var ip packet.IPv4
	n, err := ip.Decode(b[at:])
	if err != nil {
		return err
	}
	if int(ip.TotalLength) < n {
		return wire.ErrIPv4HeaderLength
	}
	const protocol = 9 // offset of Protocol
	*h = ipHeader{
		version: 4, protocol: ip.Protocol, protocolAt: at + protocol, l4: at + n, end: at + int(ip.TotalLength),
		dscp: ip.DSCP, ecn: ip.ECN, ttl: ip.TTL, fragment: ip.IsFragment(), later: ip.IsLaterFragment(),
		src: telemetry.AddrFrom4(ip.Src), dst: telemetry.AddrFrom4(ip.Dst),
	}
	return nil
}

func (h *ipHeader) decode6(b []byte, at int) error {
	var ip packet.IPv6
	n, err := ip.Decode(b[at:])
	if err != nil {
		return err
	}
	const nextHeader = 6 // offset of NextHeader
	*h = ipHeader{
		version: 6, protocol: ip.NextHeader, protocolAt: at + nextHeader, l4: at + n,
		end:  at + n + int(ip.PayloadLength),
		dscp: ip.DSCP, ecn: ip.ECN, ttl: ip.HopLimit,
		src: telemetry.AddrFrom16(ip.Src), dst: telemetry.AddrFrom16(ip.Dst),
	}
	return h.extensions(b[:min(h.end, len(b))])
}

// extensions steps over the extension headers that may stand in front of INT. IPSec headers (ESP, AH) are what INT
// stands in front of, as TCP is.
func (h *ipHeader) extensions(b []byte) error {
	for {
		n := 8
		switch h.protocol {
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOptions:
			if len(b) < h.l4+n {
				return wire.ErrTruncatedIPv6Extension
			}
			n = 8 * (int(b[h.l4+1]) + 1)
		case packet.ProtoFragment:
			var f packet.IPv6Fragment
			if _, err := f.Decode(b[h.l4:]); err != nil {
				return err
			}
			h.fragment, h.later = h.fragment || f.More || f.IsLater(), h.later || f.IsLater()
		default:
			return nil
		}
		if len(b) < h.l4+n {
			return wire.ErrTruncatedIPv6Extension
		}
		h.protocol, h.protocolAt = b[h.l4], h.l4
		h.l4 += n
		if h.later {
			return nil // what follows is not a header
		}
	}
}
