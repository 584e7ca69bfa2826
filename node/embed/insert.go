package embed

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire/inband"
)

// Insert does what a source does: it appends p to dst with INT as ins asks for it, and returns the new frame.
//
// own is the source's own metadata; nil if it adds none. Values that own does not have are written as not available.
// mtu is that of the egress link, in bytes of the IP packet; 0: no limit. If the fixed headers do not fit, INT is not
// started; if only the source's metadata do not, M is set instead (INT 2.1 §5.3). Source-only metadata belong to the
// fixed headers: without them nobody could read the stack. Fragments get no INT, and nothing is ever fragmented.
//
// A packet that is marked as INT already must have gone through CleanMark if it comes from outside the domain.
func (d *Domain) Insert(dst []byte, p *Packet, ins Instruction, own *inband.Metadata, mtu int) (out []byte, r Result) {
	w, err := d.demand(&ins)
	where := d.place(p)
	switch {
	case p.L3 == 0:
		r.Why = NotIP
	case d.Mode == XD:
		r.Why = WrongMode
	case p.INT.Present && !p.INT.DestinationOnly():
		r.Why = AlreadyINT
	case p.Fragment:
		r.Why = IsFragment
	case err != nil:
		r.Why = BadInstruction
	case where == nowhere:
		r.Why = NoCarrier
	default:
		r, own = d.fit(p, where, &w, &ins, own, mtu)
	}
	if r.Action != Inserted {
		return append(dst, p.Frame...), r
	}
	if own == nil && w.sourceOnly > 0 && w.bitmap&bitLast != 0 {
		// Source-only metadata stand in front of the complement of the bottom record. Without a record of the source
		// nobody could tell that they stand behind it: then there are no complements.
		w.bitmap &^= bitLast
		w.recordLen -= 4
	}
	at := where.at(d, p)
	out = append(dst, p.Frame[:at]...)
	start := len(out)
	more := where.destinationLen(p, &ins)
	out = d.appendFront(out, p, where, r.Added-more, more > 0)
	out = d.appendHeader(out, &w, &ins, own != nil, r.SetM)
	if d.Mode == MX {
		out = append(out, ins.SourceInserted...)
	} else {
		out = d.appendSource(out, &w, &ins, own)
	}
	end := len(out) - len(dst)
	if d.hasTail() {
		tail := inband.Tail05{
			Proto: p.Protocol, DstPort: binary.BigEndian.Uint16(p.Frame[p.L4+2:]),
			DSCP: d.cleaned(p.DSCP),
		}
		out = tail.Append(out)
	}
	if more > 0 {
		out = d.appendDestination(out, p, where, ins.Destination)
	}
	inserted := out[start:]
	out = append(out, p.Frame[at:]...)
	e := edit{p: p, f: out[len(dst):]}
	d.announce(&e, where, inserted)
	bitmap := w.bitmap
	if own == nil { // no record that could hold a complement
		bitmap = 0
	}
	d.settle(&e, bitmap, end)
	return out, r
}

// fit decides what can be inserted, and returns own if it can have its record.
func (d *Domain) fit(p *Packet, where place, w *demand, ins *Instruction, own *inband.Metadata, mtu int) (Result,
	*inband.Metadata,
) {
	n := where.frontLen(d, p) + d.headerLen() + where.destinationLen(p, ins)
	record := w.recordLen
	if d.Mode == MX {
		n += len(ins.SourceInserted)
		own, record = nil, 0
	} else {
		n += w.sourceOnly
	}
	if d.hasTail() {
		n += 4
	}
	if record == 0 {
		own = nil
	}
	size := p.TotalLength
	if mtu > 0 && size+n > mtu {
		return Result{Why: MTU}, nil
	}
	r := Result{Action: Inserted, Added: n}
	if own != nil {
		if mtu > 0 && size+n+record > mtu {
			r.Why, r.SetM = MTU, d.Version >= inband.Version10
			own = nil
		} else {
			r.Added += record
			r.Record = true
		}
	}
	if !p.canGrow(r.Added) || where == inGeneve && int(p.Frame[p.tunnelAt]&0x3F)+r.Added/4 > maxGeneveOptions {
		return Result{Why: CarrierFull}, nil
	}
	return r, own
}

// appendHeader appends the INT header. has says that the source adds its own record, m that the MTU kept it from that.
func (d *Domain) appendHeader(b []byte, w *demand, ins *Instruction, has, m bool) []byte {
	written := d.written(w.bitmap)
	remaining, total := uint8(w.maxHops), uint8(0)
	if has {
		remaining, total = remaining-1, 1
	}
	words, count := uint8(w.recordLen/4), uint8(bits.OnesCount16(w.bitmap))
	switch {
	case d.Mode == MX:
		h := inband.MX{
			Version: 2, D: ins.D, Bitmap: w.bitmap,
			DomainID: d.DomainID, DSInstruction: w.dsInstruction, DSFlags: d.DSFlags | ins.DSFlags,
		}
		return h.Append(b)
	case d.Version == inband.Version20:
		h := inband.MD{
			Version: 2, D: ins.D, M: m, HopML: words, RemainingHopCount: remaining, Bitmap: w.bitmap,
			DomainID: d.DomainID, DSInstruction: w.dsInstruction, DSFlags: d.DSFlags | ins.DSFlags,
		}
		return h.Append(b)
	case d.Version == inband.Version10:
		h := inband.Header10{
			Version: 1, Rep: uint8(d.ReplicaPolicy), M: m, HopML: words, RemainingHopCount: remaining, Bitmap: written,
		}
		return h.Append(b)
	case d.likes2016():
		h := inband.Header2016{
			Rep: uint8(d.ReplicaPolicy), InstructionCount: count, MaxHopCount: uint8(w.maxHops), TotalHopCount: total,
			Bitmap: written,
		}
		return h.Append(b)
	}
	h := inband.Header05{
		Rep: uint8(d.ReplicaPolicy), InstructionCount: count, MaxHopCount: uint8(w.maxHops), TotalHopCount: total,
		Bitmap: written,
	}
	return h.Append(b)
}
