package ioam

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

// The namespaces of the tests: two that their domain knows, and one that it does not.
const (
	ours, ours2, foreign = 0x007B, 0x8001, 0x03E7
)

func testDomain() *Domain { return &Domain{Namespaces: []uint16{0, ours, ours2}} }

func parse(t testing.TB, frame []byte) *Packet {
	t.Helper()
	p := new(Packet)
	if err := p.Parse(frame); err != nil {
		t.Fatalf("Parse: %v\n%x", err, frame)
	}
	if p.L3 == 0 || p.Malformed != 0 {
		t.Fatalf("Parse: %+v\n%x", p, frame)
	}
	return p
}

// found returns all IOAM options of a frame.
func found(t testing.TB, frame []byte) (list []Option) {
	t.Helper()
	var o Option
	for s := parse(t, frame).Options(); s.Next(&o); {
		list = append(list, o)
	}
	return list
}

// records returns the records of a trace as bytes, newest first.
func records(t testing.TB, o *Option) (list [][]byte) {
	t.Helper()
	nodes, err := o.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	var n ioam.Node
	for nodes.Next(&n) {
		list = append(list, n.Append(nil, o.Trace.Type))
	}
	if nodes.Err() != nil {
		t.Fatal(nodes.Err())
	}
	return list
}

// node returns a record of which every value is known.
func node(id uint32) *ioam.Node {
	return &ioam.Node{
		HopLimit: 63, NodeID: id, IngressIf: 11, EgressIf: 12, TsSec: 1000, TsFrac: 2000, TransitDelay: 30, NSData: 4,
		QueueDepth: 5,
		Complement: 6, HopLimitWide: 63, NodeIDWide: uint64(id) << 8, IngressIfWide: 7, EgressIfWide: 8, NSDataWide: 9,
		BufferOccupancy: 10,
		Snapshot:        ioam.Snapshot{SchemaID: 11, Data: []byte("abcd")},
	}
}

// encapsulate inserts an option.
func encapsulate(t testing.TB, d *Domain, frame []byte, q *Request, own *ioam.Node) []byte {
	t.Helper()
	out, r := d.Encapsulate(nil, parse(t, frame), q, own, 0)
	if r.Action != Inserted {
		t.Fatalf("Encapsulate: %+v, %v", r, q.Check())
	}
	return out
}

// transit calls Transit, which must do what action and why say.
func transit(t testing.TB, d *Domain, frame []byte, own *ioam.Node, mtu int, action Action, why Why) []byte {
	t.Helper()
	out, r := d.Transit(nil, parse(t, frame), own, mtu)
	if r.Action != action || r.Why != why || r.Grown != len(out)-len(frame) || r.SetO != (action == Marked) {
		t.Fatalf("Transit: %+v, want %v and %v\n%x\n%x", r, action, why, frame, out)
	}
	return out
}

func decapsulate(t testing.TB, d *Domain, frame []byte) []byte {
	t.Helper()
	out, r := d.Decapsulate(nil, parse(t, frame))
	if r.Action != Removed || r.Grown != len(out)-len(frame) {
		t.Fatalf("Decapsulate: %+v", r)
	}
	return out
}

func wantSame(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s:\ngot  %x\nwant %x", what, got, want)
	}
}

// A shape says how a test packet is to look.
type shape struct {
	tags    int    // VLAN tags
	options []byte // of its hop-by-hop header, a multiple of 8 bytes less 2; nil: it has none
	payload int
	padding int // bytes behind the IPv6 packet
}

// frame builds a UDP packet. No checksum in it covers the hop-by-hop header.
func (s shape) frame() []byte {
	eth := packet.Ethernet{
		Dst: [6]byte{2, 0, 0, 0, 2, 2}, Src: [6]byte{2, 0, 0, 0, 1, 1},
		EtherType: packet.EtherTypeIPv6,
	}
	if s.tags > 0 {
		eth.EtherType = packet.EtherTypeVLAN
	}
	b := eth.Append(nil)
	for i := range s.tags {
		tag := packet.VLAN{ID: uint16(100 + i), EtherType: packet.EtherTypeVLAN}
		if i == s.tags-1 {
			tag.EtherType = packet.EtherTypeIPv6
		}
		b = tag.Append(b)
	}
	udp := packet.UDP{SrcPort: 40000, DstPort: 53, Length: uint16(8 + s.payload), Checksum: 0x1234}
	ip := packet.IPv6{
		DSCP: 10, FlowLabel: 0x12345, PayloadLength: udp.Length, NextHeader: packet.ProtoUDP, HopLimit: 64,
		Src: [16]byte{0x20, 1, 0x0d, 0xb8, 0, 1, 15: 1}, Dst: [16]byte{0x20, 1, 0x0d, 0xb8, 0, 2, 15: 2},
	}
	if s.options == nil {
		b = ip.Append(b)
	} else {
		h := packet.IPv6Options{
			NextHeader: ip.NextHeader, HdrExtLen: uint8((2+len(s.options))/8 - 1),
			Options: s.options,
		}
		ip.NextHeader = packet.ProtoHopByHop
		ip.PayloadLength += uint16(h.Len())
		b = h.Append(ip.Append(b))
	}
	b = udp.Append(b)
	for i := range s.payload + s.padding {
		b = append(b, byte(i))
	}
	return b
}

