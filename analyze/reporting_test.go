package analyze

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// Figures say of which packets they tell, as the configuration of the nodes is: nobody tells the collector.
func TestSamples(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	for _, c := range []struct {
		name, nodes, want string
		or                string // where there are too few packets to tell
	}{
		{"stacks", everyPacket, "every_packet", ""},
		{"postcards", postcards, "every_packet", ""},
		{"stacks, by events", "mode: md\n", "on_event", "partial"},
		{"postcards, by events", "mode: xd\n", "on_event", "partial"},
		{"stacks, 1 in 10", "watch: [{report_all: true, sample: 10}]\n", "partial", ""},
	} {
		for _, name := range []string{"incast", "steady"} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				v := emulation{duration: 3 * time.Second, shards: 2, nodes: c.nodes}.run(t, name)
				kinds, right, wrong := map[string]int{}, 0, 0
				count := func(where string, s *telemetry.Sample) {
					switch kinds[where+s.Kind]++; s.Kind {
					case c.want:
						right++
					case c.or:
					default:
						wrong++
					}
				}
				hops := v.Hops()
				for i := range hops {
					if hops[i].LatencyNs != nil {
						count("hop ", hops[i].Sample)
					}
				}
				paths, _ := v.Paths(1000)
				for i := range paths {
					if paths[i].Residence != nil {
						count("path ", paths[i].Sample)
					}
				}
				links := v.Links()
				for i := range links {
					count("link ", links[i].Sample)
				}
				if wrong > 0 || right < 50 && c.or == "" || right == 0 && name == "steady" {
					t.Errorf("got %v, want %s", kinds, c.want)
				}
			})
		}
	}
}

// A way that begins or ends at the port of a link is a part of one: it says so, and is where no flow begins.
func TestPartsOfPaths(t *testing.T) {
	s := NewShard(DefaultConfig())
	c := &Collector{Owners: []Owner{s}}
	for flow, nodes := range [][]uint32{{1, 2, 3}, {2, 3}, {1, 2}} {
		var b telemetry.Batch
		for _, node := range nodes {
			b.Add(&telemetry.Report{
				Flags: telemetry.HasFlow | telemetry.Tracked, Flow: telemetry.FlowKey{SrcPort: uint16(flow + 1)},
				PacketID: uint64(flow), TTL: uint8(65 - node), Local: telemetry.Hop{
					Has:    telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort,
					NodeID: node, IngressPort: 10 * node, EgressPort: 10*node + 1,
				},
			})
		}
		now := second + int64(flow)*second
		s.Process(&b, now)
		s.Finish(now)
	}
	got := map[string]int{}
	paths, _ := c.Paths(10)
	for i := range paths {
		p := &paths[i]
		if len(p.Hops) == 3 && p.Unknown != nil {
			t.Errorf("whole path: got %v", p.Unknown)
		}
		for _, part := range p.Unknown {
			got[part]++
		}
	}
	if len(paths) != 3 || got["beginning"] != 1 || got["end"] != 1 {
		t.Errorf("%d paths, got %v, want one without its beginning and one without its end", len(paths), got)
	}
	nodes, _ := s.newFlows.Take()
	if n := nodes[scan.NewFlowKey{Node: 2, Known: true}]; n != nil {
		t.Errorf("%d flows begin at a node in the middle", n.Flows)
	}
}
