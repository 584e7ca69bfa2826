package ioam

import "github.com/waybill-int/waybill/wire/ioam"

// Export does what a node does with direct export (RFC 9326 §3.1.2): it appends to dst the record of own that the first
// DEX option of the domain asks for, and returns that option, whose DEX says what flow and sequence number the record
// belongs to. The packet is to be forwarded as it is. Fields of undefined trace type bits are filled with all ones.
//
// The record has no header; whether and where it is sent to is for the caller.
func (d *Domain) Export(dst []byte, p *Packet, own *ioam.Node) (record []byte, o Option, r Result) {
	switch {
	case p.L3 == 0:
		return dst, o, Result{Why: NotIPv6}
	case p.Malformed != 0:
		return dst, o, Result{Why: MalformedIOAM}
	case own == nil:
		return dst, o, Result{Why: NoRecord}
	}
	r.Why = NoIOAM
	for s := p.Options(); s.Next(&o); {
		switch {
		case o.Type != ioam.TypeDEX:
		case !d.owns(&o):
			r.Why = UnknownNamespace
		case o.Malformed != 0:
			r.Why = MalformedIOAM
		default:
			node := *own
			node.Unavailable |= ioam.BitsUndefined
			return node.Append(dst, o.DEX.TraceType), o, Result{Action: Exported}
		}
	}
	return dst, Option{}, r
}
