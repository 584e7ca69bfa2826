package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// A flow of which some packets arrive and others are dropped, in turn, is one flow of the ports that it takes, and a
// flow that goes to and fro between two paths is one that changed its path.
func TestFlowsCountOnce(t *testing.T) {
	w := newWatched()
	w.scanner.Scan(w.nowNs + second)
	s := w.Owners[0].(*Shard)
	for n := range uint64(40) {
		hops := []telemetry.Hop{hopAt(1, 10), hopAt(2, 10), hopAt(3, 10)}
		if n%2 == 1 {
			hops[2].Has |= telemetry.HasDrop
		}
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{stackReport(n, hops...)}}, w.nowNs+2*second+int64(n))
	}
	seen := s.Observe(w.nowNs+2*second+second/2, 0)
	packets, flows := uint64(0), uint32(0)
	for i := range seen.Paths {
		p := &seen.Paths[i]
		packets += p.N
		if p.Hops[2].Has&telemetry.HasDrop == 0 {
			flows += p.Flows
		}
	}
	if packets != 40 || flows != 1 {
		t.Errorf("got %d flows, %d packets", flows, packets)
	}

	for n := range uint64(40) {
		first := stampedHop(1, 1e18+n, 1e18+n+1, 1)
		first.EgressPort = 2 + uint32(n%2)
		s.Process(
			&telemetry.Batch{
				Reports: []telemetry.Report{stackReport(n, first, hopAt(4+uint32(n%2), 10), hopAt(6, 10))},
			},
			w.nowNs+3*second+int64(n))
	}
	seen = s.Observe(w.nowNs+4*second, 0)
	for k, c := range seen.Changes {
		if c.Flows != 1 {
			t.Errorf("%+v: %d flows changed their path, want 1", k, c.Flows)
		}
	}
	if len(seen.Changes) < 2 {
		t.Errorf("got %d changes", len(seen.Changes))
	}
}
