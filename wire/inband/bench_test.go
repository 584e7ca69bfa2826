package inband

import "testing"

func BenchmarkLayoutDecode(b *testing.B) {
	benchmarks := []struct {
		name   string
		format Format
		bitmap uint16
	}{
		{"format=20/words=8", Format20, 0xFC00},
		{"format=20/words=12", Format20, 0xFF80},
		{"format=20/words=2", Format20, 0x9000},
		{"format=10/words=9", Format10, 0xFF00},
		{"format=05/words=8", Format05, 0xFF00},
		{"format=2016/words=8", Format2016, 0xFF00},
	}
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			layout := NewLayout(bench.format, bench.bitmap)
			record := make([]byte, layout.Len())
			for i := range record {
				record[i] = byte(i)
			}
			var m Metadata
			b.SetBytes(int64(len(record)))
			b.ReportAllocs()
			for b.Loop() {
				layout.Decode(record, &m)
			}
		})
	}
}

func BenchmarkLayoutAppend(b *testing.B) {
	b.Run("format=20/words=8", func(b *testing.B) {
		layout := NewLayout(Format20, 0xFC00)
		m := Metadata{Has: NodeID | L1Ingress | L1Egress | HopLatency | QueueID | QueueOccupancy | IngressTS | EgressTS}
		buf := make([]byte, 0, layout.Len())
		b.SetBytes(int64(layout.Len()))
		b.ReportAllocs()
		for b.Loop() {
			buf = layout.Append(buf[:0], &m)
		}
	})
}

// BenchmarkMDStack5Hops is one packet without its shim: header, length checks and five records of eight words.
func BenchmarkMDStack5Hops(b *testing.B) {
	header := MD{Version: 2, HopML: 8, RemainingHopCount: 3, Bitmap: 0xFC00}
	packet := header.Append(nil)
	packet = append(packet, make([]byte, 5*8*4)...)
	var h MD
	var m Metadata
	b.SetBytes(int64(len(packet)))
	b.ReportAllocs()
	for b.Loop() {
		n, err := h.Decode(packet)
		if err != nil {
			b.Fatal(err)
		}
		s, err := h.Stack(packet[n:], 0)
		if err != nil {
			b.Fatal(err)
		}
		layout := NewLayout(Format20, h.Bitmap)
		for i := range s.Len() {
			layout.Decode(s.Record(i), &m)
		}
	}
}

func BenchmarkMDDecode(b *testing.B) {
	packet := (&MD{Version: 2, HopML: 8, RemainingHopCount: 3, Bitmap: 0xFC00}).Append(nil)
	var h MD
	b.SetBytes(int64(len(packet)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Decode(packet); err != nil {
			b.Fatal(err)
		}
	}
}
