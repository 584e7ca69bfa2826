package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// timed returns a collector of four nodes in a row, whose links take 10 us. The clock of s2 is 3 ms ahead, and is set
// back by that after four seconds; that of s3 is half a second behind. From s3 to the gateway packets go one way only.
func timed(t testing.TB) (*analyze.Collector, *eventlog.Log) {
	f := newFeed()
	log := eventlog.New(100)
	scanner := analyze.NewScanner(f.Collector, log)
	scanner.Scan(f.now.UnixNano())
	const linkNs, nodeNs = 10_000, 2_000
	for step := range 80 {
		ahead := map[uint32]int64{2: 3_000_000, 3: -500_000_000}
		if step >= 40 {
			ahead[2] = 0
		}
		for way, nodes := range [][]uint32{{1, 2, 3, 1001}, {3, 2, 1}} {
			at := f.now.UnixNano()
			hops := make([]telemetry.Hop, len(nodes))
			for i, node := range nodes {
				hops[i] = telemetry.Hop{
					Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasLatency |
						telemetry.HasQueue |
						telemetry.HasIngressTime | telemetry.HasEgressTime | telemetry.HasWideTimes,
					NodeID: node, IngressPort: uint32(1 + way), EgressPort: uint32(2 - way), LatencyNs: nodeNs,
					IngressNs: uint64(at + ahead[node]), EgressNs: uint64(at + nodeNs + ahead[node]),
				}
				at += nodeNs + linkNs
			}
			report := telemetry.Report{Flags: telemetry.Embedded | telemetry.HasFlow, Bytes: 100, Hops: hops}
			report.Flow.SrcPort = uint16(way)
			f.Owners[way].(*analyze.Shard).Process(&telemetry.Batch{Reports: []telemetry.Report{report}}, at+1_000_000)
		}
		f.now = f.now.Add(100 * time.Millisecond)
		scanner.Scan(f.now.UnixNano())
	}
	return f.Collector, log
}

// Clocks and delays have the shape of their golden files, and the values of the network above.
func TestTiming(t *testing.T) {
	collector, events := timed(t)
	cfg := testConfig(collector)
	cfg.Events = events
	h := New(cfg)
	for name, target := range map[string]string{
		"clocks": "clocks", "hops_node": "hops?node=s2", "links_delay": "links", "paths_delay": "paths",
		"flows_clocks": "flows",
		"events_clock": "events?kind=clock_jump",
	} {
		golden(t, name, ask(h, "GET", "/api/v1/"+target).Body.Bytes())
	}
	var clocks types.ClockList
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/clocks?node=s3").Body.Bytes(), &clocks); err != nil ||
		clocks.Total != 1 {
		t.Fatal(clocks, err)
	}
	c := &clocks.Clocks[0]
	if !c.Trusted || c.Reference != 1 || *c.OffsetNs < -500_000_000-*c.UncertaintyNs ||
		*c.OffsetNs > -500_000_000+*c.UncertaintyNs || *c.UncertaintyNs > 25_000 {
		t.Errorf("s3: %+v", c)
	}
	var links types.LinkList
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/links").Body.Bytes(), &links); err != nil || links.Total != 5 {
		t.Fatal(links, err)
	}
	for _, l := range links.Links {
		if l.To == 1001 {
			if l.Delay.NS != nil || l.Delay.Unknown == "" {
				t.Errorf("one way: %+v", l.Delay)
			}
		} else if d := l.Delay; d.NS == nil || *d.UncertaintyNs > 50_000 || d.NS.Min+*d.UncertaintyNs < 10_000 ||
			d.NS.Max > 10_000+*d.UncertaintyNs {
			t.Errorf("%d to %d: %+v %+v", l.From, l.To, d, d.NS)
		}
	}
}

// timing is what is known of the clocks of timed.
func timingOf(t testing.TB) *timing.Timing {
	c, _ := timed(t)
	return c.Timing
}
