package analyze

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// Where sources report one packet in eight, eight times what was seen is about what was sent; sources whose rate nobody
// told have no estimate.
func TestEstimates(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	v := emulation{duration: 3 * time.Second, shards: 2, nodes: "watch: [{report_all: true, sample: 8}]\n"}.run(t,
		"steady")
	sampling := map[uint32]telemetry.SampleRate{}
	for node, name := range v.Names() {
		if name != "leaf1" {
			sampling[node] = 8
		}
	}
	v.Configure(Configured{Names: v.Names(), Sampling: sampling})
	// Packets of IPv4: those of IPv6 have no Identification, and the same ones of a flow are all chosen or none.
	var sent, sentFour, all, got float64 // where the rate is known
	four, packets := map[uint32]bool{}, map[uint32]float64{}
	v.each(func(r truth.Record) {
		switch x := r.(type) {
		case *truth.Flow:
			four[x.Flow] = netip.MustParseAddr(x.Src).Is4()
		case *truth.Path:
			if v.Names()[x.Hops[0].Node] != "leaf1" {
				packets[x.Flow] += float64(x.Packets)
			}
		}
	})
	for flow, n := range packets {
		sent += n
		if four[flow] {
			sentFour += n
		}
	}
	flows, total := v.Flows(FlowFilter{Limit: 100_000})
	for _, f := range flows {
		known := *f.Paths[0].Hops[0].Node != nodeNamed(v.Names(), "leaf1")
		if known != (f.PacketsEstimated != nil) || known != (f.BytesEstimated != nil) {
			t.Fatalf("got %+v", f)
		}
		if known {
			all += float64(*f.PacketsEstimated)
			if f.Src.Is4() {
				got += float64(*f.PacketsEstimated)
			}
		}
	}
	if total < 100 || math.Abs(all/sent-1) > 0.05 || math.Abs(got/sentFour-1) > 0.025 {
		t.Errorf("%d flows: estimated %.0f packets, %.0f were sent; of IPv4 %.0f and %.0f",
			total, all, sent, got, sentFour)
	}
	var onPaths float64
	paths, _ := v.Paths(100_000)
	for _, p := range paths {
		if p.PacketsEstimated != nil {
			onPaths += float64(*p.PacketsEstimated)
		}
	}
	if onPaths != all {
		t.Errorf("estimated %.0f packets on paths, %.0f of flows", onPaths, all)
	}
}

func nodeNamed(names map[uint32]string, name string) uint32 {
	for node, n := range names {
		if n == name {
			return node
		}
	}
	return 0
}

