package test

import (
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// Headers has gopacket parse the headers around telemetry alone: outer Ethernet, IPv4 and UDP of a report, and those of
// the packet in it. It reads no report header and no INT. What that takes is a unit for what other code takes.
type Headers struct {
	eth     layers.Ethernet
	ip      layers.IPv4
	udp     layers.UDP
	parser  *gopacket.DecodingLayerParser
	frames  [64][]byte
	decoded []gopacket.LayerType

	times, ratios []float64
}

// NewHeaders returns the parser with 64 packets for it.
func NewHeaders() *Headers {
	h := &Headers{decoded: make([]gopacket.LayerType, 0, 8)}
	h.parser = gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &h.eth, &h.ip, &h.udp)
	h.parser.IgnoreUnsupported = true
	for i := range h.frames {
		// The packet in the report serves for both: the headers are of the same kind and length.
		h.frames[i] = Report(Form20MD, uint32(i*7919), uint32(i), 5)[12:]
	}
	return h
}

// Parse parses packet i, twice.
func (h *Headers) Parse(b *testing.B, i int) {
	for range 2 {
		if err := h.parser.DecodeLayers(h.frames[i&63], &h.decoded); err != nil || len(h.decoded) != 3 {
			b.Fatal(err, h.decoded)
		}
	}
}

// piece is how many operations run between two looks at the clock: some hundred microseconds, in which a machine with
// other work is mostly left alone.
const piece = 1024

// Loop runs f for b.N operations, which are handed over in pieces, each of them unit reports, and Parse as often in
// turn, and reports the median of the ratios of both: "gp/report", and that of the times: "ns/report". Of disturbances,
// which last longer than a piece, both have the same. Before each piece runs prepare, of which no time is taken.
func (h *Headers) Loop(b *testing.B, unit int, prepare, f func(n int)) {
	h.times, h.ratios = h.times[:0], h.ratios[:0]
	per := max(piece/unit, 1)
	b.StopTimer()
	b.ResetTimer()
	for left := b.N; left > 0; left -= per {
		n := min(per, left)
		prepare(n)
		b.StartTimer()
		start := time.Now()
		f(n)
		took := float64(time.Since(start)) / float64(n*unit)
		b.StopTimer()
		start = time.Now()
		for i := range piece {
			h.Parse(b, i)
		}
		h.times = append(h.times, took)
		h.ratios = append(h.ratios, took/(float64(time.Since(start))/piece))
	}
	for name, values := range map[string][]float64{"ns/report": h.times, "gp/report": h.ratios} {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name)
	}
}
