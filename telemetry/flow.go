package telemetry

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
)

// An Addr is an IPv4 (as IPv4-mapped IPv6) or IPv6 address in two words, the form that tables hash and compare fastest.
type Addr struct{ Hi, Lo uint64 }

// AddrFrom4 returns the Addr of an IPv4 address.
func AddrFrom4(a [4]byte) Addr {
	return Addr{Lo: 0xffff_0000_0000 | uint64(binary.BigEndian.Uint32(a[:]))}
}

// AddrFrom16 returns the Addr of an IPv6 address.
func AddrFrom16(a [16]byte) Addr {
	return Addr{Hi: binary.BigEndian.Uint64(a[:8]), Lo: binary.BigEndian.Uint64(a[8:])}
}

// AddrFrom returns the Addr of a, whose zone is dropped.
func AddrFrom(a netip.Addr) Addr { return AddrFrom16(a.As16()) }

// IP returns the address in the form of the standard library.
func (a Addr) IP() netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], a.Hi)
	binary.BigEndian.PutUint64(b[8:], a.Lo)
	return netip.AddrFrom16(b).Unmap()
}

func (a Addr) String() string { return a.IP().String() }

// A Tunnel is the kind of encapsulation that a flow was seen in.
type Tunnel uint8

// Tunnels; the tunnel id of VXLAN, VXLAN-GPE and Geneve is the VNI, that of GRE its key.
const (
	TunnelNone Tunnel = iota
	TunnelVXLAN
	TunnelVXLANGPE
	TunnelGeneve
	TunnelGRE
	TunnelIP // IP in IP
)

func (t Tunnel) String() string {
	return [...]string{"", "vxlan", "vxlan-gpe", "geneve", "gre", "ip"}[min(t, TunnelIP)]
}

// A FlowKey names a flow: the 5-tuple of the original packet, without anything that INT changed, and the tunnel that
// it travelled in. Ports are 0 for protocols without ports and for later fragments.
type FlowKey struct {
	Src, Dst         Addr
	SrcPort, DstPort uint16
	Protocol         uint8
	Tunnel           Tunnel
	TunnelID         uint32 // VNI or GRE key; 0 without tunnel
}

// Hash returns a well spread hash of k; equal keys have equal hashes on every machine and in every version.
// It is not meant to resist an attacker who chooses keys: tables mix in a seed of their own (HashSeed).
func (k *FlowKey) Hash() uint64 { return k.HashSeed(0) }

// Compare orders keys; the order has no meaning but is always the same.
func (k *FlowKey) Compare(o *FlowKey) int {
	return cmp.Or(cmp.Compare(k.Src.Hi, o.Src.Hi), cmp.Compare(k.Src.Lo, o.Src.Lo), cmp.Compare(k.Dst.Hi, o.Dst.Hi),
		cmp.Compare(k.Dst.Lo, o.Dst.Lo),
		cmp.Compare(k.SrcPort, o.SrcPort), cmp.Compare(k.DstPort, o.DstPort), cmp.Compare(k.Protocol, o.Protocol),
		cmp.Compare(k.Tunnel, o.Tunnel), cmp.Compare(k.TunnelID, o.TunnelID))
}

// HashSeed is Hash with a seed, which makes collisions unpredictable to who does not know it.
func (k *FlowKey) HashSeed(seed uint64) uint64 {
	h := mix(k.Src.Hi^seed^0xa0761d6478bd642f, k.Src.Lo^0xe7037ed1a0b428db)
	h ^= mix(k.Dst.Hi^0x8ebc6af09c88c6e3, k.Dst.Lo^h)
	ports := uint64(k.SrcPort)<<48 | uint64(k.DstPort)<<32 | uint64(k.TunnelID)
	return mix(ports^h, uint64(k.Protocol)<<8|uint64(k.Tunnel)^0x589965cc75374cc3)
}

// ShardOf returns which of n shards a flow belongs to, from 0 on. The flow back belongs to the same one, so that what
// is told of one direction can be compared with what is told of the other.
func (k *FlowKey) ShardOf(n int) int {
	end := func(a *Addr, port uint16) uint64 {
		return mix(a.Hi^0xa0761d6478bd642f, a.Lo^uint64(port)<<48^0xe7037ed1a0b428db)
	}
	both := end(&k.Src, k.SrcPort) + end(&k.Dst, k.DstPort) // in either order
	return int(mix(both^uint64(k.TunnelID), uint64(k.Protocol)<<8|uint64(k.Tunnel)^0x589965cc75374cc3) % uint64(n))
}

// mix is the folded 64x64 multiplication of wyhash.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// String returns "10.0.1.1:5001 > 10.0.2.2:6001 udp", followed by the tunnel if there is one.
func (k *FlowKey) String() string {
	text := fmt.Sprintf("%s > %s %s", netip.AddrPortFrom(k.Src.IP(), k.SrcPort),
		netip.AddrPortFrom(k.Dst.IP(), k.DstPort), ProtocolName(k.Protocol))
	if k.Tunnel != TunnelNone {
		text += " in " + k.Tunnel.String() + " " + strconv.FormatUint(uint64(k.TunnelID), 10)
	}
	return text
}

// ParseProtocol reads a name that ProtocolName returns, or a number.
func ParseProtocol(text string) (protocol uint8, ok bool) {
	if n, err := strconv.ParseUint(text, 0, 8); err == nil {
		return uint8(n), true
	}
	for n := range 256 {
		if ProtocolName(uint8(n)) == text {
			return uint8(n), true
		}
	}
	return 0, false
}

// ProtocolName returns the usual name of an IP protocol number, or the number.
func ProtocolName(protocol uint8) string {
	switch protocol {
	case 1:
		return "icmp"
	case 4:
		return "ipip"
	case 6:
		return "tcp"
	case 17:
		return "udp"
	case 41:
		return "ipv6"
	case 47:
		return "gre"
	case 50:
		return "esp"
	case 51:
		return "ah"
	case 58:
		return "icmpv6"
	case 132:
		return "sctp"
	}
	return strconv.Itoa(int(protocol))
}