// Flows in a tunnel are found by the tunnel, and by what is inside.
func TestFlowsByTunnel(t *testing.T) {
	v := emulate(t, "steady", 2*time.Second, 2)
	outer := telemetry.AddrFrom(netip.MustParseAddr("10.0.1.1"))
	want := map[string]bool{}
	v.each(func(r truth.Record) {
		if f, ok := r.(*truth.Flow); ok && f.Inner != nil && f.Src == outer.String() && f.PacketsDelivered > 0 {
			want[f.Inner.Src+" "+f.Inner.Dst] = true
		}
	})
	got := map[string]bool{}
	flows, _ := v.Flows(FlowFilter{Limit: 1000, Which: flowsThat(func(f *telemetry.Flow) bool {
		return f.Outer != nil && f.Outer.Src == outer.IP()
	})})
	for _, f := range flows {
		got[f.Src.String()+" "+f.Dst.String()] = true
	}
	for k := range want {
		if !got[k] {
			t.Errorf("missing: %s", k)
		}
	}
	if len(want) == 0 || len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestIntervalsEstimated: the sum over intervals of what is estimated of a flow is what its samples stand for, although
// flows give way to others, and exact figures are as without samples. What reports tell of is not estimated as well.
func TestIntervalsEstimated(t *testing.T) {
	config := DefaultConfig()
	config.MaxFlows = 60
	c := &Collector{Owners: []Owner{NewShard(config)}}
	c.Configure(Configured{Sampling: map[uint32]telemetry.SampleRate{7: 100}})
	now := time.Date(2026, 11, 21, 9, 0, 3, 5e8, time.UTC).UnixNano()
	v := NewIntervals(c, nil, now)
	g := rand.New(rand.NewPCG(8, 8))
	type sum struct{ packets, bytes, drops uint64 }
	want, got := map[uint16]sum{}, map[uint16]sum{}
	exact, outside, withBoth := uint64(0), uint64(0), 0
	give := func(batch *telemetry.Intervals) {
		for _, f := range batch.Flows {
			if f.Path != 0 && f.PacketsEstimated > 0 {
				t.Fatalf("an estimate is of the path %x: %+v", f.Path, f)
			}
			if f.Drops > 0 && f.PacketsEstimated > 0 {
				withBoth++
			}
			n := got[f.Key.SrcPort]
			got[f.Key.SrcPort] = sum{n.packets + f.PacketsEstimated, n.bytes + f.BytesEstimated, n.drops + f.Drops}
			exact += f.Packets - f.Drops
			if rate := f.Sample.Rate(0); f.PacketsEstimated > 0 && rate != 20 && rate != 100 {
				t.Fatalf("sampled at %v: %+v", rate, f)
			}
		}
	}
	sent := uint64(0)
	for range 30_000 {
		port := uint16(1 + g.IntN(120))
		flow := telemetry.FlowKey{Protocol: 17, SrcPort: port}
		n := want[port]
		r := &telemetry.Report{Version: telemetry.VersionSFlow, Flags: telemetry.HasFlow, Flow: flow}
		r.Local = telemetry.Hop{Has: telemetry.HasNode, NodeID: 3}
		switch kind := g.IntN(10); {
		case port > 100: // with INT, which a switch between samples as well
			if kind > 1 {
				r = newSent().report(g, 1)
				r.Flow = flow
				sent++
				break
			}
			r.Flags |= telemetry.Sampled
			r.Observed = telemetry.Observed{Packets: 1, Bytes: 100, Rate: 20}
		case kind == 0:
			r.Flags |= telemetry.Dropped | telemetry.DropSummary
			r.DropCount = 1
			r.Local.Has |= telemetry.HasDrop
			n.drops++
		default:
			r.Flags |= telemetry.Sampled
			r.Observed = telemetry.Observed{Packets: 1 + g.Uint64N(3), Bytes: 64 + g.Uint64N(1000), Rate: 20}
			rate := uint64(20)
			if port%2 == 0 { // a node that does not tell its rate
				r.Local.NodeID, r.Observed.Rate, rate = 7, 0, 100
			}
			n.packets, n.bytes = n.packets+r.Observed.Packets*rate, n.bytes+r.Observed.Bytes*rate
		}
		b := telemetry.Batch{}
		b.Add(r)
		now += 1e6 + int64(g.IntN(1e6))
		c.Owners[0].(*Shard).Process(&b, now)
		counters := c.Counters()
		if refused := counters.FlowsRejected + counters.SampledOverflow; refused > outside {
			outside = refused
			if !r.Is(telemetry.Sampled) && port > 100 {
				sent--
			}
		} else {
			want[port] = n
		}
		if g.IntN(100) == 0 {
			v.SoFar(now) // changes nothing of what is given
		}
		v.Look(now, give)
	}
	endWait(c.Owners[0], now+1e9)
	v.Finish(now+1e9, give)
	for port := uint16(1); port <= 100; port++ {
		if got[port] != want[port] {
			t.Errorf("port %d: got %+v, want %+v", port, got[port], want[port])
		}
	}
	if exact != sent {
		t.Errorf("%d packets with INT, want %d", exact, sent)
	}
	if n := c.Counters(); n.FlowsEvicted < 100 || withBoth == 0 {
		t.Errorf("%d flows gave way, %d records with drops: this tests little", n.FlowsEvicted, withBoth)
	}
}
