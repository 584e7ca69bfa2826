package report

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestTSKind(t *testing.T) {
	for _, tc := range []struct {
		name string
		hex  string
		want TSForm
	}{
		{"tracked flow report", tsTrackedHex, TSFormTracked},
		{"tracked flow report of an IPv6 packet", "05 18 09 00 0000 5453", TSFormTracked},
		{"drop report", tsDropHex, TSFormDrop},
		{"drop report, cut", "02 09 07 00 0001 5453", TSFormDrop},
		{"DS extension data without a drop reason", "02 09 07 00 0000 5453", TSFormTracked},
		{"drop reason without DS extension data", "04 09 07 00 0001 5453", TSFormTracked},
		{"INT report of the profile", "14 18 00 20 0000 5453 0000 0000", TSFormNone},
		{"Inner Only without the domain", "04 18 00 20 4500 0058", TSFormNone},
		{"cut before the domain", "02 09 07 00 0001 54", TSFormNone},
		{"no bytes", "", TSFormNone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := TSKind(wiretest.Hex(t, tc.hex)); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
