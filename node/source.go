package node

import (
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// source is for a packet that enters the domain: it gets INT if the flow watchlist says so (INT 2.1 §2).
func (n *Node) source(v *visit) {
	s, p := v.state, &v.packet
	if !s.is(watched) || s.mode == watch.ModeXD {
		n.postcard(v, n.clean(v))
		return
	}
	if s.mode == watch.ModeIOAM {
		n.ioamSource(v)
		return
	}
	d := &n.inside
	if s.mode == watch.ModeMX {
		d = &n.mx
	}
	var device [8]byte
	ins := embed.Instruction{Bitmap: s.bitmap, D: n.config.Clone, DS: n.data.perHop, SourceOnly: n.data.sourceOnly}
	if s.mode == watch.ModeMX {
		ins.DS, ins.SourceOnly, ins.SourceInserted = nil, nil, n.data.sourceOnly
	}
	if n.NamesDevice() {
		copy(device[:], s.srcMAC[:])
		ins.SourceOnly = device[:]
	}
	var number *uint32
	if n.sequence || n.firstTTL {
		ins.Destination = &n.destination
		n.destination = inband.Destination{HasSequence: n.sequence, HasTTL: n.firstTTL, TTL: s.ttl}
		if n.sequence {
			number, _ = n.numbers.of(s.flow)
			n.destination.Sequence = *number + 1
		}
	}
	into := &n.out.buffer
	if n.config.Clone {
		into = &n.out.addCopy(v.egress.Port).Frame
	}
	out, r := d.Insert((*into)[:0], p, ins, &v.own, v.egress.MTU)
	*into = out
	if r.Action != embed.Inserted {
		n.out.Copies = n.out.Copies[:0]
		n.refused(NotInserted, r.Why)
		n.queueReport(v, n.clean(v))
		return
	}
	if n.config.Clone {
		n.clean(v)
		n.count(Copies)
	} else {
		n.out.set(out)
	}
	n.count(Inserted)
	if number != nil {
		*number++
	}
	n.countIf(!r.Record && s.mode == watch.ModeMD, InsertedEmpty)
	switch {
	case s.mode == watch.ModeMX:
		if reason := n.events(v, 0, n.latency(v)); reason != 0 {
			n.tell(v, telemetry.Tracked|telemetry.Instructed, out, p.Payload+r.Added, s.metadata, n.inside.DomainID)
		}
	case v.queue.Reason != 0:
		n.queueReport(v, n.unmarked(v))
	}
}

// NamesDevice reports whether the source-only metadata of the domain are the id of the device that sent the packet, as
// in the Transparent Security profile: its MAC address and two zero bytes.
func (n *Node) NamesDevice() bool {
	d := &n.inside
	if d.DomainID != codepoint.TSDomain || d.DSInstruction != 0x8000 {
		return false
	}
	table := d.Points.Domains[codepoint.TSDomain]
	return table != nil && table[0] == codepoint.DSBit{Bytes: 8, SourceOnly: true}
}

// unmarked returns the packet as it came, for a report, without a DSCP that would mark INT.
func (n *Node) unmarked(v *visit) []byte {
	p := &v.packet
	if !n.marked(p) {
		return p.Frame
	}
	n.spare, _ = n.inside.CleanMark(n.spare[:0], p)
	return n.spare
}
