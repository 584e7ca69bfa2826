package fabric

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/waybill-int/waybill/fabric/scenario"
	intnode "github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/wire/packet"
)

// A filter matches packets that a switch is told to drop.
type filter struct {
	fault    int
	from, to []netip.Prefix  // empty: any
	protocol uint8           // 0: any
	port     uint16          // destination; 0: any
	mac      uint64          // of the sender; 0: any
	untilNs  int64           // of one that was asked for, in virtual time
	asked    *intnode.Filter // by whom it was asked for while the network runs; nil: the scenario
}

func newFilter(fault int, m *scenario.Mitigate) filter {
	fl := filter{fault: fault, port: uint16(m.Port)}
	for _, p := range m.From {
		fl.from = append(fl.from, p.Prefix)
	}
	for _, p := range m.To {
		fl.to = append(fl.to, p.Prefix)
	}
	switch m.Protocol {
	case "tcp":
		fl.protocol = packet.ProtoTCP
	case "udp":
		fl.protocol = packet.ProtoUDP
	}
	return fl
}

// denied says whether a switch is told to drop a packet.
func (n *node) denied(h *headers, s *PacketState, frame []byte, nowNs int64) bool {
	for i := range n.denies {
		fl := &n.denies[i]
		if fl.asked != nil && fl.untilNs <= nowNs {
			continue
		}
		if fl.mac != 0 && fl.mac != binary.BigEndian.Uint64(frame[6:])>>16 {
			continue
		}
		if fl.matches(h, s) {
			if fl.asked != nil {
				fl.asked.Packets++
			}
			return true
		}
	}
	return false
}

func (fl *filter) matches(h *headers, s *PacketState) bool {
	return (fl.protocol == 0 || fl.protocol == s.Protocol) && (fl.port == 0 || fl.port == s.DstPort) &&
		within(fl.from, h.src) && within(fl.to, h.dst)
}

// within says whether an address is in one of the prefixes, or there are none.
func within(prefixes []netip.Prefix, address []byte) bool {
	if len(prefixes) == 0 {
		return true
	}
	a, _ := netip.AddrFromSlice(address)
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}
