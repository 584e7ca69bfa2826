package duckdb

import (
	"fmt"
	"testing"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// TestSamples: a range says which packets its figures tell of, in all resolutions: records with different rates are
// some of the packets, those of a node that reports on events outweigh others, and where the rate of more than a tenth
// is not known it is unknown.
func TestSamples(t *testing.T) {
	s := open(t, nil)
	const every, onEvent, part = telemetry.SampleEvery, telemetry.SampleOnEvent, telemetry.SamplePart
	type record struct {
		rate       telemetry.SampleRate
		complete   float64
		packets    uint64
		incomplete int64
	}
	cases := []struct {
		records []record
		want    string
	}{
		{[]record{{every, 1, 50, 0}, {every, 1, 50, 0}}, "[every_packet <nil> 1]"},
		{[]record{{every, -1, 50, 0}}, "[every_packet <nil> <nil>]"},
		{[]record{{10, -1, 50, 0}, {10, -1, 7, 0}}, "[one_in_n 10 <nil>]"},
		{[]record{{10, -1, 50, 0}, {20, -1, 50, 0}}, "[partial <nil> <nil>]"},
		{[]record{{every, 1, 50, 0}, {20, -1, 50, 0}}, "[partial <nil> 1]"},
		{[]record{{every, 1, 5000, 0}, {onEvent, 0.5, 50, 0}}, "[on_event <nil> 0.990196]"},
		{[]record{{every, 0.95, 95, 0}, {part, 0.5, 50, 0}}, "[partial <nil> 0.725]"},
		{[]record{{every, 1, 900, 0}, {0, -1, 100, 0}}, "[every_packet <nil> 1]"},
		{[]record{{every, 1, 899, 0}, {0, -1, 101, 0}}, "[unknown <nil> 1]"},
		{[]record{{0, -1, 100, 0}}, "[unknown <nil> <nil>]"},
		{[]record{{every, -1, 0, 0}}, "[every_packet <nil> <nil>]"},
		{[]record{{0, -1, 100, 0}, {0, -1, 97, 53}}, "[unknown <nil> 0.788]"},
		{[]record{{every, 0.5, 100, 60}, {every, 0.5, 0, -10}}, "[every_packet <nil> 0.333333]"},
	}
	v := &telemetry.Intervals{}
	for node, c := range cases {
		for i, r := range c.records {
			h := telemetry.HopInterval{
				StartNs: epoch.Add(time.Duration(i) * time.Second).UnixNano(),
				Place:   telemetry.Place{Has: telemetry.HasNode, Node: uint32(node)},
				Packets: r.packets, Incomplete: r.incomplete,
			}
			h.Sample.Add(r.rate, r.complete, r.packets)
			v.Hops = append(v.Hops, h)
		}
	}
	write(t, s, v)
	for _, resolution := range []time.Duration{time.Second, time.Hour} {
		a := ask(t, s, store.Query{
			Table: store.Hops, From: epoch.Truncate(time.Hour), To: epoch.Truncate(time.Hour).Add(2 * time.Hour),
			Group:  []string{"node"},
			Values: []string{"sample_kind", "sample_rate", "sample_complete"},
		})
		if a.Resolution != resolution || len(a.Rows) != len(cases) {
			t.Fatalf("%d rows of %v", len(a.Rows), a.Resolution)
		}
		for i, row := range a.Rows {
			if got := fmt.Sprint(row[1:]); got != cases[i].want {
				t.Errorf("%v of %v: got %s, want %s", resolution, cases[i].records, got, cases[i].want)
			}
		}
		roll(t, s, epoch.Add(3*time.Hour))
	}
	// The same in Go, for lists of now and links of the past.
	for _, c := range cases {
		var sum telemetry.SampleSum
		packets, incomplete := uint64(0), int64(0)
		for _, r := range c.records {
			sum.Add(r.rate, r.complete, r.packets)
			packets, incomplete = packets+r.packets, incomplete+r.incomplete
		}
		rate, complete := "<nil>", "<nil>"
		if packets == 0 {
			continue
		}
		got := sum.Sample(packets, incomplete)
		if got.Rate != nil {
			rate = fmt.Sprint(*got.Rate)
		}
		if got.Complete != nil {
			complete = fmt.Sprint(*got.Complete)
		}
		if got := fmt.Sprintf("[%s %s %s]", got.Kind, rate, complete); got != c.want {
			t.Errorf("%v in Go: got %s, want %s", c.records, got, c.want)
		}
	}
}
