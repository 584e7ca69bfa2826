package ifa_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ifa"
)

const hopHex = `
	1 00b22 3e      // LNS 1, device id 0xb22, TTL 62
	48312345        // speed 4 (100 Gbit/s), congestion 2, queue 3, seconds 0x12345
	0019 0018       // egress port, ingress port
	075bcd15        // nanoseconds 123456789
	00000320        // residence time 800 ns
	0001e240        // queue bytes 123456
	abcd 0037       // reserved, queue cells 55
	fedcba98        // reserved
`

var hop = ifa.Hop{
	LNS:         1,
	DeviceID:    0xb22,
	TTL:         62,
	Speed:       4,
	Congestion:  2,
	QueueID:     3,
	RxSec:       0x12345,
	EgressPort:  25,
	IngressPort: 24,
	RxNsec:      123456789,
	Residence:   800,
	QueueBytes:  123456,
	Word6:       0xabcd0037,
	Word7:       0xfedcba98,
}

func TestHop(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(ifa.Hop) }, hopHex, &hop)
}

func TestHopQueueCells(t *testing.T) {
	if got := hop.QueueCells(); got != 55 {
		t.Errorf("got %d, want 55", got)
	}
}

// TestHopAppendMasksWidths sets each narrow field to all ones in turn: its neighbours must stay zero.
func TestHopAppendMasksWidths(t *testing.T) {
	tests := []struct {
		name string
		hop  ifa.Hop
		hex  string
	}{
		{"LNS", ifa.Hop{LNS: 0xff}, "f0000000 00000000"},
		{"DeviceID", ifa.Hop{DeviceID: 0xffffffff}, "0fffff00 00000000"},
		{"Speed", ifa.Hop{Speed: 0xff}, "00000000 f0000000"},
		{"Congestion", ifa.Hop{Congestion: 0xff}, "00000000 0c000000"},
		{"QueueID", ifa.Hop{QueueID: 0xff}, "00000000 03f00000"},
		{"RxSec", ifa.Hop{RxSec: 0xffffffff}, "00000000 000fffff"},
	}
	for _, tt := range tests {
		if got, want := tt.hop.Append(nil)[:8], wiretest.Hex(t, tt.hex); !bytes.Equal(got, want) {
			t.Errorf("%s: got %x, want %x", tt.name, got, want)
		}
	}
}

func BenchmarkHopDecode(b *testing.B) {
	data := wiretest.Hex(b, hopHex)
	var h ifa.Hop
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := h.Decode(data); err != nil || h.TTL != 62 {
			b.Fatal(h, err)
		}
	}
}
