package report

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func newTSDrop() wiretest.Codec { return new(TSDrop) }

// From the vector ts_drop_report, without the trailer.
const tsDropHex = `
	02 09 07 00      // Inner Only, DS extension data; Report Length 9; MD Length 7; no flag
	0001 5453        // RepMdBits: drop reason; domain "TS"
	0000 0000        // DSMdBits, DSMdstatus
	00 0f 0000       // queue id 0, drop reason 15, pad
	60000000         // timestamp
	000000fa         // drop count 250
	0000000000000000 // drop key, upper half
	b9790778025c16af // drop key`

func TestTSDrop(t *testing.T) {
	wiretest.Check(t, newTSDrop, tsDropHex, &TSDrop{
		InType: InDSExtension, ReportLength: 9, MDLength: 7, RepMdBits: MDDrop, DomainID: TSDomain,
		Metadata:  Metadata{Bits: MDDrop, DropReason: 15},
		Timestamp: 1610612736, DropCount: 250, DropKey: 0xB9790778025C16AF,
	})
}

func TestTSDropTrailer(t *testing.T) {
	b := append(wiretest.Hex(t, tsDropHex), "tps drop report"...)
	var h TSDrop
	n, err := h.Decode(b)
	if n != len(b) || err != nil || string(h.Trailer) != "tps drop report" {
		t.Errorf("got %d, %v, trailer %q; want %d, none", n, err, h.Trailer, len(b))
	}
	if got := h.Append(nil); !bytes.Equal(got, b) || h.Len() != len(b) {
		t.Errorf("Append, Len %d:\ngot  %x\nwant %x", h.Len(), got, b)
	}
}

func TestTSDropTruncated(t *testing.T) {
	var h TSDrop
	if n, err := h.Decode(make([]byte, 39)); n != 0 || err != wire.ErrTruncatedTSReport {
		t.Errorf("got %d, %v; want 0, %v", n, err, wire.ErrTruncatedTSReport)
	}
}

// To a collector that does not know its sender, the report is one good report of TR 2.0 and a trailer.
func TestTSDropReadAsV20(t *testing.T) {
	var rs Reports
	var r V20
	rs.Reset(append(wiretest.Hex(t, tsDropHex), wiretest.Hex(t, "1bbe0f5d00170000 7470732064726f70207265706f7274")...))
	if !rs.Next(&r) || rs.Err() != nil || r.InType != InDSExtension || len(r.Inner) != 36 {
		t.Errorf("got %+v, %v; want DS extension data of 36 bytes", r, rs.Err())
	}
	if rs.Next(&r) || rs.Err() != nil || len(rs.Trailer()) != 23 {
		t.Errorf("got %+v, %v, trailer %x; want a trailer of 23 bytes", r, rs.Err(), rs.Trailer())
	}
}

func TestTSDropKey(t *testing.T) {
	mac := [6]byte{0, 0, 0, 0, 1, 1}
	const want = 0xB9790778025C16AF // SHA-256 of "00:00:00:00:01:01|5792|10.0.1.10|::"
	v4 := netip.MustParseAddr("10.0.1.10")
	if got := TSDropKey(mac, 5792, v4, netip.IPv6Unspecified()); got != want {
		t.Errorf("got %#x, want %#x", got, uint64(want))
	}
	if got := TSDropKey(mac, 5792, v4, netip.Addr{}); got != want {
		t.Errorf("with the zero Addr for IPv6: got %#x, want %#x", got, uint64(want))
	}

	mac = [6]byte{0xA6, 0x1A, 0xF6, 0xB1, 0x64, 0x7D}
	const want6 = 0x295ED6B44F952CEF // SHA-256 of "a6:1a:f6:b1:64:7d|53|0.0.0.0|2001:db8::1"
	if got := TSDropKey(mac, 53, netip.Addr{}, netip.MustParseAddr("2001:db8::1")); got != want6 {
		t.Errorf("IPv6: got %#x, want %#x", got, uint64(want6))
	}
}