func randomShape(r *rand.Rand) shape {
	s := shape{tags: r.IntN(3), payload: r.IntN(100) * r.IntN(10), padding: max(0, r.IntN(30)-20)}
	if r.IntN(2) == 0 {
		s.options = randomOptions(r)
	}
	return s
}

// randomOptions fills a hop-by-hop header with options that hosts send, and with padding of any kind.
func randomOptions(r *rand.Rand) []byte {
	var b []byte
	for range r.IntN(4) {
		switch r.IntN(4) {
		case 0: // router alert
			b = append(b, 5, 2, 0, byte(r.Uint32()))
		case 1: // an option for experiments
			n := r.IntN(20)
			b = append(b, 0x1E, byte(n))
			b = append(b, randomBytes(r, n)...)
		case 2: // IOAM of another domain
			frame, _ := (&Domain{Namespaces: []uint16{foreign}}).Encapsulate(nil, parseShape(),
				request(ioam.TypeIncremental, foreign), node(1), 0)
			var p Packet
			if p.Parse(frame) == nil {
				b = append(b, frame[p.HopByHop+4:p.HopByHopEnd]...)
			}
		case 3:
			b = append(b, make([]byte, r.IntN(5))...) // Pad1
		}
	}
	for (2+len(b))%8 != 0 || len(b) == 0 {
		if n := 8 - (2+len(b))%8; n >= 2 && r.IntN(2) == 0 {
			b = append(b, packet.IPv6OptionPadN, byte(n-2))
			b = append(b, randomBytes(r, n-2)...)
		} else {
			b = append(b, packet.IPv6OptionPad1)
		}
	}
	return b
}

func parseShape() *Packet {
	p := new(Packet)
	_ = p.Parse(shape{}.frame())
	return p
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// request asks for a trace with room for a few records of two words.
func request(optionType uint8, namespace uint16) *Request {
	return &Request{
		Type: optionType, NamespaceID: namespace, TraceType: ioam.BitHopLimitNodeID | ioam.BitInterfaces,
		RemainingLen: 6,
	}
}

func randomRequest(r *rand.Rand) *Request {
	q := &Request{
		Type:        []uint8{ioam.TypePreallocated, ioam.TypeIncremental, ioam.TypeDEX}[r.IntN(3)],
		NamespaceID: []uint16{0, ours, ours2}[r.IntN(3)],
		TraceType:   r.Uint32() & r.Uint32() & 0xFFFFFF, Loopback: r.IntN(4) == 0, Active: r.IntN(4) == 0,
		HasFlowID: r.IntN(2) == 0, HasSequence: r.IntN(2) == 0, FlowID: r.Uint32(), Sequence: r.Uint32(),
	}
	if ioam.NodeLen(q.traceType()) == 0 {
		q.TraceType |= ioam.BitQueueDepth
	}
	least := ioam.NodeLen(q.traceType())
	q.RemainingLen = uint8(least + r.IntN(MaxWords+1-least))
	return q
}

func randomNode(r *rand.Rand) *ioam.Node {
	n := node(r.Uint32() & 0xFFFFFF)
	n.TsSec, n.TsFrac, n.QueueDepth = r.Uint32(), r.Uint32(), r.Uint32()
	n.Unavailable = r.Uint32() & r.Uint32() & 0xFFFFFF &^ (ioam.BitsUndefined | ioam.BitSnapshot)
	n.Snapshot.Data = randomBytes(r, 4*r.IntN(5))
	if len(n.Snapshot.Data) == 0 && r.IntN(2) == 0 {
		n.Snapshot.SchemaID = 0xFFFFFF
	}
	return n
}

// expected returns the record that a node has to write.
func expected(own *ioam.Node, traceType uint32) []byte {
	n := *own
	n.Unavailable |= ioam.BitsUndefined
	return n.Append(nil, traceType)
}

func wantRecords(t testing.TB, o *Option, want [][]byte) {
	t.Helper()
	if got := records(t, o); !slices.EqualFunc(got, want, bytes.Equal) {
		t.Fatalf("records:\ngot  %x\nwant %x", got, want)
	}
}
