package telemetry_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A node that sends no latency says it by its timestamps, unless its clock was set between them.
func TestLatencyByTimestamps(t *testing.T) {
	const metadata20 = 8 + 4 + 8 // behind the fixed words of a report
	for _, c := range []struct {
		name                     string
		form                     test.Form
		latency, ingress, egress int
	}{
		{"stack", test.Form20MD, records20 + 8, records20 + 16, records20 + 24},
		{"report", test.Form20XD, metadata20 + 4, metadata20 + 12, metadata20 + 20},
	} {
		for _, spent := range []struct {
			ns   uint64
			want bool
		}{
			{0, true},
			{1000, true},
			{60e9, true},
			{3600e9, false},              // set an hour ahead
			{365 * 24 * 3600e9, false},   // a year
			{1<<64 - 1000, false},        // back
			{1<<64 - 365*86400e9, false}, // a year back
		} {
			payload := test.Report(c.form, 1, 2, 3)
			copy(payload[c.latency:], bytes.Repeat([]byte{0xff}, 4)) // not available
			const ingress = 1_700_000_000_000_000_000
			binary.BigEndian.PutUint64(payload[c.ingress:], ingress)
			binary.BigEndian.PutUint64(payload[c.egress:], ingress+spent.ns)
			r := one(t, payload)
			h := &r.Local
			if c.form == test.Form20MD {
				h = &r.Hops[len(r.Hops)-1]
			}
			if got := h.Has&telemetry.HasLatency != 0; got != spent.want || got && h.LatencyNs != spent.ns {
				t.Errorf("%s, %d ns: got %v, %d", c.name, int64(spent.ns), got, h.LatencyNs)
			}
		}
	}
}
