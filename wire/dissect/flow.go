package dissect

import (
	"cmp"
	"net/netip"
	"strconv"

	"github.com/waybill-int/waybill/wire/packet"
)

// A Flow is whose packet it is: the addresses and ports that the sender gave it, before INT was inserted.
type Flow struct {
	Src, Dst         string // IP addresses
	SrcPort, DstPort uint16 // 0 if there are none
	Protocol         uint8  // IP protocol number
}

// String writes f as "10.0.1.1:5001 -> 10.0.2.2:6001 UDP".
func (f Flow) String() string {
	name := protocolName(f.Protocol)
	if name == "" {
		name = "protocol " + strconv.Itoa(int(f.Protocol))
	}
	return endpoint(f.Src, f.SrcPort) + " -> " + endpoint(f.Dst, f.DstPort) + " " + name
}

func endpoint(address string, port uint16) string {
	if port == 0 {
		return address
	}
	a, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	return netip.AddrPortFrom(a, port).String()
}

// FlowOf returns the flow of a packet by its outermost IP header; false if there is none. INT that was inserted between
// the headers is looked through. For a telemetry report it is the flow of the report; see Fragments.
func FlowOf(layers []Layer) (Flow, bool) {
	var f Flow
	var found, ports, tail bool
	for i := range layers {
		l := &layers[i]
		switch l.Name {
		case "ipv4", "ipv6":
			if found {
				return f, true // of a tunnel: the outer flow is the packet's
			}
			found = true
			f.Src, f.Dst = l.Find("src").Text(), l.Find("dst").Text()
			f.Protocol = uint8(l.Find("protocol").Number() + l.Find("next_header").Number())
		case "ipv6_hop_by_hop", "ipv6_destination_options", "ipv6_routing", "ipv6_fragment", "ipv6_auth", "ifa_header":
			f.Protocol = uint8(l.Find("next_header").Number())
		case "udp", "tcp", "sctp":
			if ports || !found {
				continue
			}
			ports = true
			f.SrcPort, f.DstPort = uint16(l.Find("src_port").Number()), uint16(l.Find("dst_port").Number())
			f.Protocol = packet.ProtoUDP
			switch l.Name {
			case "tcp":
				f.Protocol = packet.ProtoTCP
			case "sctp":
				f.Protocol = packet.ProtoSCTP
			}
		case "int_shim_l4_v2":
			if port := l.Find("original_dst_port"); port != nil {
				f.DstPort = uint16(port.Number())
			}
			if protocol := l.Find("ip_protocol"); protocol != nil { // the UDP header was inserted: the real one follows
				f.Protocol = uint8(protocol.Number())
				f.SrcPort, f.DstPort, ports = 0, 0, false
			}
		case "int_hbh_v0_5":
			tail = l.Find(errorField) == nil
		case "int_tail_v0_5":
			if tail { // behind a stack of another length than its header says, it is something else
				f.DstPort = cmp.Or(uint16(l.Find("dst_port").Number()), f.DstPort)
			}
		}
	}
	return f, found
}

// Report returns the layer of the telemetry report in a packet, or nil.
func Report(layers []Layer) *Layer {
	for i := range layers {
		switch layers[i].Name {
		case "telemetry_report", "telemetry_report_v0_5", "telemetry_report_v1_0", "telemetry_report_v2_0":
			return &layers[i]
		}
	}
	return nil
}

// Fragments returns the layers of each packet that a telemetry report is about. Without a report it is the packet
// itself.
func Fragments(layers []Layer) [][]Layer {
	for i := range layers {
		switch layers[i].Name {
		case "telemetry_report_v0_5", "telemetry_report_v1_0":
			return [][]Layer{layers[i+1:]}
		case "telemetry_report_v2_0":
			var list [][]Layer
			for _, report := range layers[i].Find("reports").Objects() {
				if inner := report.Find("inner").Layers(); inner != nil {
					list = append(list, inner)
				}
				for _, tlv := range report.Find("tlvs").Objects() {
					if inner := tlv.Find("inner").Layers(); inner != nil {
						list = append(list, inner)
					}
				}
			}
			return list
		}
	}
	return [][]Layer{layers}
}
