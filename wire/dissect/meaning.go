package dissect

import (
	"strings"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
)

func etherTypeName(t uint16) string {
	switch t {
	case packet.EtherTypeIPv4:
		return "IPv4"
	case packet.EtherTypeARP:
		return "ARP"
	case packet.EtherTypeTEB:
		return "Ethernet"
	case packet.EtherTypeVLAN, packet.EtherTypeServiceVLAN, packet.EtherTypeQinQ:
		return "VLAN"
	case packet.EtherTypeIPv6:
		return "IPv6"
	case packet.EtherTypeMPLS, packet.EtherTypeMPLSMulticast:
		return "MPLS"
	case packet.EtherTypeNSH:
		return "NSH"
	}
	if t < 0x0600 {
		return "length"
	}
	return ""
}

func protocolName(p uint8) string {
	switch p {
	case packet.ProtoHopByHop:
		return "hop-by-hop options"
	case packet.ProtoICMP:
		return "ICMP"
	case packet.ProtoIPv4:
		return "IPv4"
	case packet.ProtoTCP:
		return "TCP"
	case packet.ProtoUDP:
		return "UDP"
	case packet.ProtoIPv6:
		return "IPv6"
	case packet.ProtoRouting:
		return "routing"
	case packet.ProtoFragment:
		return "fragment"
	case packet.ProtoGRE:
		return "GRE"
	case packet.ProtoESP:
		return "ESP"
	case packet.ProtoAH:
		return "AH"
	case packet.ProtoICMPv6:
		return "ICMPv6"
	case packet.ProtoSCTP:
		return "SCTP"
	case packet.ProtoNone:
		return "no next header"
	case packet.ProtoDestOptions:
		return "destination options"
	}
	return ""
}

func nextProtocolName(n uint8) string {
	switch n {
	case packet.NextIPv4:
		return "IPv4"
	case packet.NextIPv6:
		return "IPv6"
	case packet.NextEthernet:
		return "Ethernet"
	case packet.NextNSH:
		return "NSH"
	}
	return ""
}

func packetTypeName(t uint8) string {
	return nameOf(t, "to this host", "broadcast", "multicast", "to another host", "from this host")
}

// tcpFlagNames writes the flags as letters from the top, as protocol analysers do: "..AP..." is ACK and PSH.
func tcpFlagNames(flags uint8) string {
	const letters = "CEUAPRSF"
	var b [8]byte
	for i := range b {
		b[i] = '.'
		if flags&(0x80>>i) != 0 {
			b[i] = letters[i]
		}
	}
	return string(b[:])
}

func icmpTypeName(layer string, t uint8) string {
	if layer == "icmpv6" {
		switch t {
		case 1:
			return "destination unreachable"
		case 2:
			return "packet too big"
		case 3:
			return "time exceeded"
		case 128:
			return "echo request"
		case 129:
			return "echo reply"
		case 135:
			return "neighbor solicitation"
		case 136:
			return "neighbor advertisement"
		}
		return ""
	}
	switch t {
	case 0:
		return "echo reply"
	case 3:
		return "destination unreachable"
	case 8:
		return "echo request"
	case 11:
		return "time exceeded"
	}
	return ""
}

func intTypeName(t uint8, v2 bool) string {
	if v2 {
		return nameOf(t, "", "MD", "destination", "MX")
	}
	return nameOf(t, "", "hop-by-hop", "destination")
}

func nptName(npt uint8) string {
	return nameOf(npt, "marked by DSCP or probe marker", "original UDP payload follows", "another header follows")
}

func repName(rep uint8) string {
	return nameOf(rep, "", "port level replication", "next hop level replication",
		"port and next hop level replication")
}

func nprotoName(n uint8) string {
	return nameOf(n, "Ethernet", "drop header", "switch local header")
}

func nprotName(n uint8) string { return nameOf(n, "Ethernet", "IPv4", "IPv6") }

func repTypeName(t uint8) string { return nameOf(t, "inner only", "INT", "IOAM") }

func inTypeName(t uint8) string {
	return nameOf(t, "none", "TLV", "DS extension data", "Ethernet", "IPv4", "IPv6")
}

func tlvTypeName(t uint8) string {
	return nameOf(t, "DS extension data", "Ethernet", "IPv4", "IPv6")
}

func ioamTypeName(t uint8) string {
	return nameOf(t, "pre-allocated trace", "incremental trace", "proof of transit", "edge to edge", "direct export")
}

func ifaSpeedName(s uint8) string {
	return nameOf(s, "10 Gbit/s", "25 Gbit/s", "40 Gbit/s", "50 Gbit/s", "100 Gbit/s", "200 Gbit/s", "400 Gbit/s")
}

// nameOf returns names[v], and nothing for a number without a name.
func nameOf(v uint8, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return ""
}

func domainName(domain uint16) string {
	switch domain {
	case 0:
		return "default"
	case codepoint.TSDomain:
		return "Transparent Security"
	}
	return ""
}

// dsFlagNames says who wrote the device id in the Transparent Security domain. More than one writer says nothing.
func dsFlagNames(domain, flags uint16) string {
	if domain != codepoint.TSDomain {
		return ""
	}
	switch flags & 0xe000 {
	case 0x8000:
		return "set by the device"
	case 0x4000:
		return "set by the customer gateway"
	case 0x2000:
		return "set by a switch outside the premises"
	}
	return ""
}

func ifSet(flag bool, meaning string) string {
	if flag {
		return meaning
	}
	return ""
}

var ioamTraceBits = []string{
	"hop limit and node id", "interfaces", "seconds", "fraction", "transit delay", "namespace data", "queue depth",
	"checksum complement",
	"wide hop limit and node id", "wide interfaces", "wide namespace data", "buffer occupancy",
	"bit 12", "bit 13", "bit 14", "bit 15", "bit 16", "bit 17", "bit 18", "bit 19", "bit 20", "bit 21",
	"opaque state snapshot", "bit 23",
}

// bitNames lists the names of the bits of v, a field of width bits; names[0] is the top one.
func bitNames(v uint64, width int, names []string) string {
	var set []string
	for i, name := range names {
		if v>>(width-1-i)&1 != 0 {
			set = append(set, name)
		}
	}
	return strings.Join(set, ", ")
}

// bitmapMeaning lists what the bits of a bitmap ask for.
func bitmapMeaning(bitmap uint16, t *instructions) string {
	set := make([]string, 0, len(t))
	for bit := range t {
		if bitmap&(0x8000>>bit) == 0 {
			continue
		}
		name := t[bit].group
		if name == "" && len(t[bit].parts) > 0 {
			name = t[bit].parts[0].name
		}
		set = append(set, name)
	}
	return strings.Join(set, ", ")
}

// timeUnit names a unit of ns nanoseconds.
func timeUnit(ns uint64) string {
	switch ns {
	case 1:
		return "ns"
	case 1000:
		return "us"
	case 1000000:
		return "ms"
	}
	return ""
}
