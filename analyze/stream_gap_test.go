package analyze

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// Numbers of packets that do not come are lost packets; those that come late, and those that a node dropped, are not.
func TestNumbersOfPackets(t *testing.T) {
	const begin = "1 2 3 4 5 6 7 8 9 10 "
	for _, c := range []struct{ name, text, missing, path string }{
		{"all", begin, "0", "9 arrived, 0 lost"},
		{"one", begin + "12 13", "1", "11 arrived, 1 lost"},
		{"three in two gaps", begin + "13 14 16", "3", "12 arrived, 3 lost"},
		{"overtaken", begin + "12 13 11 14", "0", "12 arrived, 0 lost"},
		{"one of two overtaken", begin + "13 11 14", "1", "11 arrived, 1 lost"},
		{"overtaken at the beginning", "2 3 1 4 5", "0", "3 arrived, 0 lost"},
		{"reported twice", begin + "10 12 12 13", "1", "11 arrived, 1 lost"},
		{"dropped, said before", begin + "!11 12 13", "0", "11 arrived, 0 lost"},
		{"dropped, said behind", begin + "12 !11 13", "0", "11 arrived, 0 lost"},
		{"one dropped, one lost", begin + "!11 13", "1", "10 arrived, 1 lost"},
		{"the source begins anew", begin + "500000 500001 500003", "1", "11 arrived, 1 lost"},
		{"the source begins with 1 again", "100 101 102 1 2 4", "1", "4 arrived, 1 lost"},
		{"numbers wrap", "4294967294 4294967295 0 2", "1", "3 arrived, 1 lost"},
		{"Host-INT reports few packets, and what is missing", "~1 ~100 =3 ~200 ~300", "3", "299 arrived, 3 lost"},
	} {
		s := newStreamScript()
		for word := range strings.FieldsSeq(c.text) {
			kind, n := word[0], uint32(0)
			if _, err := fmt.Sscan(strings.TrimLeft(word, "!~="), &n); err != nil {
				t.Fatal(err)
			}
			r := telemetry.Report{
				Flags:        telemetry.HasFlow | telemetry.Embedded | telemetry.HasFlowSequence,
				Flow:         telemetry.FlowKey{Protocol: 17, DstPort: 80},
				FlowSequence: n,
				Hops:         []telemetry.Hop{{Has: telemetry.HasNode, NodeID: 1}, {Has: telemetry.HasNode, NodeID: 2}},
			}
			switch kind {
			case '!':
				r.Flags |= telemetry.Dropped
				r.Hops = r.Hops[:1]
				r.Local = telemetry.Hop{Has: telemetry.HasNode | telemetry.HasDrop, NodeID: 3}
			case '~':
				r.Flags |= telemetry.GapsReported
			case '=':
				r.Flags |= telemetry.DropSummary | telemetry.Dropped
				r.DropCount = n
			}
			s.nowNs += 1e5
			s.shard.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, s.nowNs)
		}
		for range 10 {
			s.nowNs += 100e6
			s.shard.Tick(s.nowNs)
		}
		flows, _ := (&Collector{Owners: []Owner{s.shard}}).Flows(FlowFilter{Limit: 1})
		if got := fmt.Sprint(*flows[0].Missing); got != c.missing {
			t.Errorf("%s: got %s packets missing, want %s", c.name, got, c.missing)
		}
		for i := range s.shard.paths.paths {
			p := &s.shard.paths.paths[i]
			if n := &p.sinceScan.numbers; len(p.hops) == 2 && n.Any() {
				if got := fmt.Sprintf("%d arrived, %d lost", n.Arrived, n.Lost); got != c.path {
					t.Errorf("%s: got %s, want %s", c.name, got, c.path)
				}
			}
		}
		if s.shard.gaps.Open != 0 {
			t.Errorf("%s: %d gaps are open", c.name, s.shard.gaps.Open)
		}
	}
}

// Of each flow whose source numbers its packets it is known how many were lost without a reason, but for those behind
// the last that came.
func TestMissingPacketsOfFlows(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	text, err := os.ReadFile(filepath.Join(test.Root(), "scenarios/destination-headers.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := scenarioOf(t, string(text), "\nint:", // nodes tell of what they drop
		"\n  - {at: 6s, for: 1s, link_down: {link: [leaf1, spine1]}}\nint:")
	s.INT.Text = []byte(numberedStacks + everyPacket)
	v := emulation{shards: 2}.runScenario(t, s)
	lost, names := map[uint32]uint64{}, map[string]uint64{}
	said := 0
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Drop:
			if r.Reason == "gray_link" && r.Node != 0 {
				lost[r.Flow]++
			} else if r.Seen {
				said++
			}
		case *truth.Flow:
			names[truthEnds(r)] = lost[r.Flow]
		}
	})
	if said == 0 || len(lost) < 50 {
		t.Errorf("%d packets dropped, %d flows with lost ones: that proves little", said, len(lost))
	}
	var all, missing uint64
	flows, _ := v.Flows(FlowFilter{Limit: 1 << 20})
	for _, f := range flows {
		want, ok := names[fmt.Sprintln(f.Src, f.SrcPort, f.Dst, f.DstPort)]
		if !ok {
			t.Errorf("%+v", f.Endpoints)
		}
		if f.Missing == nil { // from and to the same leaf
			if want > 0 {
				t.Errorf("%+v: it is not known what is missing", f)
			}
			continue
		}
		if *f.Missing > want {
			t.Errorf("%v: %d are missing, %d were lost", f.Endpoints, *f.Missing, want)
		}
		all, missing = all+want, missing+*f.Missing
	}
	if missing*10 < all*9 {
		t.Errorf("%d are missing, %d were lost", missing, all)
	}
}

// A number in a packet whose stack is empty, the first that a shard hears of, says nothing of a path.
func TestNumberWithoutPath(t *testing.T) {
	s := NewShard(DefaultConfig())
	for number := range uint32(3) {
		r := telemetry.Report{
			Flow: telemetry.FlowKey{Protocol: 17, DstPort: 53}, Bytes: 100, FlowSequence: 5 * number,
			Flags: telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded | telemetry.HasFlowSequence,
		}
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, second)
	}
	flows, _ := (&Collector{Owners: []Owner{s}}).Flows(FlowFilter{Limit: 9})
	if len(flows) != 1 || flows[0].Packets != 3 || len(flows[0].Paths) != 0 {
		t.Errorf("got %+v", flows)
	}
}
