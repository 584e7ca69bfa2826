package fabric

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/waybill-int/waybill/wire/packet"
)

// headers is what a switch without telemetry looks at: the outermost IP header and ports. It is read at every hop of
// every packet, so that it reads only what it needs, where package packet would read all of it.
type headers struct {
	dst      []byte // view
	src      []byte // view
	dscp     uint8
	ttl      uint8
	protocol uint8
	dstPort  uint16 // 0 if there is none
	hash     uint64 // of addresses, protocol and ports
}

const (
	ethernetLen = 14
	ipv4Len     = 20
	ipv6Len     = 40
)

// parse reads h from a frame; false if it is not IPv4 or IPv6.
func (h *headers) parse(frame []byte) bool {
	if len(frame) < ethernetLen+ipv4Len {
		return false
	}
	switch ip := frame[ethernetLen:]; binary.BigEndian.Uint16(frame[12:]) {
	case packet.EtherTypeIPv4:
		return h.parseIPv4(ip)
	case packet.EtherTypeIPv6:
		return h.parseIPv6(ip)
	}
	return false
}

func (h *headers) parseIPv4(ip []byte) bool {
	length := int(ip[0]&15) * 4
	if ip[0]>>4 != 4 || length < ipv4Len || len(ip) < length {
		return false
	}
	h.dscp, h.ttl, h.protocol = ip[1]>>2, ip[8], ip[9]
	h.src, h.dst = ip[12:16:16], ip[16:20:20]
	ports := uint32(0)
	if binary.BigEndian.Uint16(ip[6:])&0x3fff == 0 { // not a fragment
		ports = l4Ports(h.protocol, ip[length:])
	}
	h.dstPort = uint16(ports)
	h.hash = mix(mix(binary.BigEndian.Uint64(ip[12:])) ^ uint64(ports)<<8 ^ uint64(h.protocol))
	return true
}

func (h *headers) parseIPv6(ip []byte) bool {
	if ip[0]>>4 != 6 || len(ip) < ipv6Len {
		return false
	}
	h.dscp, h.ttl, h.protocol = (ip[0]<<4|ip[1]>>4)>>2, ip[7], ip[6]
	h.src, h.dst = ip[8:24:24], ip[24:40:40]
	ports := l4Ports(h.protocol, ip[ipv6Len:])
	h.dstPort = uint16(ports)
	sum := uint64(0)
	for i := 8; i < 40; i += 8 {
		sum = mix(sum ^ binary.BigEndian.Uint64(ip[i:]))
	}
	h.hash = mix(sum ^ uint64(ports)<<8 ^ uint64(h.protocol))
	return true
}

// l4Ports returns source port << 16 | destination port, 0 if the protocol has none or they are cut.
func l4Ports(protocol uint8, b []byte) uint32 {
	if protocol != packet.ProtoTCP && protocol != packet.ProtoUDP || len(b) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

// mix turns similar numbers into very different ones (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// choose returns the port of a route for a flow, by the hash of its key and the seed of the switch.
func (r *route) choose(hash, seed uint64) *port {
	if len(r.ports) == 1 {
		return r.ports[0]
	}
	high, _ := bits.Mul64(mix(hash^seed), uint64(len(r.ports)))
	return r.ports[high]
}

// others appends to list the ports of a route that are up, but for the one that was chosen.
func (r *route) others(chosen *port, list []Other) []Other {
	if r == nil || len(r.ports) == 1 {
		return list
	}
	for i, o := range r.ports {
		if o == chosen || o.link.down > 0 {
			continue
		}
		to := o.peer.node
		first := !slices.ContainsFunc(r.ports[:i], func(before *port) bool { return before.peer.node == to })
		list = append(list, Other{Port: o.id, SameHop: to == chosen.peer.node, First: first})
	}
	return list
}

// rewrite does what routers do to a frame that parse has accepted: TTL minus one, and the MAC addresses of the link.
func rewrite(frame []byte, out *port) {
	copy(frame[0:6], out.peer.mac[:])
	copy(frame[6:12], out.mac[:])
	ip := frame[ethernetLen:]
	if ip[0]>>4 == 6 {
		ip[7]--
		return
	}
	before := [2]byte{ip[8], ip[9]}
	ip[8]--
	checksum := packet.UpdateChecksum(binary.BigEndian.Uint16(ip[10:]), before[:], ip[8:10])
	binary.BigEndian.PutUint16(ip[10:], checksum)
}
