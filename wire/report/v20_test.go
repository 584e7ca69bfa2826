package report

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func newV20() wiretest.Codec { return new(V20) }

// From the vector tr20_baseline_ipv4.
const v20BaselineHex = `
	14 0e 02 20                              // INT, IPv4 fragment; Report Length 14; MD Length 2; F
	5000 0000                                // RepMdBits, default domain
	0000 0000                                // DSMdBits, DSMdstatus
	000a 0014                                // level 1 interfaces 10, 20
	01 00012c                                // queue 1, occupancy 300
	4500002800004000400623ce0a0001010a000202 // IPv4
	c0000050010203040a0b0c0d5018100000000000 // TCP`

// From the vector tr20_all_baseline_metadata, without its fragment.
const v20AllHex = `
	10 0e 0c a0       // INT, nothing inside; Report Length 14; MD Length 12; D and F
	7f81 0000         // RepMdBits 1 to 8 and 15, default domain
	0000 0000         // DSMdBits, DSMdstatus
	0001 0002         // level 1 interfaces
	0001e240          // hop latency
	09 0003e8         // queue id, occupancy
	1122334455667788  // ingress timestamp
	1122334455669999  // egress timestamp
	00010001 00020002 // level 2 interfaces
	00000309          // egress port tx utilization
	04 00ffff         // buffer id, occupancy
	09 32 0000        // queue id, drop reason, pad`

// From the vector tr20_unknown_domain_md.
const v20DomainHex = `
	14 10 04 20                              // INT, IPv4 fragment; Report Length 16; MD Length 4; F
	2000 1234                                // RepMdBits, domain
	4001 beef                                // DSMdBits, DSMdstatus
	00000005                                 // hop latency
	01020304 05060708 090a0b0c               // 3 words that only the domain can read
	4500002800004000400623ce0a0001010a000202 // IPv4
	c0000050010203040a0b0c0d5018100000000000 // TCP`

// From the vector tr20_reserved_md_bit.
const v20ReservedHex = `
	10 04 02 00 // INT, nothing inside; Report Length 4; MD Length 2
	2040 0000   // RepMdBits 2 and 9, default domain
	0000 0000   // DSMdBits, DSMdstatus
	0000004d    // hop latency
	ffffffff    // the word of bit 9`

// From the vector tr20_reptype_ioam_opaque.
const v20OpaqueHex = `
	24 0c 02 20                              // IOAM, IPv4 fragment; Report Length 12; F
	0011223344556677                         // undefined
	4500002800004000400623ce0a0001010a000202
	c0000050010203040a0b0c0d5018100000000000`

func TestV20Baseline(t *testing.T) {
	wiretest.Check(t, newV20, v20BaselineHex, &V20{
		RepType: RepINT, InType: InIPv4, ReportLength: 14, MDLength: 2, F: true, RepMdBits: 0x5000,
		Metadata: Metadata{
			Bits: MDInterfaces | MDQueue, IngressPort: 10, EgressPort: 20, QueueID: 1, QueueOccupancy: 300,
		},
		Inner: wiretest.Hex(t, v20BaselineHex)[20:],
	})
}

func TestV20AllMetadata(t *testing.T) {
	wiretest.Check(t, newV20, v20AllHex, &V20{
		RepType: RepINT, ReportLength: 14, MDLength: 12, D: true, F: true, RepMdBits: 0x7F81,
		Metadata: Metadata{
			Bits: 0x7F81, IngressPort: 1, EgressPort: 2, HopLatency: 123456, QueueID: 9, QueueOccupancy: 1000,
			IngressTS: 0x1122334455667788, EgressTS: 0x1122334455669999, L2Ingress: 65537, L2Egress: 131074,
			TxUtil: 777, BufferID: 4, BufferOccupancy: 65535, DropQueueID: 9, DropReason: 50,
		},
	})
}

func TestV20DomainSpecificMetadata(t *testing.T) {
	b := wiretest.Hex(t, v20DomainHex)
	wiretest.Check(t, newV20, v20DomainHex, &V20{
		RepType: RepINT, InType: InIPv4, ReportLength: 16, MDLength: 4, F: true,
		RepMdBits: 0x2000, DomainID: 0x1234, DSMdBits: 0x4001, DSMdStatus: 0xBEEF,
		Metadata:   Metadata{Bits: MDHopLatency, HopLatency: 5},
		DSMetadata: b[16:28],
		Inner:      b[28:],
	})
}

func TestV20ReservedBitWithItsWord(t *testing.T) {
	wiretest.Check(t, newV20, v20ReservedHex, &V20{
		RepType: RepINT, ReportLength: 4, MDLength: 2, RepMdBits: 0x2040,
		Metadata: Metadata{
			Bits: 0x2040, HopLatency: 77, Reserved: [8]uint32{1: 0xFFFFFFFF}, Invalid: 0x0040,
		},
	})
}

