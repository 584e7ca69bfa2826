package report

import (
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func newV10() wiretest.Codec { return new(V10) }

// From the vector tr10_all_metadata_ipv4.
const v10AllHex = `
	1a3f81ea   // Ver 1, Length 10, NProt 1, RepMdBits 0x3F, D Q F, hw_id 0x2A
	deadbeef   // switch id
	80000000   // sequence number
	3b9ac9ff   // ingress timestamp
	0001 0002  // ingress port, egress port
	000005dc   // hop latency
	07 0abcde  // queue id, queue occupancy
	3b9ad000   // egress timestamp
	07 47 0000 // queue id, drop reason 71, pad
	00002329   // egress port tx utilization`

// From the first frame of the capture geant_v10_head_udp_reports.
const v10MinHex = `
	14000040 // Ver 1, Length 4, NProt 0, RepMdBits 0, F, hw_id 0
	00000003 // switch id
	00000000 // sequence number
	00000000 // ingress timestamp`

func TestV10AllMetadata(t *testing.T) {
	wiretest.Check(t, newV10, v10AllHex, &V10{
		Length: 10, NProt: NProtIPv4, RepMdBits: 0x3F, D: true, Q: true, F: true,
		HWID: 0x2A, SwitchID: 0xDEADBEEF, Sequence: 0x80000000, IngressTS: 999999999,
		Metadata: Metadata{
			Bits:        MDInterfaces | MDHopLatency | MDQueue | MDEgressTS | MDDrop | MDTxUtil,
			IngressPort: 1, EgressPort: 2, HopLatency: 1500, QueueID: 7, QueueOccupancy: 0xABCDE,
			EgressTS: 0x3B9AD000, DropQueueID: 7, DropReason: 71, TxUtil: 9001,
		},
	})
}

func TestV10NoMetadata(t *testing.T) {
	wiretest.Check(t, newV10, v10MinHex, &V10{Length: 4, F: true, SwitchID: 3})
}

func TestV10ExtraWords(t *testing.T) {
	wiretest.Check(t, newV10, `
		17080040 // Length 7, RepMdBits 0x10, F
		00000003 00000004 00000005
		00000064 // hop latency
		cafe0001 cafe0002 // two words that no bit announces`,
		&V10{
			Length: 7, RepMdBits: V10HopLatency, F: true, SwitchID: 3, Sequence: 4, IngressTS: 5,
			Metadata: Metadata{Bits: MDHopLatency, HopLatency: 100},
			Extra:    []byte{0xCA, 0xFE, 0, 1, 0xCA, 0xFE, 0, 2},
		})
}

func TestV10OneBitEach(t *testing.T) {
	for _, tc := range []struct {
		repMdBits uint8
		want      Metadata
	}{
		{V10Interfaces, Metadata{Bits: MDInterfaces, IngressPort: 0x0102, EgressPort: 0x0304}},
		{V10HopLatency, Metadata{Bits: MDHopLatency, HopLatency: 0x01020304}},
		{V10Queue, Metadata{Bits: MDQueue, QueueID: 1, QueueOccupancy: 0x020304}},
		{V10EgressTS, Metadata{Bits: MDEgressTS, EgressTS: 0x01020304}},
		{V10Drop, Metadata{Bits: MDDrop, DropQueueID: 1, DropReason: 2}},
		{V10TxUtil, Metadata{Bits: MDTxUtil, TxUtil: 0x01020304}},
	} {
		fixed := V10{Length: 5, RepMdBits: tc.repMdBits}
		var h V10
		if _, err := h.Decode(append(fixed.Append(nil), 1, 2, 3, 4)); err != nil {
			t.Fatal(err)
		}
		if h.Metadata != tc.want {
			t.Errorf("bit %#02x: got %+v, want %+v", tc.repMdBits, h.Metadata, tc.want)
		}
	}
}

func TestV10AllOnesIsInvalid(t *testing.T) {
	fixed := V10{Length: 10, RepMdBits: 0x3F}
	b := fixed.Append(nil)
	for range 24 {
		b = append(b, 0xFF)
	}
	var h V10
	if _, err := h.Decode(b); err != nil {
		t.Fatal(err)
	}
	if h.Metadata.Invalid != h.Metadata.Bits || h.Metadata.Bits != mdInV10 {
		t.Errorf("got invalid %#x of %#x, want all of %#x", h.Metadata.Invalid, h.Metadata.Bits, mdInV10)
	}
	if got := h.Append(nil); !reflect.DeepEqual(got, b) {
		t.Errorf("Append:\ngot  %x\nwant %x", got, b)
	}
}

func TestV10Errors(t *testing.T) {
	const rest = "00000003 00000004 00000005"
	for _, tc := range []struct {
		name string
		hex  string
		want error
	}{
		{"no bytes", "", wire.ErrTruncatedFixedHeader},
		{"15 bytes", "14000040 00000003 00000004 000000", wire.ErrTruncatedFixedHeader},
		{"Length 0", "10000040" + rest, wire.ErrLengthBelowFixedHeader},
		{"Length 3", "13000040" + rest, wire.ErrLengthBelowFixedHeader},
		{"Length 4, one bit", "14100040" + rest, wire.ErrLengthBelowBitmap},
		{"Length 9, six bits", "191f8040" + rest, wire.ErrLengthBelowBitmap},
		{"Length 5 of 16 bytes", "15000040" + rest, wire.ErrLengthOverrun},
		{"Length 15 of 59 bytes", "1f000040" + rest + "0000000000000000000000000000000000000000" +
			"0000000000000000000000000000000000000000000000", wire.ErrLengthOverrun},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var h V10
			if n, err := h.Decode(wiretest.Hex(t, tc.hex)); n != 0 || err != tc.want {
				t.Errorf("got %d, %v; want 0, %v", n, err, tc.want)
			}
		})
	}
}

