package embed

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/packet"
)

// badSums returns what is wrong with the checksums of the outermost IP packet in a frame, by computing them anew.
func badSums(frame []byte) (wrong []string) {
	var p Packet
	at, etherType, err := (&Packet{Frame: frame}).link()
	if err != nil {
		return []string{err.Error()}
	}
	var pseudo func(uint8, int) uint32
	var segment []byte
	switch etherType {
	case packet.EtherTypeIPv4:
		var h packet.IPv4
		n, err := h.Decode(frame[at:])
		if err != nil {
			return []string{err.Error()}
		}
		if packet.Fold(packet.Sum(frame[at:at+n], 0)) != 0xFFFF {
			wrong = append(wrong, "IPv4 header")
		}
		if at+int(h.TotalLength) > len(frame) {
			return append(wrong, "IPv4 Total Length")
		}
		if h.IsFragment() {
			return wrong
		}
		p.Protocol, segment = h.Protocol, frame[at+n:at+int(h.TotalLength)]
		pseudo = func(protocol uint8, n int) uint32 { return packet.PseudoIPv4(h.Src, h.Dst, protocol, n) }
	case packet.EtherTypeIPv6:
		var h packet.IPv6
		n, err := h.Decode(frame[at:])
		if err != nil {
			return []string{err.Error()}
		}
		if at+n+int(h.PayloadLength) > len(frame) {
			return append(wrong, "IPv6 Payload Length")
		}
		p.Protocol, segment = h.NextHeader, frame[at+n:at+n+int(h.PayloadLength)]
		for p.Protocol == packet.ProtoHopByHop || p.Protocol == packet.ProtoDestOptions {
			p.Protocol, segment = segment[0], segment[8*(int(segment[1])+1):]
		}
		pseudo = func(protocol uint8, n int) uint32 { return packet.PseudoIPv6(h.Src, h.Dst, protocol, n) }
	default:
		return nil
	}
	switch p.Protocol {
	case packet.ProtoUDP:
		length := int(binary.BigEndian.Uint16(segment[4:]))
		if length != len(segment) {
			wrong = append(wrong, "UDP Length")
			break
		}
		if binary.BigEndian.Uint16(segment[6:]) != 0 &&
			packet.Fold(packet.Sum(segment, pseudo(packet.ProtoUDP, length))) != 0xFFFF {
			wrong = append(wrong, "UDP checksum")
		}
	case packet.ProtoTCP:
		if packet.Fold(packet.Sum(segment, pseudo(packet.ProtoTCP, len(segment)))) != 0xFFFF {
			wrong = append(wrong, "TCP checksum")
		}
	case packet.ProtoGRE:
		if segment[0]&0x80 != 0 && packet.Fold(packet.Sum(segment, 0)) != 0xFFFF {
			wrong = append(wrong, "GRE checksum")
		}
	}
	return wrong
}
