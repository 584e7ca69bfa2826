package analyze

import (
	"slices"
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// TestExtremesOfIntervals: the longest and the shortest time of a flow, of a path and of a hop in an interval are those
// of its packets, also when an interval before had longer and shorter ones.
func TestExtremesOfIntervals(t *testing.T) {
	shard := NewShard(DefaultConfig())
	c := &Collector{Owners: []Owner{shard}}
	begin := 1000 * second
	v := NewIntervals(c, eventlog.New(10), begin)
	packet := uint64(0)
	stack := func(atNs int64, latency uint64) {
		packet++
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{{
			Flags: telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked, Flow: telemetry.FlowKey{SrcPort: 1},
			PacketID: packet, Bytes: 100,
			Hops: []telemetry.Hop{{
				NodeID: 1, LatencyNs: latency, EgressPort: 1,
				Has: telemetry.HasNode | telemetry.HasLatency | telemetry.HasEgressPort,
			}},
		}}}, atNs)
	}
	values := [][]uint64{{10, 5_000_000}, {4_100_000, 3_000_017}, {700, 900_001}, {4_999_999}}
	type extremes struct{ low, high uint64 }
	got := map[string][]extremes{}
	note := func(what string, m telemetry.LatencySummary) { got[what] = append(got[what], extremes{m.Min, m.Max}) }
	give := func(batch *telemetry.Intervals) {
		for i := range batch.Flows {
			note("flow", batch.Flows[i].Residence)
		}
		for i := range batch.Paths {
			h := batch.Paths[i].Residence
			note("path", telemetry.LatencySummary{Min: h.Min, Max: h.Max})
		}
		for i := range batch.Hops {
			h := batch.Hops[i].Latency
			note("hop", telemetry.LatencySummary{Min: h.Min, Max: h.Max})
		}
	}
	for i, list := range values {
		at := begin + int64(i)*10*second
		for _, latency := range list {
			stack(at+1, latency)
		}
		for tick := int64(1); tick <= 100; tick++ {
			v.Look(at+tick*second/10, give)
		}
	}
	for what, list := range got {
		if len(list) != len(values) {
			t.Fatalf("%s: got %d intervals, want %d", what, len(list), len(values))
		}
		for i, e := range list {
			low, high := values[i][0], values[i][0]
			for _, n := range values[i] {
				low, high = min(low, n), max(high, n)
			}
			if e != (extremes{low, high}) {
				t.Errorf("%s, interval %d: got %+v, want %d to %d", what, i, e, low, high)
			}
		}
	}
	if flows, _ := c.Flows(FlowFilter{Limit: 10}); len(got) != 3 || flows[0].Residence.Min != 10 ||
		flows[0].Residence.Max != 5_000_000 {
		t.Errorf("of %d kinds; all in all got %+v", len(got), flows[0].Residence)
	}
}

// TestOrderByExtremes: flows are listed by the longest and the shortest time of all their packets, whatever of it was
// given to a store since.
func TestOrderByExtremes(t *testing.T) {
	shard := NewShard(DefaultConfig())
	c := &Collector{Owners: []Owner{shard}}
	begin := 1000 * second
	v := NewIntervals(c, eventlog.New(10), begin)
	for i, latency := range []uint64{20, 5_000_000, 300, 70_000} {
		atNs := begin + int64(i)*10*second
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{{
			Flags:    telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked,
			Flow:     telemetry.FlowKey{SrcPort: uint16(i + 1)},
			PacketID: uint64(i + 1), Bytes: 100,
			Hops: []telemetry.Hop{{
				NodeID: 1, LatencyNs: latency, EgressPort: 1,
				Has: telemetry.HasNode | telemetry.HasLatency | telemetry.HasEgressPort,
			}},
		}}}, atNs+1)
		for tick := int64(1); tick <= 100; tick++ {
			v.Look(atNs+tick*second/10, func(*telemetry.Intervals) {})
		}
	}
	for _, order := range []FlowOrder{orderBy("Residence.Max"), orderBy("Residence.Min")} {
		flows, _ := c.Flows(FlowFilter{Limit: 10, Order: order})
		var got []uint64
		for i := range flows {
			got = append(got, flows[i].Residence.Max)
		}
		if want := []uint64{5_000_000, 70_000, 300, 20}; !slices.Equal(got, want) {
			t.Errorf("%s: got %d, want %d", order, got, want)
		}
	}
}
