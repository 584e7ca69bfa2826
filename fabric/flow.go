package fabric

import "github.com/waybill-int/waybill/wire/packet"

// A flow is one direction of a conversation: packets with the same flow key.
type flow struct {
	id           uint32
	conversation *conversation
	src, dst     *host

	v6       bool
	protocol uint8 // what the hosts speak: inside the tunnel if there is one
	srcPort  uint16
	dstPort  uint16
	dscp     uint8
	ttl      uint8

	isFragment bool // packets are fragments other than the first, without ports

	tunnel    tunnel
	vni       uint32
	forged    *address // that packets claim to come from; nil: they say the truth
	outerPort uint16   // UDP source port of the tunnel: a hash of the inner flow key

	sent, delivered, dropped, retransmitted uint64   // packets
	bytes                                   uint64   // of payload that arrived, each once
	route, before                           flowPath // the path of now, and the one that it was before
}

type tunnel uint8

const (
	noTunnel tunnel = iota
	vxlan
	geneve
	vxlanGPE
)

// tunnels are the names in scenario files.
var tunnels = map[string]tunnel{"vxlan": vxlan, "vxlan_gpe": vxlanGPE, "geneve": geneve}

// String returns the name in truth files.
func (t tunnel) String() string { return [...]string{"", "vxlan", "geneve", "vxlan-gpe"}[t] }

// port returns the UDP destination port.
func (t tunnel) port() uint16 {
	return [...]uint16{vxlan: packet.PortVXLAN, geneve: packet.PortGeneve, vxlanGPE: packet.PortVXLANGPE}[t]
}

// reverse makes fl the other direction of o.
func (fl *flow) reverse(o *flow) {
	fl.src, fl.dst = o.dst, o.src
	fl.v6, fl.protocol, fl.srcPort, fl.dstPort = o.v6, o.protocol, o.dstPort, o.srcPort
	fl.dscp, fl.ttl, fl.tunnel, fl.vni = o.dscp, o.ttl, o.tunnel, o.vni
}

// setOuterPort chooses the source port of the tunnel from the dynamic ports (RFC 7348 §5, RFC 8926 §3.3).
func (fl *flow) setOuterPort() {
	if fl.tunnel != noTunnel {
		ports := uint64(fl.srcPort)<<16 | uint64(fl.dstPort)
		fl.outerPort = 49152 | uint16(mix(ports^mix(uint64(fl.src.number)<<32|uint64(fl.dst.number))))&0x3fff
	}
}

// ends returns the addresses between which the hosts speak: those of tenants inside a tunnel.
func (fl *flow) ends() (src, dst *address) {
	if fl.tunnel != noTunnel {
		return &fl.src.tenant, &fl.dst.tenant
	}
	if fl.forged != nil {
		return fl.forged, &fl.dst.address
	}
	return &fl.src.address, &fl.dst.address
}
