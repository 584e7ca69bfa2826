package analyze

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
)

// conservationNodes are configurations of INT nodes. all: every packet is reported.
var conservationNodes = []struct {
	name, nodes string
	all         bool
}{
	{"stacks", everyPacket, true},
	{"stacks, sink in the stack", everyPacket + "sink: in_stack\n", true},
	{"stacks, sink apart", everyPacket + "sink: separate\n", true},
	{"stacks, by events", "mode: md\n", false},
	{"stacks, sink apart, by events", "sink: separate\n", false},
	{"stacks, 1 in 10", "watch: [{report_all: true, sample: 10}]\n", false},
	{"postcards", postcards, true},
	{"postcards, by events", "mode: xd\n", false},
	{"postcards, MX", everyPacket + "mode: mx\n", true},
	{"postcards, MX, by events", "mode: mx\n", false},
}

// A packet counts once, however many nodes tell of it and why: of no flow more packets are told than hosts sent, and as
// many as nodes saw where every packet is reported; and no hop has more latencies than packets. Of scenarios and
// configurations one pair in four has its turn: each scenario with two or three configurations.
func TestPacketsCountOnce(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	files, err := filepath.Glob(filepath.Join(test.Root(), "scenarios/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	chosen, all := test.Seed(t)
	for i, file := range files {
		for j, nodes := range conservationNodes {
			if !all && (uint64(i+j)+chosen)%4 > 0 {
				continue
			}
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			t.Run(name+" "+nodes.name, func(t *testing.T) {
				t.Parallel()
				s, err := scenario.Load(file)
				if err != nil {
					t.Fatal(err)
				}
				s.INT.Text = []byte(nodes.nodes)
				length := time.Second
				if !nodes.all {
					length = 2500 * time.Millisecond // until faults have begun
				}
				v := emulation{shards: 2, duration: min(time.Duration(s.Duration), length)}.runScenario(t, s)
				checkConserved(t, v, nodes.all, strings.HasPrefix(nodes.name, "postcards"))
			})
		}
	}
}

// checkConserved compares what is told of flows and hops with the truth of a run.
func checkConserved(t *testing.T, v *virtualCollector, all, cards bool) {
	t.Helper()
	sent, seen := map[string]uint64{}, map[string]uint64{}
	flows, lost := map[uint32]string{}, map[string]uint64{}
	unseen := map[uint32]uint64{} // packets of which no node that reports could tell
	reportsLost := false
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Flow:
			flows[r.Flow] = truthEnds(r)
			sent[flows[r.Flow]] += r.PacketsSent
			seen[flows[r.Flow]] += r.PacketsSent
		case *truth.Drop:
			if r.Reason == "host_queue" || r.Reason != "refused" && !r.Seen && (!cards || r.Node == 0) {
				unseen[r.Flow]++
			}
		case *truth.Report:
			reportsLost = reportsLost || r.Lost
		case *truth.End:
			if r.InFlight > 0 {
				lost[""] = r.InFlight
			}
		}
	})
	for flow, n := range unseen {
		seen[flows[flow]] -= n
	}
	told, _ := v.Flows(FlowFilter{Limit: 1 << 20})
	exceeded, wrong := 0, 0
	for i := range told {
		f := &told[i]
		key := fmt.Sprintln(f.Src, f.SrcPort, f.Dst, f.DstPort)
		switch {
		case f.Packets > sent[key]:
			if exceeded++; exceeded < 5 {
				t.Errorf("%s: %d packets told, %d sent", key, f.Packets, sent[key])
			}
		case all && !reportsLost && f.Packets+lost[""] < seen[key]:
			if wrong++; wrong < 5 {
				t.Errorf("%s: %d packets told, nodes saw %d", key, f.Packets, seen[key])
			}
		}
		for _, p := range f.Paths {
			for _, h := range p.Hops {
				if h.LatencyNs != nil && h.LatencyNs.Count > f.Packets {
					t.Errorf("%s: hop %s has %d latencies of %d packets", key, h.Name, h.LatencyNs.Count, f.Packets)
				}
			}
		}
	}
	if exceeded+wrong > 0 {
		t.Errorf("of %d flows, %d exceed what was sent, and %d lack packets", len(told), exceeded, wrong)
	}
	if len(told) == 0 {
		t.Error("no flows")
	}
	hops := v.Hops()
	for i := range hops {
		if h := &hops[i]; h.LatencyNs != nil &&
			(h.LatencyNs.Count > h.Packets || all && !reportsLost && h.LatencyNs.Count != h.Packets) {
			t.Errorf("hop %s: %d latencies of %d packets", h.Name, h.LatencyNs.Count, h.Packets)
		}
	}
}