func TestV20ReservedBitsThatCarryNothing(t *testing.T) {
	wiretest.Check(t, newV20, `
		13 04 01 00 // INT, Ethernet fragment; Report Length 4; MD Length 1
		a002 0000   // RepMdBits 0, 2 and 14
		0000 0000
		00000005    // hop latency, and no words for bits 0 and 14
		aabbccdd    // fragment`,
		&V20{
			RepType: RepINT, InType: InEthernet, ReportLength: 4, MDLength: 1, RepMdBits: 0xA002,
			Metadata: Metadata{Bits: MDHopLatency, HopLatency: 5},
			Inner:    []byte{0xAA, 0xBB, 0xCC, 0xDD},
		})
}

// DSMdBits is empty, but MD Length counts more than the baseline: the rest is domain specific all the same.
func TestV20UnannouncedDomainSpecificMetadata(t *testing.T) {
	wiretest.Check(t, newV20, `
		10 04 02 00 2000 0000 0000 0000
		00000005 cafe0001`,
		&V20{
			RepType: RepINT, ReportLength: 4, MDLength: 2, RepMdBits: 0x2000,
			Metadata:   Metadata{Bits: MDHopLatency, HopLatency: 5},
			DSMetadata: []byte{0xCA, 0xFE, 0, 1},
		})
}

func TestV20InnerOnlyIgnoresMDLength(t *testing.T) {
	wiretest.Check(t, newV20, `
		03 02 ff f0 // Inner Only, Ethernet fragment; Report Length 2; MD Length 255; D Q F I
		0102030405060708`,
		&V20{
			InType: InEthernet, ReportLength: 2, MDLength: 255, D: true, Q: true, F: true, I: true,
			Inner: []byte{1, 2, 3, 4, 5, 6, 7, 8},
		})
}

func TestV20Empty(t *testing.T) {
	wiretest.Check(t, newV20, "00000000", &V20{})
}

func TestV20OpaqueRepTypes(t *testing.T) {
	b := wiretest.Hex(t, v20OpaqueHex)
	want := &V20{RepType: RepIOAM, InType: InIPv4, ReportLength: 12, MDLength: 2, F: true, Opaque: b[4:]}
	wiretest.Check(t, newV20, v20OpaqueHex, want)
	for repType := RepIOAM; repType < 16; repType++ {
		b[0] = repType<<4 | InIPv4
		want.RepType = repType
		var h V20
		if _, err := h.Decode(b); err != nil || !reflect.DeepEqual(&h, want) {
			t.Errorf("RepType %d: got %+v, %v", repType, h, err)
		}
	}
}

// Report Length 255 runs to the end of the payload, whether that is more than 255 words, less, or no whole number.
func TestV20ReportLength255(t *testing.T) {
	for _, inner := range []int{0, 1, 7, 1011, 1012, 1013, 60000} {
		h := V20{
			RepType: RepINT, InType: InEthernet, ReportLength: 255, MDLength: 1, RepMdBits: MDHopLatency,
			Metadata: Metadata{Bits: MDHopLatency, HopLatency: 5},
			Inner:    view(make([]byte, inner), 0, inner),
		}
		b := h.Append(nil)
		var got V20
		if n, err := got.Decode(b); n != len(b) || err != nil || !reflect.DeepEqual(got, h) {
			t.Errorf("%d inner bytes: got %d, %v, %d inner bytes; want %d, none", inner, n, err, len(got.Inner), len(b))
		}
	}
	for _, repType := range []uint8{RepInnerOnly, RepIOAM} {
		b := []byte{repType << 4, 255, 0, 0, 1, 2, 3}
		var h V20
		if n, err := h.Decode(b); n != 7 || err != nil || !bytes.Equal(append(h.Inner, h.Opaque...), b[4:]) {
			t.Errorf("RepType %d: got %d, %v, %+v", repType, n, err, h)
		}
	}
}

