package inband

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

// allFields are the values of all instruction bits that a format defines.
const (
	fields05 = NodeID | L1Ingress | L1Egress | HopLatency | QueueID | QueueOccupancy | QueueCongestion | IngressTS |
		EgressTS | EgressTxUtil
	fields10 = fields05&^QueueCongestion | L2Ingress | L2Egress | Complement
	fields20 = fields10 | BufferID | BufferOccupancy
)

// TestLayout decodes one record with every bit of each format, and encodes it again.
func TestLayout(t *testing.T) {
	tests := []struct {
		name   string
		format Format
		bitmap uint16
		record string
		want   Metadata
	}{
		{
			"2016", Format2016, 0xFF00,
			`00000064 // switch id
			 00000065 // ingress port id
			 7fffffff // hop latency: not available
			 00000067 // queue occupancy
			 00000068 // ingress timestamp
			 00000069 // egress port id
			 0000006a // queue congestion
			 0000006b // egress tx utilization
			`, // vector int2016_all_bits_copy_e, without its bottom of stack bit
			Metadata{
				Has: NodeID | L1Ingress | L1Egress | HopLatency | QueueOccupancy | QueueCongestion | IngressTS |
					EgressTxUtil,
				Invalid: HopLatency,
				NodeID:  100, L1Ingress: 101, HopLatency: notAvailable31, QueueOccupancy: 103, IngressTS: 104,
				L1Egress:        105,
				QueueCongestion: 106, EgressTxUtil: 107,
			},
		},
		{
			"05", Format05, 0xFF00,
			`00000001  // switch id
			 0001 0002 // level 1 interfaces
			 00000003  // hop latency
			 04 000005 // queue id, occupancy
			 00000006  // ingress timestamp
			 00000007  // egress timestamp
			 04 000009 // queue id, congestion
			 ffffffff  // egress tx utilization: not available
			`, // vector int05_vxlan_gpe_all
			Metadata{
				Has: fields05, Invalid: EgressTxUtil,
				NodeID: 1, L1Ingress: 1, L1Egress: 2, HopLatency: 3, QueueID: 4, QueueOccupancy: 5, IngressTS: 6,
				EgressTS:        7,
				QueueCongestion: 9, EgressTxUtil: notAvailable32,
			},
		},
		{
			"05Long", Format05Long, 0xFF00,
			`00000002 0003 0004 000000c1 00 000002
			 18e9e3d197e5a2d7 // ingress timestamp
			 18e9e3d197e8955f // egress timestamp
			 00 000000        // queue id, congestion
			 00000000`,
			Metadata{
				Has:    fields05,
				NodeID: 2, L1Ingress: 3, L1Egress: 4, HopLatency: 193, QueueOccupancy: 2,
				IngressTS: 0x18e9e3d197e5a2d7, EgressTS: 0x18e9e3d197e8955f,
			},
		},
		{
			"10", Format10, 0xFF01,
			`00000007 0001 0002 00000003 04 000005 00000006 00000007
			 00000008 00000009 // level 2 interfaces
			 0000000a          // egress tx utilization
			 ffffffff          // checksum complement: not used
			`, // vector int10_vxlan_gpe_all, with a complement
			Metadata{
				Has:    fields10,
				NodeID: 7, L1Ingress: 1, L1Egress: 2, HopLatency: 3, QueueID: 4, QueueOccupancy: 5, IngressTS: 6,
				EgressTS:  7,
				L2Ingress: 8, L2Egress: 9, EgressTxUtil: 10, Complement: ComplementUnused,
			},
		},
		{
			"10Long", Format10Long, 0xFF00,
			`00000007 0001 0002 00000003 04 000005 0000000000000006 0000000000000007
			 0008 0009 // level 2 interfaces
			 0000000a`,
			Metadata{
				Has:    fields10 &^ Complement,
				NodeID: 7, L1Ingress: 1, L1Egress: 2, HopLatency: 3, QueueID: 4, QueueOccupancy: 5, IngressTS: 6,
				EgressTS:  7,
				L2Ingress: 8, L2Egress: 9, EgressTxUtil: 10,
			},
		},
		{
			"20", Format20, 0xFFA1,
			`00000007          // node id
			 0001 0002         // level 1 interfaces
			 00000003          // hop latency
			 04 000005         // queue id, occupancy
			 0000000600000007  // ingress timestamp
			 0000000800000009  // egress timestamp
			 0000000a 0000000b // level 2 interfaces
			 0000000c          // egress tx utilization
			 0d 00000e         // buffer id, occupancy
			 ffffffff          // reserved bit 10
			 0000fdec          // checksum complement
			`, // vector int21_md_all_bits_invalid, with bits 10 and 15
			Metadata{
				Has:    fields20,
				NodeID: 7, L1Ingress: 1, L1Egress: 2, HopLatency: 3, QueueID: 4, QueueOccupancy: 5,
				IngressTS: 0x600000007, EgressTS: 0x800000009, L2Ingress: 10, L2Egress: 11, EgressTxUtil: 12,
				BufferID: 13, BufferOccupancy: 14, Complement: 0xFDEC, Reserved: [6]uint32{1: notAvailable32},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			record := wiretest.Hex(t, test.record)
			layout := NewLayout(test.format, test.bitmap)
			if layout.Len() != len(record) {
				t.Fatalf("Len: got %d, want %d", layout.Len(), len(record))
			}
			if layout.Format() != test.format || layout.Bitmap() != test.bitmap {
				t.Errorf("got format %d, bitmap %04x; want %d, %04x", layout.Format(), layout.Bitmap(), test.format,
					test.bitmap)
			}
			var got Metadata
			layout.Decode(record, &got)
			if got != test.want {
				t.Errorf("Decode:\ngot  %+v\nwant %+v", got, test.want)
			}
			if again := layout.Append([]byte("x"), &got); !bytes.Equal(again[1:], record) {
				t.Errorf("Append:\ngot  %x\nwant %x", again[1:], record)
			}
		})
	}
}

