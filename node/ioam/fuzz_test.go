package ioam

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/packet"
)

// FuzzIOAM holds every function to: no panic, the input stays as it is, and the length of the output is what the result
// says. What a node has written can be read again, and what a source has inserted can be removed again.
func FuzzIOAM(f *testing.F) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		frame := randomShape(r).frame()
		var p Packet
		if p.Parse(frame) == nil {
			frame, _ = testDomain().Encapsulate(nil, &p, randomRequest(r), randomNode(r), 0)
		}
		f.Add(seed, frame)
	}
	for i, v := range test.Vectors(f, "ioam_ipv6_*") {
		f.Add(uint64(i), v.Bytes)
	}
	for _, frame := range test.Packets(f, "ioam_full_r2r3.pcap")[:5] {
		f.Add(uint64(3), frame)
	}
	f.Fuzz(func(t *testing.T, seed uint64, frame []byte) {
		r := rand.New(rand.NewPCG(seed, 3))
		d, kept := testDomain(), bytes.Clone(frame)
		var p Packet
		err := p.Parse(frame)
		if err != nil && p.L3 != 0 || p.HopByHopEnd > p.End || p.End > len(frame) {
			t.Fatalf("Parse: %v, %+v", err, p)
		}
		// A second hop-by-hop header, which RFC 8200 §4.1 does not allow, comes to light when the first one is gone.
		twice := p.HopByHop != 0 && frame[p.HopByHop] == packet.ProtoHopByHop
		mtu := r.IntN(2) * r.IntN(2000)
		check := func(name string, out []byte, result Result) {
			t.Helper()
			if len(out) != len(frame)+result.Grown {
				t.Fatalf("%s: %d bytes became %d, Result says %+v\n%x", name, len(frame), len(out), result, frame)
			}
			if !bytes.Equal(frame, kept) {
				t.Fatalf("%s changed its input", name)
			}
			var again Packet
			if err == nil && p.L3 != 0 && !twice &&
				(again.Parse(out) != nil || again.Malformed != p.Malformed || len(out)-again.End != len(frame)-p.End) {
				t.Fatalf("%s: cannot be read again: %+v\n%x\n%x", name, again, frame, out)
			}
		}
		own, q := randomNode(r), randomRequest(r)
		out, result := d.Transit(nil, &p, own, mtu)
		check("Transit", out, result)
		out, result = d.Decapsulate(nil, &p)
		check("Decapsulate", out, result)
		var clean Packet
		if clean.Parse(out) == nil && !twice {
			if _, again := d.Decapsulate(nil, &clean); again.Action == Removed {
				t.Fatalf("Decapsulate left something\n%x\n%x", frame, out)
			}
		}
		_, _, result = d.Export(nil, &p, own)
		if result.Grown != 0 {
			t.Fatalf("Export: %+v", result)
		}
		out, result = d.Encapsulate(nil, &p, q, own, mtu)
		check("Encapsulate", out, result)
		if _, had := d.Decapsulate(nil, &p); result.Action == Inserted && had.Action != Removed {
			out, _ = d.Transit(nil, parse(t, out), randomNode(r), 0)
			wantSame(t, "Decapsulate", decapsulate(t, d, out), frame)
		}
	})
}
