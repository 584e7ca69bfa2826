package cli

import (
	"testing"

	"github.com/waybill-int/waybill/api/client"
)

// TestUseText: a value is a share only where it is known of what.
func TestUseText(t *testing.T) {
	last := uint32(250)
	for want, u := range map[string]*client.Utilization{
		"": nil, "2.5 %": {Unit: "share:10000", Mean: 7, Last: &last}, "50.0 %": {Unit: "share:255", Mean: 127.5},
		"250 of ?": {Unit: "unknown", Mean: 7, Last: &last}, "127.5 of ?": {Mean: 127.5},
	} {
		if got := useText(u); got != want {
			t.Errorf("%+v: got %q, want %q", u, got, want)
		}
	}
}
