package embed

import (
	"github.com/waybill-int/waybill/wire/inband"
)

// PopIntermediate is what a transit node may do instead of setting M (INT 2.1 §5.3): it appends p to dst without the
// stack, which it returns for an intermediate report. It is a view into the frame that Parse was given; source-only
// metadata go with it. The INT header stays as it is.
//
// own is the node's record if that is to be in the packet, with ds as PushDS has it; then it must not be in the report.
// With own nil the record belongs into the report, and so it does if Result.Record is false: the packet still exceeds
// mtu with it, or no more nodes may add one.
func (d *Domain) PopIntermediate(dst []byte, p *Packet, own *inband.Metadata, ds []byte, mtu int) (out []byte,
	stack inband.Stack, r Result,
) {
	t := &p.INT
	why := d.pushable(p, own)
	if why == NoMetadata {
		why = Done
	}
	if why == Done && d.Version != inband.Version20 {
		why = WrongMode
	}
	if why != Done {
		return append(dst, p.Frame...), stack, Result{Why: why}
	}
	var s Stripped
	d.take(p, &s)
	removed := t.StackEnd - t.Stack
	switch {
	case own != nil && t.Remaining == 0:
		own, r.Why, r.SetE = nil, HopLimit, !t.E
	case own != nil && mtu > 0 && p.TotalLength-removed+t.recordLen > mtu:
		own, r.Why = nil, MTU
	}
	out = append(dst, p.Frame[:t.Stack]...)
	n := 0
	if own != nil {
		out = d.appendPushed(out, t, own, ds)
		n = len(out) - len(dst) - t.Stack
		r.Record = true
	}
	out = append(out, p.Frame[t.StackEnd:]...)
	e := edit{p: p, f: out[len(dst):]}
	e.delta.remove(p.Frame[t.Stack:t.StackEnd])
	e.delta.insert(e.f[t.Stack : t.Stack+n])
	bitmap := uint16(0)
	if own != nil {
		d.count(&e)
		bitmap = t.Bitmap
	}
	if r.SetE {
		e.put8(t.Header, e.f[t.Header]|d.flagE())
	}
	r.Action, r.Added = Popped, n-removed
	d.resizeINT(&e, r.Added)
	d.settle(&e, bitmap, t.Stack+n)
	return out, s.Stack, r
}
