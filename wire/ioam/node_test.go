package ioam_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

// record is a Node of one trace type as a wiretest.Codec.
type record struct {
	traceType uint32
	ioam.Node
}

func (r *record) Decode(b []byte) (int, error) { return r.Node.Decode(b, r.traceType) }
func (r *record) Append(b []byte) []byte       { return r.Node.Append(b, r.traceType) }
func (r *record) Len() int                     { return r.LenFor(r.traceType) }

const allFieldsType = 0xfff002

// The newer node of vector ioam_ipv6_all_fields_oss.
const allFieldsHex = `
	3c abcdef          // bit 0: hop limit, node id
	0001 0002          // bit 1: ingress, egress interface
	65000203           // bit 2: seconds
	3b9ac9ff           // bit 3: fraction
	80000000           // bit 4: transit delay, overflow
	01020304           // bit 5: namespace data
	00000037           // bit 6: queue depth
	ffffffff           // bit 7: checksum complement, not available
	3c 00112233445566  // bit 8: hop limit, wide node id
	00010001 00020002  // bit 9: wide interfaces
	0102030405060708   // bit 10: wide namespace data
	00000042           // bit 11: buffer occupancy
	02 00cafe          // bit 22: snapshot of 2 words, schema 0xcafe
	deadbeef00000001
`

func allFields() ioam.Node {
	return ioam.Node{
		Has:             allFieldsType,
		HopLimit:        60,
		NodeID:          0xabcdef,
		IngressIf:       1,
		EgressIf:        2,
		TsSec:           0x65000203,
		TsFrac:          999999999,
		TransitDelay:    ioam.TransitDelayOverflow,
		NSData:          0x01020304,
		QueueDepth:      55,
		Complement:      0xffffffff,
		HopLimitWide:    60,
		NodeIDWide:      0x00112233445566,
		IngressIfWide:   0x10001,
		EgressIfWide:    0x20002,
		NSDataWide:      0x0102030405060708,
		BufferOccupancy: 66,
		Snapshot:        ioam.Snapshot{SchemaID: 0xcafe, Data: []byte{0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 1}},
		Unavailable:     ioam.BitComplement,
	}
}

func TestNode(t *testing.T) {
	check := func(name string, traceType uint32, annotated string, want ioam.Node) {
		t.Run(name, func(t *testing.T) {
			fresh := func() wiretest.Codec { return &record{traceType: traceType} }
			wiretest.Check(t, fresh, annotated, &record{traceType, want})
		})
	}
	check("all fields", allFieldsType, allFieldsHex, allFields())
	check("short fields", 0xe00000, `
		3e 000202  // hop limit, node id
		0015 0016  // interfaces
		65000002   // seconds
	`, ioam.Node{Has: 0xe00000, HopLimit: 62, NodeID: 0x202, IngressIf: 21, EgressIf: 22, TsSec: 0x65000002})
	check("undefined bits", ioam.BitsUndefined, `
		00000001 00000002 00000003 00000004 00000005  // bits 12 to 16
		00000006 00000007 00000008 00000009 ffffffff  // bits 17 to 21
	`, ioam.Node{
		Has: ioam.BitsUndefined, Unavailable: 0x000004,
		Undefined: [10]uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 0xffffffff},
	})
	check("reserved bit 23 adds nothing", 0x800001, `01 000002`,
		ioam.Node{Has: ioam.BitHopLimitNodeID, HopLimit: 1, NodeID: 2})
}

func TestNodeForgetsTheRecordBefore(t *testing.T) {
	node := allFields()
	if _, err := node.Decode([]byte{1, 0, 0, 2}, ioam.BitHopLimitNodeID); err != nil {
		t.Fatal(err)
	}
	if node.TsSec != 0 || node.Snapshot.Data != nil || node.Unavailable != 0 {
		t.Errorf("fields of an earlier record are left: %+v", node)
	}
}

func TestNodeErrors(t *testing.T) {
	b := wiretest.Hex(t, allFieldsHex)
	firstData := len(b) - 8
	var node ioam.Node
	for i := range b {
		want := error(wire.ErrTruncatedIOAM)
		if i >= firstData {
			want = wire.ErrIOAMSnapshotOverrun
		}
		if n, err := node.Decode(b[:i], allFieldsType); n != 0 || err != want {
			t.Errorf("first %d bytes: got %d, %v; want 0, %v", i, n, err, want)
		}
	}
}

// TestNodeUnavailable writes each field as not available and reads it back. The values left in the fields are no
// all-ones values, so that only the Unavailable bits can be the reason for them.
func TestNodeUnavailable(t *testing.T) {
	tests := []struct {
		name string
		bit  uint32
		hex  string
	}{
		{"node id, with a hop limit", ioam.BitHopLimitNodeID, "3c ffffff"},
		{"both interfaces", ioam.BitInterfaces, "ffff ffff"},
		{"seconds", ioam.BitTsSec, "ffffffff"},
		{"fraction", ioam.BitTsFrac, "ffffffff"},
		{"transit delay", ioam.BitTransitDelay, "ffffffff"},
		{"namespace data", ioam.BitNSData, "ffffffff"},
		{"queue depth", ioam.BitQueueDepth, "ffffffff"},
		{"complement", ioam.BitComplement, "ffffffff"},
		{"wide node id, with a hop limit", ioam.BitHopLimitNodeIDWide, "3c ffffffffffffff"},
		{"both wide interfaces", ioam.BitInterfacesWide, "ffffffff ffffffff"},
		{"wide namespace data", ioam.BitNSDataWide, "ffffffffffffffff"},
		{"buffer occupancy", ioam.BitBufferOccupancy, "ffffffff"},
		{"first undefined bit", 0x000800, "ffffffff"},
		{"last undefined bit", 0x000004, "ffffffff"},
		{"snapshot", ioam.BitSnapshot, "00 ffffff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sent := allFields()
			sent.Complement = 1
			sent.Unavailable = tt.bit
			got, want := sent.Append(nil, tt.bit), wiretest.Hex(t, tt.hex)
			if string(got) != string(want) || sent.LenFor(tt.bit) != len(want) {
				t.Fatalf("Append: got %x, Len %d; want %x", got, sent.LenFor(tt.bit), want)
			}
			var received ioam.Node
			if _, err := received.Decode(got, tt.bit); err != nil || received.Unavailable != tt.bit {
				t.Errorf("Decode: got Unavailable %#x, %v; want %#x", received.Unavailable, err, tt.bit)
			}
		})
	}
}

func TestNodeOneInterfaceUnavailable(t *testing.T) {
	var node ioam.Node
	b := wiretest.Hex(t, "0001 ffff  ffffffff 00000002")
	if _, err := node.Decode(b, ioam.BitInterfaces|ioam.BitInterfacesWide); err != nil {
		t.Fatal(err)
	}
	if node.EgressIf != ioam.NoInterface || node.IngressIfWide != ioam.NoInterfaceWide || node.Unavailable != 0 {
		t.Errorf("got %+v; want one interface of each pair not available, no Unavailable bit", node)
	}
}

func BenchmarkNodeDecode(b *testing.B) {
	for _, bb := range []struct {
		name      string
		traceType uint32
	}{{"fields=4", 0xf00000}, {"fields=13", allFieldsType}} {
		b.Run(bb.name, func(b *testing.B) {
			node := allFields()
			data := node.Append(nil, bb.traceType)
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := node.Decode(data, bb.traceType); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
