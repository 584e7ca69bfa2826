package ioam

import (
	"bytes"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

// The tests of this file are one for each rule about IOAM nodes.

var traces = []uint8{ioam.TypePreallocated, ioam.TypeIncremental}

// A node adds nothing to a trace of a namespace that it does not know, not even O (RFC 9197 §4.3).
func TestR095UnknownNamespace(t *testing.T) {
	theirs := &Domain{Namespaces: []uint16{foreign}}
	for _, optionType := range traces {
		frame := encapsulate(t, theirs, shape{payload: 20}.frame(), request(optionType, foreign), node(1))
		wantSame(t, "packet", transit(t, testDomain(), frame, node(2), 0, Forwarded, UnknownNamespace), frame)

		// With another trace of a namespace that it knows beside it, only that one gets a record.
		frame = encapsulate(t, testDomain(), frame, request(optionType, ours), nil)
		out, r := testDomain().Transit(nil, parse(t, frame), node(2), 0)
		if r.Action != Added || r.Why != UnknownNamespace || r.Records != 1 {
			t.Errorf("two namespaces: got %+v", r)
		}
		options := found(t, out)
		wantRecords(t, &options[0], [][]byte{expected(node(1), request(0, 0).TraceType)})
		wantRecords(t, &options[1], [][]byte{expected(node(2), request(0, 0).TraceType)})
		if left, r := testDomain().Decapsulate(nil, parse(t, out)); r.Action != Removed || len(found(t, left)) != 1 {
			t.Errorf("the sink: got %+v\n%x", r, left)
		}
	}
}

// A record that RemainingLen does not allow is not added, and O is set; where O was set before, nothing is added, even
// if there were room (RFC 9197 §4.4.1). The snapshot of a node counts.
func TestR096Overflow(t *testing.T) {
	d := testDomain()
	for _, optionType := range traces {
		q := request(optionType, ours)
		q.RemainingLen = 5 // two records of two words
		frame := encapsulate(t, d, shape{payload: 20}.frame(), q, node(1))
		frame = transit(t, d, frame, node(2), 0, Added, Done)
		full := transit(t, d, frame, node(3), 0, Marked, Overflow)
		before, after := found(t, frame)[0], found(t, full)[0]
		if !after.Trace.Overflow || after.Trace.RemainingLen != 1 || !bytes.Equal(before.Space, after.Space) {
			t.Errorf("got %+v\n%x", after.Trace, full)
		}
		wantSame(t, "O was set before", transit(t, d, full, node(4), 0, Forwarded, Overflow), full)

		q.RemainingLen = 60
		frame = encapsulate(t, d, shape{payload: 20}.frame(), q, nil)
		o := found(t, frame)[0]
		frame[o.End-len(o.Data)+2] |= 0x04
		wantSame(t, "O was set before, with room", transit(t, d, frame, node(4), 0, Forwarded, Overflow), frame)

		q.TraceType |= ioam.BitSnapshot
		q.RemainingLen = 2 + 1 + 1 // the record of two words, the snapshot's first word and its data
		frame = encapsulate(t, d, shape{}.frame(), q, nil)
		transit(t, d, frame, node(1), 0, Added, Done)
		large := node(1)
		large.Snapshot.Data = make([]byte, 8)
		transit(t, d, frame, large, 0, Marked, Overflow)
	}
}

// The words of undefined trace type bits are all ones (RFC 9197 §4.4.1).
func TestR097UndefinedBits(t *testing.T) {
	d := testDomain()
	for _, optionType := range traces {
		q := request(optionType, ours)
		q.RemainingLen = 8
		frame := encapsulate(t, d, shape{payload: 20}.frame(), q, nil)
		o := found(t, frame)[0]
		header := frame[o.End-len(o.Data):]
		header[2], header[5], header[6] = 4<<3, 0x08, 0x04 // NodeLen 4, bits 12 and 21
		own := node(7)
		own.Undefined = [10]uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
		after := found(t, transit(t, d, frame, own, 0, Added, Done))[0]
		space := after.Space
		if optionType == ioam.TypePreallocated {
			space = space[len(space)-16:]
		}
		if !bytes.Equal(space[8:], []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}) {
			t.Errorf("got %x", space)
		}
		if after.Trace.RemainingLen != 4 {
			t.Errorf("RemainingLen: got %d, want 4", after.Trace.RemainingLen)
		}
	}
}

