package inband

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

// codecs has an example of every type with Decode, Append and Len. The fuzz target picks one by its index.
var codecs = []struct {
	fresh   func() wiretest.Codec
	example wiretest.Codec
}{
	{func() wiretest.Codec { return new(ShimL4Old) }, &ShimL4Old{Type: TypeHopByHop, Length: 7, DSCP: 46}},
	{func() wiretest.Codec { return new(ShimL4) }, &ShimL4{Type: TypeMD, NPT: NPTDstPort, Length: 7, DstPort: 53}},
	{func() wiretest.Codec { return new(ShimGPEOld) }, &ShimGPEOld{Type: TypeHopByHop, Length: 9, NextProtocol: 5}},
	{func() wiretest.Codec { return new(ShimGPE) }, &ShimGPE{Type: TypeMX, Length: 9, G: true, NextProtocol: 3}},
	{func() wiretest.Codec { return new(ShimGRE) }, &ShimGRE{Type: TypeMD, G: true, Length: 7, NextProtocol: 0x0800}},
	{func() wiretest.Codec { return new(Tail05) }, &Tail05{Proto: 17, DstPort: 53, DSCP: 10}},
	{
		func() wiretest.Codec { return new(Destination) },
		&Destination{HasSequence: true, HasTTL: true, TTL: 64, Sequence: 66051},
	},
	{
		func() wiretest.Codec { return new(Header2016) },
		&Header2016{Rep: 3, C: true, InstructionCount: 2, MaxHopCount: 16, TotalHopCount: 3, Bitmap: 0x9000},
	},
	{
		func() wiretest.Codec { return new(Header05) },
		&Header05{Rep: 3, E: true, InstructionCount: 8, MaxHopCount: 16, TotalHopCount: 1, Bitmap: 0xFF00},
	},
	{
		func() wiretest.Codec { return new(header04) },
		&header04{Header05{
			Version: 1, C: true, InstructionCount: 4, MaxHopCount: 8, TotalHopCount: 2,
			Bitmap: 0x00CC,
		}},
	},
	{
		func() wiretest.Codec { return new(Header10) },
		&Header10{Version: 1, M: true, HopML: 9, RemainingHopCount: 5, Bitmap: 0xFF00, Reserved16: 1},
	},
	{
		func() wiretest.Codec { return new(MD) },
		&MD{Version: 2, D: true, HopML: 2, RemainingHopCount: 6, Bitmap: 0x9000, DomainID: domain, DSFlags: 1},
	},
	{
		func() wiretest.Codec { return new(MX) },
		&MX{Version: 2, D: true, Bitmap: 0x9000, DomainID: domain, DSInstruction: 0xC000},
	},
}

// header04 is a Header05 in the layout of INT 0.4.
type header04 struct{ Header05 }

func (h *header04) Decode(b []byte) (int, error) { return h.Decode04(b) }

func (h *header04) Append(b []byte) []byte {
	old := Header2016(h.Header05)
	return old.Append(b)
}

// FuzzInband: kind picks a codec, a format for a record, and where a packet starts.
func FuzzInband(f *testing.F) {
	for i, codec := range codecs {
		f.Add(uint8(i), codec.example.Append(nil))
	}
	for _, v := range vectors(f) {
		for i, at := range walkStarts {
			if at == v.StartsAt {
				f.Add(uint8(i), v.bytes(f))
			}
		}
	}
	for _, shim := range []string{ // captures onos_v10_tcp_s1s2 and onos_fabric_v04_udp_s2s3, frame 1, from the shim on
		"0100090000000607fc00000000000001000100020000012b00000000009f31c1009f32ec",
		"0100140000080802ff00000000000002000300040000002000000000006c7833006c78530000000000000000" +
			"00000001000100020000003700000000006c8459006c8490000000000000000011177100",
	} {
		b, err := hex.DecodeString(shim)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(len(walkStarts)-1), b)
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		wiretest.Fuzz(t, codecs[int(kind)%len(codecs)].fresh, b)
		fuzzRecord(t, Format2016+Format(kind)%Format20, b)
		fuzzStack(t, kind, b)
		w := walker{zero: Version0(kind >> 4 & 3)}
		_ = w.start(walkStarts[int(kind)%len(walkStarts)], b)
	})
}

var walkStarts = []string{"ethernet", "vxlan_gpe", "geneve", "int_2016", "int_shim_l4_v2"}

// fuzzRecord: what was decoded once is encoded the same ever after. The first two bytes of b are the bitmap.
func fuzzRecord(t *testing.T, format Format, b []byte) {
	if len(b) < 2 {
		return
	}
	layout := NewLayout(format, binary.BigEndian.Uint16(b))
	var first, second Metadata
	layout.Decode(b[2:], &first)
	once := layout.Append(nil, &first)
	if len(once) != layout.Len() {
		t.Fatalf("Append wrote %d bytes, Len says %d", len(once), layout.Len())
	}
	layout.Decode(once, &second)
	if twice := layout.Append(nil, &second); !bytes.Equal(once, twice) {
		t.Fatalf("encoding of a record is not stable:\nonce  %x\ntwice %x", once, twice)
	}
}

// fuzzStack: all of a stack is in its records and its source-only metadata, and nothing is in two places.
func fuzzStack(t *testing.T, kind uint8, b []byte) {
	var h MD
	n, err := h.Decode(b)
	if err != nil {
		return
	}
	length, so := len(b)-n+int(kind>>4), int(kind&15)-1
	s, err := h.CutStack(b[n:], length, so)
	total := len(s.Partial)
	for i := range s.Len() {
		total += len(s.Record(i))
		if ds := s.DSMetadata(i); len(ds) < s.DS {
			t.Fatalf("record %d has %d bytes of DS metadata, want at least %d", i, len(ds), s.DS)
		}
	}
	if s.Len() == 0 {
		total += len(s.SourceOnly)
	}
	if err == nil && total != len(b)-n || total > len(b)-n {
		t.Fatalf("%d of %d bytes are in the stack, error %v\n%+v", total, len(b)-n, err, s)
	}
}
