package expect

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// TestChronicle: packets count in the interval of their report, those that a postcard told of half a second later,
// losses with the next report.
func TestChronicle(t *testing.T) {
	o := options(MD)
	c := NewChronicle(o, 100*time.Millisecond)
	w := truth.NewWriter(c)
	write := func(records ...truth.Record) {
		for _, r := range records {
			w.Write(r)
		}
	}
	const second = int64(1e9)
	write(&truth.Run{EpochNs: 1e18, SamplePackets: 1},
		&truth.Switch{Node: 1, Address: "10.255.0.1"}, &truth.Switch{Node: 2, Address: "10.255.0.2"},
		&truth.Host{Node: 1, Port: 4}, &truth.Host{Node: 2, Port: 4})
	packets := uint64(0)
	send := func(atNs int64, lost bool) { // from switch 1 to switch 2, which reports it
		packets++
		if !lost {
			c.Identify(packets)
		}
		write(&truth.Hop{Packet: packets, Flow: 1, Node: 1, In: 4, Out: 1, InClock: 1000, OutClock: 1100, Depth: 7},
			&truth.Report{Lost: lost, TimeNs: atNs, Node: 2, Packet: packets, Flow: 1},
			&truth.Hop{Packet: packets, Flow: 1, Node: 2, In: 1, Out: 4, InClock: 1200, OutClock: 1500, Length: 114})
	}
	drop := func(atNs int64) { // at switch 1
		packets++
		c.Identify(packets)
		write(&truth.Report{TimeNs: atNs, Node: 1, Packet: packets, Flow: 1},
			&truth.Drop{
				Packet: packets, Flow: 1, Place: "queue", Node: 1, In: 4, Out: 1, Code: 51, Seen: true,
				Length: 114,
			})
	}
	send(0, false)
	send(1*second, true)
	drop(9*second + 400e6) // its wait is over in this interval
	drop(9*second + 600e6) // its wait is over in the next: there it counts in its flow, dropped or not
	send(10*second, false)
	write(&truth.Flow{Flow: 1, Src: "10.0.1.1", Dst: "10.0.3.1", Protocol: 17, SrcPort: 4000, DstPort: 5000},
		&truth.End{})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	v, err := c.Intervals(1e18 + 20*second)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range v.Flows {
		got = append(got,
			fmt.Sprint("flow ", (f.StartNs-1e18)/second, " ", f.Packets, " ", f.Bytes, " ", f.Drops, " ", f.Reports,
				" ", f.Residence.Sum, " ", f.EndToEnd.Sum))
	}
	for _, x := range v.Exporters {
		got = append(got, fmt.Sprint("exporter ", (x.StartNs-1e18)/second, " ", x.Node, " ", x.Received, " ", x.Lost))
	}
	for _, d := range v.Drops {
		got = append(got, fmt.Sprint("drop ", (d.StartNs-1e18)/second, " ", d.Packets))
	}
	for _, p := range v.Paths {
		got = append(got,
			fmt.Sprint("path ", (p.StartNs-1e18)/second, " ",
				len(v.Routes[slices.IndexFunc(v.Routes,
					func(r telemetry.Route) bool { return r.Path == p.Path })].Elements), " ", p.Packets))
	}
	slices.Sort(got)
	want := []string{
		"drop 0 2", "exporter 0 1 2 0", "exporter 0 2 1 0", "exporter 10 2 1 1",
		"flow 0 2 200 1 3 400 500", "flow 10 2 200 1 1 400 500", "path 0 1 1", "path 0 2 1", "path 10 1 1",
		"path 10 2 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(v.Hops) != 6 || len(v.Links) != 2 || len(v.Queues) != 4 {
		t.Errorf("%d hops, %d links, %d queues", len(v.Hops), len(v.Links), len(v.Queues))
	}
}