// TestLayoutSingleBits asks for one bit at a time: every value alone, at offset 0.
func TestLayoutSingleBits(t *testing.T) {
	for format := Format2016; format <= Format20; format++ {
		for bit := range 16 {
			layout := NewLayout(format, 0x8000>>bit)
			ones := bytes.Repeat([]byte{0xFF}, layout.Len())
			var m Metadata
			layout.Decode(ones, &m)
			if m.Has&^Complement != m.Invalid {
				t.Errorf("format %d, bit %d, all ones: has %b, invalid %b", format, bit, m.Has, m.Invalid)
			}
			got := layout.Append(nil, &m)
			if format == Format2016 {
				ones[0] = 0x7F // a record that is appended is not at the bottom
			}
			if !bytes.Equal(got, ones) {
				t.Errorf("format %d, bit %d, not available: got %x", format, bit, got)
			}
			layout.Decode(make([]byte, layout.Len()), &m)
			if m.Invalid != 0 {
				t.Errorf("format %d, bit %d, zeros: invalid %b", format, bit, m.Invalid)
			}
		}
	}
}

func TestLayoutInvalidPairs(t *testing.T) {
	layout := NewLayout(Format20, insL1|insQueue|insL2|insBuffer)
	tests := []struct {
		name   string
		record string
		want   Fields
	}{
		{"None", "0001 0002  03 000004  00000005 00000006  07 000008", 0},
		{"Halves", "ffff 0002  ff 000004  ffffffff 00000006  07 ffffff", 0},
		{
			"Whole", "ffff ffff  ff ffffff  ffffffff ffffffff  ff ffffff",
			L1Ingress | L1Egress | QueueID | QueueOccupancy | L2Ingress | L2Egress | BufferID | BufferOccupancy,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var m Metadata
			layout.Decode(wiretest.Hex(t, test.record), &m)
			if m.Invalid != test.want {
				t.Errorf("got %b, want %b", m.Invalid, test.want)
			}
		})
	}
}

// TestLayout05QueueID: bits 3 and 6 of INT 0.5 name the same queue.
func TestLayout05QueueID(t *testing.T) {
	layout := NewLayout(Format05, insQueue|insL2)
	tests := []struct {
		name    string
		record  string
		id      uint8
		invalid Fields
	}{
		{"Both", "04000005 04000009", 4, 0},
		{"NoOccupancy", "ffffffff 04000009", 4, QueueOccupancy},
		{"NoCongestion", "04000005 ffffffff", 4, QueueCongestion},
		{"Neither", "ffffffff ffffffff", 0xFF, QueueID | QueueOccupancy | QueueCongestion},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var m Metadata
			layout.Decode(wiretest.Hex(t, test.record), &m)
			if m.QueueID != test.id || m.Invalid != test.invalid {
				t.Errorf("got id %d, invalid %b; want %d, %b", m.QueueID, m.Invalid, test.id, test.invalid)
			}
		})
	}
}

