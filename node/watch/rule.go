package watch

import (
	"math/bits"
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
)

// A rule is an Entry, or a part of one, in the form that packets are compared with: the packet's words under mask are
// value, and its ports are in their ranges.
type rule struct {
	mask, value      words
	srcPort, dstPort PortRange
	rank             uint32 // the place of the entry in the order of precedence, 0 first
	last             bool   // in its bucket
}

// noRank is worse than that of any rule.
const noRank = ^uint32(0)

// anyPort is the range of an entry that names no port.
var anyPort = PortRange{Low: 0, High: 65535}

// newRule returns the rule of e, and for which families it is: an entry without prefixes is for both.
func newRule(e *Entry, rank uint32) (r rule, ipv4, ipv6 bool) {
	r = rule{rank: rank, srcPort: anyPort, dstPort: anyPort}
	if e.SrcPort != nil {
		r.srcPort = *e.SrcPort
	}
	if e.DstPort != nil {
		r.dstPort = *e.DstPort
	}
	r.maskPorts()
	if e.Protocol != nil {
		r.set(0, protocolMask, uint64(*e.Protocol)<<protocolShift)
	}
	if e.DSCP != nil {
		r.set(0, dscpMask, uint64(*e.DSCP)<<dscpShift)
	}
	if e.VLAN != nil {
		r.set(0, vlanMask, uint64(*e.VLAN))
	}
	if e.VNI != nil {
		r.set(0, tunnelBit, tunnelBit)
		r.set(1, tunnelIDMask, uint64(*e.VNI)<<tunnelIDShift)
	}
	if e.IngressPort != nil {
		r.set(1, ingressMask, uint64(*e.IngressPort))
	}
	r.setPrefix(2, e.Src.Prefix)
	r.setPrefix(3, e.Dst.Prefix)
	src, dst := e.Src.Addr(), e.Dst.Addr()
	return r, !src.Is6() && !dst.Is6(), !src.Is4() && !dst.Is4()
}

func (r *rule) set(word int, mask, value uint64) {
	r.mask[word] |= mask
	r.value[word] |= value
}

// setPrefix sets the lower half of an address in word and the upper half two words on.
func (r *rule) setPrefix(word int, p netip.Prefix) {
	if !p.IsValid() {
		return
	}
	length := p.Bits()
	if p.Addr().Is4() {
		length += 96
	}
	a := telemetry.AddrFrom(p.Addr())
	r.set(word, prefixMask(length-64), a.Lo)
	r.set(word+2, prefixMask(length), a.Hi)
}

// prefixMask returns a mask of the first length bits of 64, none if length is negative, at most all.
func prefixMask(length int) uint64 {
	if length <= 0 {
		return 0
	}
	return ^uint64(0) << (64 - min(length, 64))
}

// maskPorts puts the bits that all ports of a range have in common into mask and value.
func (r *rule) maskPorts() {
	r.mask[0] &^= 0xffff<<srcPortShift | 0xffff<<dstPortShift
	r.value[0] &= r.mask[0]
	src, dst := commonBits(r.srcPort), commonBits(r.dstPort)
	r.set(0, uint64(src)<<srcPortShift|uint64(dst)<<dstPortShift,
		uint64(r.srcPort.Low&src)<<srcPortShift|uint64(r.dstPort.Low&dst)<<dstPortShift)
}

// commonBits returns a mask of the leading bits that are the same in all ports of r.
func commonBits(r PortRange) uint16 {
	return ^uint16(0) << bits.Len16(r.Low^r.High)
}

// isBlock says whether r is all ports with its common bits.
func isBlock(r PortRange) bool {
	differ := ^commonBits(r)
	return r.Low&differ == 0 && r.High&differ == differ
}

// splitRange cuts a range that is no block in two, where the first bit that its ports do not have in common changes.
// Each half has at least one bit more in common.
func splitRange(r PortRange) (lower, upper PortRange) {
	middle := r.High & (commonBits(r)>>1 | 1<<15)
	return PortRange{Low: r.Low, High: middle - 1}, PortRange{Low: middle, High: r.High}
}

// split cuts one range of ports of r in two; false if both are blocks.
func (r *rule) split() (a, b rule, ok bool) {
	a, b = *r, *r
	switch {
	case !isBlock(r.dstPort):
		a.dstPort, b.dstPort = splitRange(r.dstPort)
	case !isBlock(r.srcPort):
		a.srcPort, b.srcPort = splitRange(r.srcPort)
	default:
		return a, b, false
	}
	a.maskPorts()
	b.maskPorts()
	return a, b, true
}

// covers says whether every packet that matches o matches r.
func (r *rule) covers(o *rule) bool {
	return r.mask.within(&o.mask) && r.mask.equal(&r.value, &o.value) &&
		r.srcPort.Low <= o.srcPort.Low && r.srcPort.High >= o.srcPort.High &&
		r.dstPort.Low <= o.dstPort.Low && r.dstPort.High >= o.dstPort.High
}

// matches says whether a packet with the words k matches r.
func (r *rule) matches(k *words, wide bool) bool {
	differ := (k[0]^r.value[0])&r.mask[0] | (k[1]^r.value[1])&r.mask[1] | (k[2]^r.value[2])&r.mask[2] |
		(k[3]^r.value[3])&r.mask[3]
	if wide {
		differ |= (k[4]^r.value[4])&r.mask[4] | (k[5]^r.value[5])&r.mask[5]
	}
	src, dst := uint16(k[0]>>srcPortShift), uint16(k[0]>>dstPortShift)
	return differ == 0 && src >= r.srcPort.Low && src <= r.srcPort.High && dst >= r.dstPort.Low && dst <= r.dstPort.High
}
