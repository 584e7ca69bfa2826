package analyze

import (
	"testing"
	"time"

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
