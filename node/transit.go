package node

import (
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
)

// transit is for a packet that stays inside the domain.
func (n *Node) transit(v *visit) {
	p := &v.packet
	flags, readable := embedded(p)
	switch {
	case !p.INT.Present && n.ioam != nil && n.ioamInside(v):
		return
	case !p.INT.Present:
		n.postcard(v, p.Frame)
		return
	case !readable || p.INT.Type == inband.TypeDestination:
		n.refused(NotPushed, refusal(p))
		n.queueReport(v, n.stripped(v))
		return
	}
	n.countIf(!n.knows(p.INT.DomainID), UnknownDomain)
	switch {
	case flags&telemetry.Instructed != 0:
		n.instructed(v, flags)
		n.setDSFlags()
		return
	case n.config.SlowPath:
		n.followUp(v)
	default:
		n.push(v)
	}
	n.setDSFlags()
	if v.queue.Reason != 0 {
		n.queueReport(v, n.stripped(v))
	}
}

// refusal says why INT that cannot be read is left alone.
func refusal(p *embed.Packet) embed.Why {
	switch {
	case p.INT.Malformed == 0:
		return embed.DestinationOnly
	case p.INT.Version == inband.VersionUnknown:
		return embed.UnknownVersion
	}
	return embed.MalformedINT
}

// knows reports whether a Domain Specific ID is that of the default domain, or one whose metadata are known.
func (n *Node) knows(domain uint16) bool {
	return domain == 0 || domain == n.inside.DomainID || n.inside.Points.Domains[domain] != nil
}

// push adds the record of this node.
func (n *Node) push(v *visit) {
	p := &v.packet
	ds := n.perHopOf(p.INT.DomainID, p.INT.DSInstruction)
	out, r := n.inside.PushDS(n.out.buffer[:0], p, &v.own, ds, v.egress.MTU)
	if n.pop && r.Why == embed.MTU && n.canPop(p) {
		n.popStack(v, out[:0], ds)
		return
	}
	n.out.set(out)
	switch {
	case r.Action == embed.Pushed:
		n.count(Pushed)
	case r.SetM:
		n.refused(MarkedMTU, r.Why)
	case r.SetE:
		n.refused(MarkedHopLimit, r.Why)
	default:
		n.refused(NotPushed, r.Why)
	}
	if n.config.Replicate && !p.INT.C {
		n.replicate(v)
	}
}

// replicate makes the copies that a packet asks for (INT 2016 §5.3.3). The record of this node in a copy has the port
// and the time of the copy, whose queue nobody has looked at.
func (n *Node) replicate(v *visit) {
	own := v.own
	own.Has &^= inband.QueueID | inband.QueueOccupancy | inband.QueueCongestion | inband.EgressTxUtil
	for i := range v.egress.Others {
		o := &v.egress.Others[i]
		if !o.asked(v.packet.INT.Replicas) {
			continue
		}
		own.L1Egress = o.Port
		n.leaves(&own, v.state.arrivedNs, o.DepartedNs)
		c := n.out.addCopy(o.Port)
		c.Frame, _ = n.inside.Push(c.Frame[:0], &v.packet, &own, 0)
		if n.inside.Parse(c.Frame, &n.copied) == nil && n.inside.MarkParsedCopy(&n.copied) {
			n.count(Copies)
		} else {
			n.out.Copies = n.out.Copies[:len(n.out.Copies)-1]
		}
	}
}

// canPop reports whether a stack can be taken out. Without its source-only metadata nobody could read what is pushed
// later: the header still says that they are there.
func (n *Node) canPop(p *embed.Packet) bool {
	t := &p.INT
	return t.StackEnd > t.Stack && n.inside.Points.SourceOnly(t.DomainID, t.DSInstruction) == 0
}

// popStack takes the stack out of a packet that has no room for the record of this node, and reports it (INT 2.1 §5.3).
func (n *Node) popStack(v *visit, dst, ds []byte) {
	p := &v.packet
	out, _, r := n.inside.PopIntermediate(dst, p, &v.own, ds, v.egress.MTU)
	n.out.set(out)
	n.count(PoppedStack)
	bits := uint16(onlyStack)
	if !r.Record { // it goes into the report or into the packet, not into both
		bits = metadataOf(p.INT.Version, p.INT.Bitmap)
	}
	n.count(Intermediates)
	n.tell(v, telemetry.Tracked|telemetry.Embedded|telemetry.Intermediate, p.Frame, p.Payload, bits, p.INT.DomainID)
}

// followUp forwards the packet as it is, and lets a follow-up packet carry the record of this node (INT 2016 §4.2).
func (n *Node) followUp(v *visit) {
	p := &v.packet
	n.out.Extra = addFrame(n.out.Extra)
	last := &n.out.Extra[len(n.out.Extra)-1]
	var r embed.Result
	if *last, r = n.inside.FollowUp(*last, p, &v.own); r.Action == embed.Forwarded {
		n.out.Extra = n.out.Extra[:len(n.out.Extra)-1]
		n.refused(NotPushed, r.Why)
		return
	}
	n.count(FollowUps)
}

// instructed reports a packet of INT-MX, which stays as it is (INT 2.1 §3.1).
func (n *Node) instructed(v *visit, flags telemetry.Flags) {
	p := &v.packet
	if n.events(v, 0, n.latency(v)) != 0 {
		n.tell(v, flags, p.Frame, p.Payload, metadataOf(p.INT.Version, p.INT.Bitmap), p.INT.DomainID)
	}
}

// stripped returns the packet as it would be behind a sink, for a report of this node alone: the stack is for the sink
// to report. If INT cannot be removed the packet is not reported, only what happened.
func (n *Node) stripped(v *visit) []byte {
	out, _, _ := n.inside.Strip(n.spare[:0], &v.packet)
	n.spare = out
	return out
}
