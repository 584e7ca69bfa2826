package analyze

import (
	"math"
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
	flows, _ := v.Flows(FlowFilter{Limit: 1000, Select: func(f *telemetry.Flow) bool {
		return f.Outer != nil && f.Outer.Src == outer.IP()
	}})
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
