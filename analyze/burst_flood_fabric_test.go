package analyze

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// With nodes and a collector as they are without a configuration, each burst that overflowed its queue is found, with
// all packets that were dropped, however often it came before, and none is made up; the drop storm begins in it. A
// minute of the scenario has one.
func TestBurstsThatOverflow(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	const minutes = 3
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios/demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	v := emulation{duration: minutes * time.Minute, shards: 2, autoBursts: true}.runScenario(t, s)
	got, _ := v.bursts.Bursts(nil, burst.ByLast, burst.MaxKept)
	overflowed, right := 0, map[string]bool{}
	for _, r := range v.truth.List {
		w, ok := r.(*truth.Burst)
		if !ok {
			continue
		}
		drops := uint64(0)
		for i := range got {
			g := &got[i]
			const slack = int64(10e3) // of the clocks of switches
			if g.Node == w.Node && g.Port == w.Port && g.Queue == w.Queue &&
				g.Start.UnixNano()-v.start <= w.EndNs+slack && g.End.UnixNano()-v.start >= w.StartNs-slack {
				right[g.ID] = true
				drops += g.Drops
			}
		}
		if w.Drops > 0 {
			overflowed++
		}
		if drops != w.Drops {
			t.Errorf("node %d port %d at %v: got %d drops, want %d", w.Node, w.Port, time.Duration(w.StartNs), drops,
				w.Drops)
		}
	}
	if overflowed != minutes {
		t.Errorf("%d bursts overflowed, want %d: this proves little", overflowed, minutes)
	}
	for i := range got {
		if !right[got[i].ID] {
			t.Errorf("made up: %+v", got[i])
		}
	}
	storms, _ := v.log.Events(func(e *telemetry.Event) bool {
		return e.Kind == telemetry.EventDropStorm && e.Cause == "queue_full"
	}, 1000)
	if len(storms) != minutes {
		t.Errorf("%d drop storms of a full queue, want %d", len(storms), minutes)
	}
	for _, e := range storms {
		at := e.Start.UnixNano()
		if !slices.ContainsFunc(got, func(g telemetry.Burst) bool {
			return g.Drops > 0 && at >= g.Start.UnixNano() && at <= g.End.UnixNano()
		}) {
			t.Errorf("a drop storm that begins in no burst: %+v", e)
		}
	}
}
