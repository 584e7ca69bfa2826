package embed

import (
	"encoding/binary"
	"math"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
)

// Push does what a transit node does: it appends p to dst with a record of own in front of those that are there
// (INT 2.1 §5.8), and returns the new frame.
//
// Values that own does not have are written as not available, and so are per-hop DS metadata (see PushDS). With own nil
// the node adds nothing. mtu is that of the egress link, in bytes of the IP packet; 0: no limit. If the record does not
// fit, M is set; if no more nodes may add one, E. A packet without INT of the domain, with INT that is malformed, of an
// unknown version or type, or of INT-MX, is forwarded as it is.
func (d *Domain) Push(dst []byte, p *Packet, own *inband.Metadata, mtu int) (out []byte, r Result) {
	return d.PushDS(dst, p, own, nil, mtu)
}

// PushDS is Push with per-hop DS metadata of the node, in the order of the DS Instruction bits. If the header asks for
// another length, all ones are written.
func (d *Domain) PushDS(dst []byte, p *Packet, own *inband.Metadata, ds []byte, mtu int) (out []byte, r Result) {
	t := &p.INT
	why := d.pushable(p, own)
	n := t.recordLen
	switch {
	case why != Done:
	case t.Remaining == 0:
		return d.setFlags(dst, p, Result{Action: Marked, Why: HopLimit, SetE: true})
	case mtu > 0 && p.TotalLength+n > mtu:
		if d.Version < inband.Version10 { // it has no M
			why = MTU
			break
		}
		return d.setFlags(dst, p, Result{Action: Marked, Why: MTU, SetM: true})
	case !d.hasRoom(p, n):
		why = CarrierFull
	}
	if why != Done {
		return append(dst, p.Frame...), Result{Why: why}
	}
	return d.push(dst, p, own, ds), Result{Action: Pushed, Added: n, Record: true}
}

// pushable says why no record can be added to p.
func (d *Domain) pushable(p *Packet, own *inband.Metadata) Why {
	t := &p.INT
	switch {
	case !t.Present:
		return NoINT
	case t.Malformed == wire.ErrUnknownINTVersion:
		return UnknownVersion
	case t.Malformed == wire.ErrUnknownINTType:
		return UnknownType
	case t.Malformed != 0, p.badLength: // a UDP Length that is not possible could become one that is, and is wrong
		return MalformedINT
	case t.Type == inband.TypeDestination:
		return DestinationOnly
	case t.Type == inband.TypeMX:
		return WrongMode
	case p.Fragment:
		return IsFragment
	case own == nil:
		return NoMetadata
	case t.recordLen == 0:
		return NothingAsked
	}
	return Done
}

// hasRoom reports whether all length fields can count n bytes more.
func (d *Domain) hasRoom(p *Packet, n int) bool {
	t := &p.INT
	if !p.canGrow(n) {
		return false
	}
	at := t.Shim + d.shimLengthAt()
	words := int(p.Frame[at]) + n/4
	if t.Carrier == Geneve {
		words = int(p.Frame[at]&0x1F) + n/4
		options := int(p.Frame[p.tunnelAt]&0x3F) + n/4
		return words <= maxGeneveWords && options <= maxGeneveOptions
	}
	return words <= maxShimLength
}

// maxGeneveOptions is the words that Opt Len of Geneve can count.
const maxGeneveOptions = 63

// canGrow reports whether the lengths of IP and UDP can count n bytes more.
func (p *Packet) canGrow(n int) bool {
	longest := math.MaxUint16
	if p.IPVersion == 6 {
		longest += 40
	}
	return p.TotalLength+n <= longest
}

// shimLengthAt returns the offset of Length in the shim, or in the Geneve option.
func (d *Domain) shimLengthAt() int {
	switch {
	case d.Carrier == Geneve:
		return 3
	case d.Version == inband.Version20:
		return 1
	}
	return 2
}

// push appends p to dst with one more record.
func (d *Domain) push(dst []byte, p *Packet, own *inband.Metadata, ds []byte) []byte {
	t := &p.INT
	out := append(dst, p.Frame[:t.Stack]...)
	out = d.appendPushed(out, t, own, ds)
	n := len(out) - len(dst) - t.Stack
	out = append(out, p.Frame[t.Stack:]...)
	e := edit{p: p, f: out[len(dst):]}
	e.delta.insert(e.f[t.Stack : t.Stack+n])
	d.count(&e)
	d.resizeINT(&e, n)
	d.settle(&e, t.Bitmap, t.Stack+n)
	return out
}

// count notes in the INT header that a record was added.
func (d *Domain) count(e *edit) {
	const hops = 3 // offset of Remaining Hop Count, up to INT 0.5 Total Hop Count
	at := e.p.INT.Header + hops
	if d.Version < inband.Version10 {
		e.put8(at, e.f[at]+1)
	} else {
		e.put8(at, e.f[at]-1)
	}
}

// resizeINT notes in all length fields that INT has become n bytes longer.
func (d *Domain) resizeINT(e *edit, n int) {
	t := &e.p.INT
	at := t.Shim + d.shimLengthAt()
	e.put8(at, e.f[at]+uint8(n/4))
	if t.Carrier == Geneve {
		e.put8(e.p.tunnelAt, e.f[e.p.tunnelAt]+uint8(n/4)) // Opt Len
	}
	e.resize(n)
}

// settle makes the checksum right: by the complement at the end of the record that ends at end, or by an update of the
// field. Then the complement stays as it is, not used.
func (d *Domain) settle(e *edit, bitmap uint16, end int) {
	complement := d.Complement && d.Version >= inband.Version10 && bitmap&bitLast != 0
	if !complement || !d.updates() || !e.summed() || e.p.sum.of == sumGRE {
		e.finish(d)
		return
	}
	// The word that stands there is part of the change: all ones, which are 0 in ones' complement.
	binary.BigEndian.PutUint32(e.f[end-4:], e.delta.complement())
}