func TestV20Errors(t *testing.T) {
	const fixed = "0000 0000 0000" // domain, DSMdBits, DSMdstatus
	const next = "00000020"        // an empty report behind the bad one
	for _, tc := range []struct {
		name string
		hex  string
		used int
		want error
	}{
		{"no bytes", "", 0, wire.ErrNoReport},
		{"3 bytes", "100000", 0, wire.ErrNoReport},
		{"Report Length 3 of 2 words", "10030000 0000" + fixed, 0, wire.ErrReportLengthOverrun},
		{"Report Length 254 of 2 words", "00fe0000 0000" + fixed, 0, wire.ErrReportLengthOverrun},
		{"INT with Report Length 0", "10000000" + next, 4, wire.ErrINTContentsMissing},
		{"INT with Report Length 1", "10010000 00000000" + next, 8, wire.ErrINTContentsMissing},
		{"INT with Report Length 255, 1 word left", "10ff0000 00000000", 8, wire.ErrINTContentsMissing},
		{"MD Length 1 in 2 words", "10020100 2000" + fixed + next, 12, wire.ErrMDLengthExceedsReport},
		{"MD Length 255 in 3 words", "1003ff00 2000" + fixed + "00000000" + next, 16, wire.ErrMDLengthExceedsReport},
		{
			"MD Length 1, Report Length 255, 3 bytes left", "10ff0100 2000" + fixed + "000000", 15,
			wire.ErrMDLengthExceedsReport,
		},
		{"one word for two bits", "10030100 5000" + fixed + "00000000" + next, 16, wire.ErrMDLengthBelowBitmap},
		{"one word for a timestamp", "10030100 0800" + fixed + "00000000" + next, 16, wire.ErrMDLengthBelowBitmap},
		{"no word for one bit", "10020000 0001" + fixed + next, 12, wire.ErrMDLengthBelowBitmap},
		{
			"a word for one reserved bit of two", "10040200 2060" + fixed + "0000000000000000" + next, 20,
			wire.ErrMDLengthBelowBitmap,
		},
		{"no words", "10020000 2040" + fixed + next, 12, wire.ErrMDLengthBelowBitmap},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var h V20
			used, err := h.Decode(wiretest.Hex(t, tc.hex))
			if used != tc.used || err != tc.want {
				t.Errorf("got %d, %v; want %d, %v", used, err, tc.used, tc.want)
			}
		})
	}
}

func TestV20KeepsWhatWasReadOnErrors(t *testing.T) {
	used := V20{
		Metadata: Metadata{Bits: 0xFFFF, HopLatency: 1}, DSMetadata: []byte{1}, Inner: []byte{2}, Opaque: []byte{3},
	}
	for _, tc := range []struct {
		hex  string
		want V20
	}{
		{"14280220", V20{RepType: RepINT, InType: InIPv4, ReportLength: 40, MDLength: 2, F: true}}, // overrun
		{"1403ff10 2000 1234 8000 0001 00000005", V20{ // MD Length exceeds the report
			RepType: RepINT, InType: InIPv4, ReportLength: 3, MDLength: 255, I: true,
			RepMdBits: 0x2000, DomainID: 0x1234, DSMdBits: 0x8000, DSMdStatus: 1,
		}},
	} {
		h := used
		if _, err := h.Decode(wiretest.Hex(t, tc.hex)); err == nil || !reflect.DeepEqual(h, tc.want) {
			t.Errorf("%s: got %+v, %v; want %+v and an error", tc.hex, h, err, tc.want)
		}
	}
}

// A collector decodes every report into the same struct.
func TestV20OverwritesAReusedStruct(t *testing.T) {
	all := []string{v20BaselineHex, v20AllHex, v20DomainHex, v20ReservedHex, v20OpaqueHex, "00000000"}
	for _, before := range all {
		for _, text := range all {
			var fresh, reused V20
			if _, err := reused.Decode(wiretest.Hex(t, before)); err != nil {
				t.Fatal(err)
			}
			b := wiretest.Hex(t, text)
			if _, err := fresh.Decode(b); err != nil {
				t.Fatal(err)
			}
			if _, err := reused.Decode(b); err != nil || !reflect.DeepEqual(fresh, reused) {
				t.Errorf("after another report: got %+v, want %+v", reused, fresh)
			}
		}
	}
}

func TestV20StopsAtTheNextReport(t *testing.T) {
	b := wiretest.Hex(t, v20BaselineHex)
	var h V20
	n, err := h.Decode(append(b, b...))
	if n != len(b) || err != nil || len(h.Inner) != 40 || cap(h.Inner) != 40 {
		t.Errorf("got %d, %v, inner %d of %d; want %d, none, 40 of 40", n, err, len(h.Inner), cap(h.Inner), len(b))
	}
}

func BenchmarkV20Decode(b *testing.B) {
	for _, bm := range []struct{ name, report string }{
		{"words=2", v20BaselineHex},
		{"words=4", "14 06 04 20 7100 0000 0000 0000 000a0014 00001111 0100012c 00000001"},
		{"words=12", v20AllHex},
	} {
		b.Run(bm.name, func(b *testing.B) {
			p := wiretest.Hex(b, groupHex+"\n"+bm.report)
			var g Group
			var r V20
			b.ReportAllocs()
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				n, err := g.Decode(p)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Decode(p[n:]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
