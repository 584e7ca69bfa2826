package report

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func newTSTracked() wiretest.Codec { return new(TSTracked) }

// From the first frame of the capture tps_v21_udp_reports, without the fragment.
const tsTrackedHex = `
	04 13 09 00 // Inner Only, "IPv4"; Report Length 19; MD Length = INT shim Length 9; no flag
	0000 5453   // RepMdBits, domain "TS"
	0000 0000   // DSMdBits, DSMdstatus
	00000000    // the word that nothing announces`

func TestTSTracked(t *testing.T) {
	wiretest.Check(t, newTSTracked, tsTrackedHex, &TSTracked{
		InType: InIPv4, ReportLength: 19, MDLength: 9, DomainID: TSDomain,
	})
}

func TestTSTrackedAllFields(t *testing.T) {
	wiretest.Check(t, newTSTracked, "35 01 02 f0 0304 0506 0708 090a 0b0c0d0e", &TSTracked{
		RepType: 3, InType: 5, ReportLength: 1, MDLength: 2, D: true, Q: true, F: true, I: true,
		RepMdBits: 0x0304, DomainID: 0x0506, DSMdBits: 0x0708, DSMdStatus: 0x090A, VarOptMD: 0x0B0C0D0E,
	})
}

// Report Length is wrong, so the fragment runs to the end of the payload.
func TestTSTrackedFragment(t *testing.T) {
	b := append(wiretest.Hex(t, tsTrackedHex), "fragment of any length"...)
	var h TSTracked
	n, err := h.Decode(b)
	if n != len(b) || err != nil || string(h.Fragment) != "fragment of any length" {
		t.Errorf("got %d, %v, fragment %q; want %d, none", n, err, h.Fragment, len(b))
	}
	if got := h.Append(nil); !bytes.Equal(got, b) || h.Len() != len(b) {
		t.Errorf("Append, Len %d:\ngot  %x\nwant %x", h.Len(), got, b)
	}
}

func TestTSTrackedTruncated(t *testing.T) {
	var h TSTracked
	if n, err := h.Decode(make([]byte, 15)); n != 0 || err != wire.ErrTruncatedTSReport {
		t.Errorf("got %d, %v; want 0, %v", n, err, wire.ErrTruncatedTSReport)
	}
}
