package node

import (
	"github.com/waybill-int/waybill/node/event"
	"github.com/waybill-int/waybill/node/export"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/report"
)

// Drop takes a packet that the switch has lost. It is reported if it matches the drop watchlist, or if a queue that is
// monitored had no room for it (TR 2.0 §2.5, §2.6). In the report it is as it came, with the INT that it has: that
// tells of the nodes in front of this one. There is no more to be sent: out.Frame is nil.
func (n *Node) Drop(frame []byte, s *State, d Drop, out *Output) {
	out.reset()
	n.out = out
	defer func() { n.out = nil }()
	v := &n.visit
	v.state, v.egress = s, Egress{Port: d.Port, Queue: d.Queue, QueueBytes: d.QueueBytes, DepartedNs: d.TimeNs}
	v.queue = event.Verdict{}
	if d.Place == PlaceQueue {
		v.queue = n.tailDrop(&d)
	}
	outside := s.is(fromOutside)
	p := &v.packet
	err := n.parse(frame, p, outside)
	if !d.Always && !n.wantsDrop(v) && v.queue.Reason == 0 {
		return
	}
	n.count(DropReports)
	if n.exporter == nil {
		return
	}
	flags := telemetry.Dropped
	if s.is(watched) {
		flags |= telemetry.Tracked
	}
	if f, ok := embedded(p); ok && err == nil {
		flags |= f
	} else if f := n.ioamFlags(frame); f != 0 && !outside {
		flags |= f
	} else if err == nil && outside {
		frame = n.unmarked(v)
	}
	if v.queue.Congested {
		flags |= telemetry.Congested
	}
	n.measure(v)
	v.own.Has &= inband.L1Ingress | inband.L1Egress | inband.QueueID | inband.QueueOccupancy | inband.IngressTS
	if d.Port == 0 {
		v.own.Has &^= inband.L1Egress | inband.QueueID | inband.QueueOccupancy
	}
	if d.Place != PlaceQueue {
		v.own.Has &^= inband.QueueOccupancy
	}
	r := &n.told
	*r = export.Report{
		Flow: s.flow, HWID: n.config.Reports.HWID, Flags: flags, IngressTS: s.arrivedNs,
		Metadata: export.FromInband(n.usual|report.MDInterfaces, &v.own), DomainID: n.inside.DomainID,
	}
	if p.INT.Present {
		r.DomainID = p.INT.DomainID
	}
	n.describeDomain(r, 0)
	r.Metadata.Bits |= report.MDDrop
	r.Metadata.DropQueueID, r.Metadata.DropReason = d.Queue, d.Reason
	n.setFragment(r, frame, p.Payload)
	n.send(r, d.TimeNs)
}

// wantsDrop asks the drop watchlist.
func (n *Node) wantsDrop(v *visit) bool {
	s, p := v.state, &v.packet
	k := n.key(p, s.inPort)
	a, ok := n.drops.list.Match(&k)
	if !ok || a.Sample > 1 && (p.L3 == 0 || !n.sampler.Take(a, packetHash(p, s.flow))) {
		return false
	}
	if n.dropEvents == nil {
		return true
	}
	reason := n.dropEvents.Observe(&event.Observation{Flow: s.flow, NowNs: v.egress.DepartedNs, ReportAll: a.ReportAll})
	n.countIf(reason == 0, DropsSuppressed)
	return reason != 0
}