func TestLayout2016BottomOfStack(t *testing.T) {
	layout := NewLayout(Format2016, 0x9000)
	var m Metadata
	layout.Decode(wiretest.Hex(t, "00000001 8000000a"), &m)
	if m.QueueOccupancy != 10 || m.Invalid != 0 {
		t.Errorf("got occupancy %d, invalid %b", m.QueueOccupancy, m.Invalid)
	}
	layout.Decode(wiretest.Hex(t, "00000001 ffffffff"), &m)
	if m.QueueOccupancy != notAvailable31 || m.Invalid != QueueOccupancy {
		t.Errorf("not available: got occupancy %d, invalid %b", m.QueueOccupancy, m.Invalid)
	}
}

func TestLayoutDecodePartial(t *testing.T) {
	record := wiretest.Hex(t, "00000001 00010002 0000012b 00000000 0000000000000006 0000000000000007 0000fdec")
	layout := NewLayout(Format20, 0xFC01)
	want := []struct {
		from int
		has  Fields
	}{
		{0, 0},
		{4, NodeID},
		{8, NodeID | L1Ingress | L1Egress},
		{12, NodeID | L1Ingress | L1Egress | HopLatency},
		{16, NodeID | L1Ingress | L1Egress | HopLatency | QueueID | QueueOccupancy},
		{24, NodeID | L1Ingress | L1Egress | HopLatency | QueueID | QueueOccupancy | IngressTS},
		{32, NodeID | L1Ingress | L1Egress | HopLatency | QueueID | QueueOccupancy | IngressTS | EgressTS},
	}
	for n := range record {
		var has Fields
		for _, w := range want {
			if n >= w.from {
				has = w.has
			}
		}
		for name, decode := range map[string]func([]byte, *Metadata){
			"DecodePartial": layout.DecodePartial,
			"Decode":        layout.Decode,
		} {
			m := Metadata{Has: ^Fields(0)}
			decode(record[:n:n], &m)
			if m.Has != has {
				t.Errorf("%s of %d bytes: got %b, want %b", name, n, m.Has, has)
			}
		}
	}
}

// TestLayoutDecodeReuse: what a record does not carry keeps its old value, and is not in Has.
func TestLayoutDecodeReuse(t *testing.T) {
	m := Metadata{Has: ^Fields(0), Invalid: ^Fields(0), NodeID: 7, HopLatency: 9}
	layout := NewLayout(Format20, insNodeID)
	layout.Decode([]byte{0, 0, 0, 1}, &m)
	if want := (Metadata{Has: NodeID, NodeID: 1, HopLatency: 9}); m != want {
		t.Errorf("got %+v, want %+v", m, want)
	}
}

func TestLayoutAppendCutsValues(t *testing.T) {
	m := Metadata{
		Has: ^Fields(0), NodeID: 1, L1Ingress: 0x12345, L1Egress: 0x16789, QueueID: 4, QueueOccupancy: 0xAA000005,
		IngressTS: 0x600000007,
	}
	words := NewLayout(Format10, 0xD800)
	if got, want := words.Append(nil, &m),
		wiretest.Hex(t, "00000001 2345 6789 04 000005 00000007"); !bytes.Equal(got, want) {
		t.Errorf("format 1.0: got %x, want %x", got, want)
	}
	old := NewLayout(Format2016, 0x1000)
	if got, want := old.Append(nil, &m), wiretest.Hex(t, "2a000005"); !bytes.Equal(got, want) {
		t.Errorf("format 2016: got %x, want %x", got, want)
	}
}

func TestLayoutAppendDS(t *testing.T) {
	layout := NewLayout(Format20, 0x8001) // vector int21_md_per_hop_ds
	m := Metadata{Has: NodeID, NodeID: 2}
	got := layout.AppendDS(nil, &m, wiretest.Hex(t, "1111111122222222"))
	if want := wiretest.Hex(t, "00000002 1111111122222222 ffffffff"); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestLayoutNoAllocs(t *testing.T) {
	for format := Format2016; format <= Format20; format++ {
		var m Metadata
		record := make([]byte, 72)
		buf := make([]byte, 0, 72)
		allocs := testing.AllocsPerRun(100, func() {
			layout := NewLayout(format, 0xFFFF)
			layout.Decode(record, &m)
			layout.DecodePartial(record[:9], &m)
			buf = layout.Append(buf[:0], &m)
		})
		if allocs != 0 {
			t.Errorf("format %d: got %v allocations, want 0", format, allocs)
		}
	}
}