func TestV10KeepsTheFixedHeaderOnErrors(t *testing.T) {
	h := V10{Metadata: Metadata{Bits: 1}, Extra: []byte{1}}
	if _, err := h.Decode(wiretest.Hex(t, "14100041 00000003 00000004 00000005")); err == nil {
		t.Fatal("no error")
	}
	want := V10{Length: 4, RepMdBits: 0x20, F: true, HWID: 1, SwitchID: 3, Sequence: 4, IngressTS: 5}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("got %+v, want %+v", h, want)
	}
}

// The first frame of the capture onos_v10_udp_reports.
func TestV10FlagsFirst(t *testing.T) {
	b := wiretest.Hex(t, "14001001 00000003 00000000 005b2528")
	want := V10{Length: 4, HWID: 1, SwitchID: 3, IngressTS: 0x5B2528}
	var h V10
	if n, err := h.Decode(b); n != 16 || err != nil || !reflect.DeepEqual(h, want) {
		t.Errorf("Decode: got %d, %v, %+v; want 16, none, %+v", n, err, h, want)
	}
	want.F = true
	if n, err := h.DecodeFlagsFirst(b); n != 16 || err != nil || !reflect.DeepEqual(h, want) {
		t.Errorf("DecodeFlagsFirst: got %d, %v, %+v; want 16, none, %+v", n, err, h, want)
	}
	// One flag at a time: bits 17, 18 and 19 of the word.
	for i, want := range []V10{{Length: 4, D: true}, {Length: 4, Q: true}, {Length: 4, F: true}} {
		b := make([]byte, 16)
		b[0], b[2] = 0x14, 0x40>>i
		if _, err := h.DecodeFlagsFirst(b); err != nil || !reflect.DeepEqual(h, want) {
			t.Errorf("bit %d: got %+v, %v; want %+v", 17+i, h, err, want)
		}
	}
}

func TestV10AppendIgnoresMetadataThatItDoesNotHave(t *testing.T) {
	h := V10{Length: 5, RepMdBits: V10Queue, Metadata: Metadata{Bits: 0xFFFF&^mdInV10 | MDQueue, QueueID: 1}}
	if got := h.Append(nil); len(got) != 20 || h.Len() != 20 {
		t.Errorf("got %d bytes, Len %d; want 20", len(got), h.Len())
	}
}

func BenchmarkV10Decode(b *testing.B) {
	p := wiretest.Hex(b, v10AllHex)
	var h V10
	b.ReportAllocs()
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if _, err := h.Decode(p); err != nil {
			b.Fatal(err)
		}
	}
}

// The proposal of January 2018 has four bits, in the order of its slides; TR 1.0 reads the same bytes differently.
func TestR104January2018(t *testing.T) {
	b := []byte{
		0x18, 0x1E, 0x00, 0x41, // Ver 1, Length 8, NProto 0, RepBits 111100, F, hw_id 1
		0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 100, // switch, sequence, ingress timestamp
		0, 3, 0, 4, // ports
		2, 0, 1, 0, // queue 2, occupancy 256
		0, 0, 4, 0, // egress timestamp
		2, 51, 0, 0, // queue 2, reason 51
	}
	var h V10
	n, err := h.DecodeJanuary2018(b)
	m := &h.Metadata
	if err != nil || n != len(b) || m.Bits != MDInterfaces|MDQueue|MDEgressTS|MDDrop || m.IngressPort != 3 ||
		m.EgressPort != 4 || m.QueueID != 2 || m.QueueOccupancy != 256 || m.EgressTS != 1024 || m.DropQueueID != 2 ||
		m.DropReason != 51 {
		t.Errorf("got %d, %v, %+v", n, err, m)
	}
	if _, err := h.Decode(b); err != nil || m.HopLatency != 0x02000100 {
		t.Errorf("as TR 1.0: %v, %+v", err, m)
	}
}
