package watch

import "github.com/waybill-int/waybill/telemetry"

// A Key is what watchlists look at in a packet.
type Key struct {
	telemetry.FlowKey        // of the original packet, without INT
	DSCP              uint8  // 6 bits, of the original packet
	VLAN              uint16 // 12 bits; 0: none
	IngressPort       uint32
}

// words is a Key, or a mask of one, in fixed places:
//
//	0  source port (16), destination port (16), protocol (8), 5 zero bits, in a tunnel with id (1), DSCP (6), VLAN (12)
//	1  tunnel id (32), ingress port (32)
//	2  source address, lower half        4  upper half
//	3  destination address, lower half   5  upper half
//
// Words 4 and 5 are 0 in IPv4; who looks at them is called wide.
type words [6]uint64

const (
	srcPortShift  = 48
	dstPortShift  = 32
	protocolShift = 24
	tunnelBit     = 1 << 18
	dscpShift     = 12
	tunnelIDShift = 32
	protocolMask  = 0xff << protocolShift
	dscpMask      = 0x3f << dscpShift
	vlanMask      = 0xfff
	tunnelIDMask  = 0xffffffff << tunnelIDShift
	ingressMask   = 0xffffffff

	ipv4Mapped = 0xffff // telemetry.Addr has it in front of an IPv4 address
)

// pack fills w and says whether k is of IPv4.
func (k *Key) pack(w *words) bool {
	w[0] = uint64(k.SrcPort)<<srcPortShift | uint64(k.DstPort)<<dstPortShift | uint64(k.Protocol)<<protocolShift |
		uint64(k.DSCP&0x3f)<<dscpShift | uint64(k.VLAN&vlanMask)
	if k.Tunnel != telemetry.TunnelNone && k.Tunnel != telemetry.TunnelIP { // which has no id
		w[0] |= tunnelBit
	}
	w[1] = uint64(k.TunnelID)<<tunnelIDShift | uint64(k.IngressPort)
	w[2], w[3], w[4], w[5] = k.Src.Lo, k.Dst.Lo, k.Src.Hi, k.Dst.Hi
	return k.Src.Hi|k.Dst.Hi == 0 && k.Src.Lo>>32 == ipv4Mapped && k.Dst.Lo>>32 == ipv4Mapped
}
