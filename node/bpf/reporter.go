//go:build linux

package bpf

import (
	"encoding/binary"
	"slices"

	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/wire/packet"
)

// A Reporter makes reports of events. It hands each packet to a node as it came and as it left, and takes nothing from
// it but the reports: what became of the packet, the programs have decided by the same rules. The node samples nothing,
// for the programs have done that.
type Reporter struct {
	Node *node.Node
	// Why says where a packet is lost that the kernel drops for a reason, and what that is in reports; ttl is what the
	// packet has then.
	Why func(reason uint16, ttl uint8) (node.Place, uint8)

	state node.State
	frame []byte
}

// Report fills out.Reports.
func (r *Reporter) Report(e *Event, out *node.Output) {
	if e.Reason != 0 {
		r.dropped(e, out)
		return
	}
	r.fill(e)
	frame := r.frame
	if e.Inserted || e.Leaving && e.Record > 0 {
		frame = r.withdraw(e)
	}
	in := node.Ingress{Port: e.InPort, TimeNs: e.ArrivedNs, Unwatched: e.Unwatched}
	if e.ArrivedNs == 0 {
		in.TimeNs, in.Untimed = e.DepartedNs, true
	}
	if v := r.Node.Arrive(frame, in, &r.state); v.Drop {
		out.Reports = out.Reports[:0]
		return
	}
	route(frame, e)
	r.Node.Depart(frame, &r.state, node.Egress{
		Port: e.OutPort, Queue: e.Queue, QueueBytes: e.QueueBytes, EnqueuedNs: e.EnqueuedNs, DepartedNs: e.DepartedNs,
		MTU: e.MTU, Congestion: &e.Congestion,
	}, out)
}

// fill makes r.frame the packet of e. Behind what was kept zeros stand in for it: no report has more of it, and no rule
// looks there.
func (r *Reporter) fill(e *Event) {
	r.frame = append(r.frame[:0], e.Bytes...)
	if kept := len(r.frame); kept < e.Len {
		r.frame = slices.Grow(r.frame, e.Len-kept)[:e.Len]
		clear(r.frame[kept:])
	}
}

// route does what the kernel has done to a packet that it forwarded.
func route(frame []byte, e *Event) {
	at := ipAt(frame)
	if e.TTL == 0 || len(frame) < at+20 {
		return
	}
	copy(frame, e.MAC[:])
	if frame[at]>>4 == 6 {
		frame[at+7] = e.TTL
		return
	}
	ttl := at + 8
	before := [2]byte{frame[ttl], frame[ttl+1]}
	frame[ttl] = e.TTL
	sum := packet.UpdateChecksum(binary.BigEndian.Uint16(frame[ttl+2:]), before[:], frame[ttl:ttl+2])
	binary.BigEndian.PutUint16(frame[ttl+2:], sum)
}

// ipAt returns where the IP header of a frame begins, behind VLAN tags.
func ipAt(frame []byte) int {
	at := 14
	for at+4 <= len(frame) && packet.IsVLAN(binary.BigEndian.Uint16(frame[at-2:])) {
		at += 4
	}
	return at
}
