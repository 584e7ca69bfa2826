//go:build linux

package bpf

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cilium/ebpf/btf"

	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// Reasons that src/types.h adds to those of the kernel: NO_CARRIER, and FOREIGN_INT.
const (
	noCarrier        = 0xFFFE
	ReasonForeignINT = 0xFFFD // from outside with INT, which is not accepted
)

// DropReasons returns the names of the running kernel's reasons for drops by number, without SKB_DROP_REASON_. They
// have other numbers in every version. One more, NO_CARRIER, is what the programs find out themselves: the kernel gives
// the reason of a full queue to packets for a port without carrier.
func DropReasons() (map[uint16]string, error) {
	types, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("types of the kernel: %w", err)
	}
	var enum *btf.Enum
	if err := types.TypeByName("skb_drop_reason", &enum); err != nil {
		return nil, fmt.Errorf("reasons for drops: %w", err)
	}
	names := make(map[uint16]string, len(enum.Values)+1)
	for _, v := range enum.Values {
		if v.Value < ReasonForeignINT {
			names[uint16(v.Value)] = strings.TrimPrefix(v.Name, "SKB_DROP_REASON_")
		}
	}
	names[noCarrier] = "NO_CARRIER"
	return names, nil
}

// dropped reports a packet that the kernel has dropped, as it came.
func (r *Reporter) dropped(e *Event, out *node.Output) {
	r.fill(e)
	frame := r.frame
	if e.Inserted || e.Record > 0 {
		frame = r.withdraw(e)
	}
	ttl := uint8(0)
	if at := ipAt(frame); at+8 < len(frame) {
		if ttl = frame[at+8]; frame[at]>>4 == 6 {
			ttl = frame[at+7]
		}
	}
	var p embed.Packet
	foreign := e.Reason == ReasonForeignINT
	if r.Node.Domain().Parse(frame, &p) == nil && p.INT.D && !foreign { // a probe clone, as sinks drop all of them
		out.Reports = out.Reports[:0]
		return
	}
	r.Node.Arrive(frame, node.Ingress{Port: e.InPort, TimeNs: e.ArrivedNs}, &r.state)
	d := node.Drop{TimeNs: e.DepartedNs, Port: e.OutPort, QueueBytes: e.QueueBytes, Congestion: &e.Congestion}
	d.Place, d.Reason = r.Why(e.Reason, ttl)
	d.Always = e.Reason == ReasonFiltered
	if d.Place == node.PlaceIngress {
		d.Port = 0
	}
	r.Node.Drop(frame, &r.state, d, out)
}

// withdraw takes from a packet what this node had put into it.
func (r *Reporter) withdraw(e *Event) []byte {
	d := r.Node.Domain()
	var p embed.Packet
	if d.Parse(e.Bytes, &p) != nil || !p.INT.Present || p.INT.Malformed != 0 {
		return e.Bytes
	}
	if e.Inserted {
		if out, s, err := d.Strip(r.frame[:0], &p); err == nil && s.Present {
			r.frame = out
		}
		return r.frame
	}
	from, to := e.Record, e.Record+e.RecordLen
	if from < p.INT.Stack || to > p.INT.StackEnd || p.INT.Type != 1 {
		return e.Bytes
	}
	f := append(append(r.frame[:0], e.Bytes[:from]...), e.Bytes[to:]...)
	r.frame = f
	before := e.Bytes
	sum, ipSum := []byte(nil), 0 // a length in the pseudo header too
	if p.Protocol == packet.ProtoTCP {
		sum = f[p.L4+16:]
	} else if sum = f[p.L4+6:]; sum[0]|sum[1] == 0 {
		sum = nil
	}
	change := func(at, less int) {
		v := binary.BigEndian.Uint16(f[at:])
		binary.BigEndian.PutUint16(f[at:], uint16(int(v)-less))
	}
	update := func(old, new []byte) {
		if sum != nil {
			binary.BigEndian.PutUint16(sum, packet.UpdateChecksum(binary.BigEndian.Uint16(sum), old, new))
		}
	}
	header, length := p.INT.Header, p.INT.Shim+1 // Length of the shim
	switch {
	case d.Carrier == embed.Geneve:
		options := p.L4 + 8
		f[options] -= uint8(e.RecordLen / 4)
		update(before[options:options+2], f[options:options+2])
		length = p.INT.Shim + 3
	case d.Version != inband.Version20:
		length = p.INT.Shim + 2
	}
	f[length] -= uint8(e.RecordLen / 4)
	if f[header+3]++; d.Version == inband.Version2016 { // it counts hops, and not those that are left
		f[header+3] -= 2
	}
	update(before[from:to], nil)
	word := length &^ 1
	update(before[word:word+2], f[word:word+2])
	update(before[header+2:header+4], f[header+2:header+4])
	length = p.L3 + 2
	if p.IPVersion == 6 {
		length = p.L3 + 4
	} else {
		ipSum = p.L3 + 10
	}
	change(length, e.RecordLen)
	update(before[length:length+2], f[length:length+2]) // TCP and UDP: the pseudo header has a length less by as much
	if ipSum > 0 {
		old := binary.BigEndian.Uint16(f[ipSum:])
		binary.BigEndian.PutUint16(f[ipSum:], packet.UpdateChecksum(old, before[length:length+2], f[length:length+2]))
	}
	if p.Protocol == packet.ProtoUDP {
		change(p.L4+4, e.RecordLen)
		update(before[p.L4+4:p.L4+6], f[p.L4+4:p.L4+6])
		if sum != nil {
			binary.BigEndian.PutUint16(sum, packet.UDPChecksum(binary.BigEndian.Uint16(sum)))
		}
	}
	return f
}
