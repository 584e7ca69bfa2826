package duckdb

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// TestBursts: a burst is kept with who made it and who waited; that a flow is not known is NULL.
func TestBursts(t *testing.T) {
	s := open(t, nil)
	b := &telemetry.Burst{
		ID: "b1", Node: 3, Port: 4, Queue: 1, Start: epoch, Peak: epoch.Add(time.Millisecond),
		End: epoch.Add(3 * time.Millisecond), DurationNs: 3e6,
		PeakBytes:   new(uint64(90_000)),
		PeakDelayNs: 72_000, Packets: 100, Bytes: 150_000, Drops: 2, Complete: 0.5, Sources: 9,
		MainSources: 8, Incast: true,
	}
	flow := &telemetry.Endpoints{
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), SrcPort: 5,
		DstPort: 80, Protocol: "tcp",
	}
	write(t, s, &telemetry.Intervals{Bursts: []telemetry.Burst{*b}, BurstFlows: []telemetry.BurstFlow{
		{Burst: b, Culprit: true, Flow: flow, Packets: 60, Bytes: 90_000, BuildUpBytes: 80_000, Share: 0.75},
		{Burst: b, Packets: 40, ExtraNs: 500_000, MaxExtraNs: 70_000},
	}})
	for statement, want := range map[string]string{
		`SELECT id, node, egress_port, queue_id, duration, peak_bytes, peak_delay, drops, complete, incast, "end" - start FROM bursts`: "[[b1 3 4 1 3000000 90000 72000 2 0.5 true 00:00:00.003]]",
		"SELECT burst, culprit, address(src_hi, src_lo), dst_port, protocol, bytes, build_up_bytes, share, extra, extra_max FROM burst_flows ORDER BY packets DESC": "[[b1 true 10.0.0.1 80 6 90000 80000 0.75 <nil> <nil>] " +
			"[b1 false <nil> <nil> <nil> 0 <nil> <nil> 500000 70000]]",
	} {
		if got := fmt.Sprint(sqlOf(t, s, statement)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", statement, got, want)
		}
	}
}