// A source sets no undefined bits and not bit 23, and writes zeros where bits are reserved and where nothing is yet.
func TestR098SourceLeavesUndefinedBits(t *testing.T) {
	d := testDomain()
	for _, optionType := range []uint8{ioam.TypePreallocated, ioam.TypeIncremental, ioam.TypeDEX} {
		q := request(optionType, ours)
		q.TraceType, q.RemainingLen = 0xFFFFFFFF, 40
		dst := bytes.Repeat([]byte{0xFF}, 600)[:0] // what is not written stands out
		frame, r := d.Encapsulate(dst, parse(t, shape{payload: 5}.frame()), q, nil, 0)
		if r.Action != Inserted {
			t.Fatalf("got %+v", r)
		}
		o := found(t, frame)[0]
		traceType, want := o.Trace.Type, uint32(0xFFF002)
		if optionType == ioam.TypeDEX {
			traceType = o.DEX.TraceType
		}
		if traceType != want || o.Malformed != 0 {
			t.Errorf("type %d: got %#06x, want %#06x", optionType, traceType, want)
		}
		if reserved, data := frame[o.Start+2], o.Data; reserved != 0 || data[7] != 0 || optionType != ioam.TypeDEX &&
			data[3]&0x80 != 0 {
			t.Errorf("type %d: reserved bits are not zero: %x", optionType, frame[o.Start:o.End])
		}
		if o.IsTrace() && (o.Trace.NodeLen != 15 || slices.Max(append(o.Space, 0)) != 0) {
			t.Errorf("NodeLen %d, data space %x", o.Trace.NodeLen, o.Space)
		}
	}
}

// A pre-allocated trace keeps the packet's size: RemainingLen and one record change, nothing else (RFC 9197 §4.4).
func TestR099PreallocatedKeepsItsSize(t *testing.T) {
	d := testDomain()
	q := request(ioam.TypePreallocated, ours)
	q.Loopback, q.Active = true, true
	frame := encapsulate(t, d, shape{tags: 1, payload: 20, padding: 3}.frame(), q, nil)
	o := found(t, frame)[0]
	header := o.End - len(o.Data)
	frame[header+3] |= 0x80 // the reserved flag
	frame[header+7] = 0x55  // Reserved
	for i := range 3 {
		want := bytes.Clone(frame)
		want[header+3] -= 2
		copy(want[o.End-8*(i+1):], expected(node(uint32(i)), q.TraceType))
		// An MTU below the size of the packet is no reason: it does not grow.
		frame = transit(t, d, frame, node(uint32(i)), 100, Added, Done)
		wantSame(t, "packet", frame, want)
	}
}

// Direct export: the record is returned, the packet is not changed (RFC 9326 §3.1.2).
func TestR100DirectExport(t *testing.T) {
	d := testDomain()
	q := &Request{
		Type: ioam.TypeDEX, NamespaceID: ours, TraceType: ioam.BitHopLimitNodeID | ioam.BitTsSec,
		HasFlowID: true, FlowID: 77, HasSequence: true, Sequence: 5,
	}
	frame := encapsulate(t, d, shape{payload: 20}.frame(), q, node(1))
	kept := bytes.Clone(frame)
	record, o, r := d.Export([]byte("before"), parse(t, frame), node(2))
	if r.Action != Exported || o.DEX.FlowID != 77 || o.DEX.Sequence != 5 || o.NamespaceID != ours {
		t.Errorf("got %+v, %+v", r, o.DEX)
	}
	wantSame(t, "record", record, append([]byte("before"), expected(node(2), q.TraceType)...))
	wantSame(t, "packet", frame, kept)
	wantSame(t, "packet behind Transit", transit(t, d, frame, node(2), 0, Forwarded, NoIOAM), frame)

	at := o.End - len(o.Data)
	frame[at+5] |= 0x08 // undefined bit 12
	record, _, _ = d.Export(nil, parse(t, frame), node(2))
	if len(record) != 12 || !bytes.Equal(record[8:], []byte{0xFF, 0xFF, 0xFF, 0xFF}) {
		t.Errorf("undefined bit: got %x", record)
	}
	frame[at+3] = 0xFF // extension flags that ask for more words than there are
	if _, _, r = d.Export(nil, parse(t, frame), node(2)); r.Why != MalformedIOAM {
		t.Errorf("malformed: got %+v", r)
	}
	if _, _, r = (&Domain{}).Export(nil, parse(t, frame), node(2)); r.Why != UnknownNamespace {
		t.Errorf("unknown namespace: got %+v", r)
	}
	if got := found(t, frame)[0].Malformed; got != wire.ErrTruncatedIOAM {
		t.Errorf("Malformed: got %v", got)
	}
}
