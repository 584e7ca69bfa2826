package expect

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// TestBurstDifferences: of a queue to which two flows bring three packets and one, what is right differs in nothing,
// and what is wrong does.
func TestBurstDifferences(t *testing.T) {
	const epochNs = int64(1e18)
	c := NewChronicle(Options{Mode: MD}, 100*time.Millisecond)
	w := truth.NewWriter(c)
	w.Write(&truth.Run{EpochNs: uint64(epochNs), SamplePackets: 1})
	w.Write(&truth.Switch{Node: 1, Address: "10.255.0.1", LatencyNs: 800})
	w.Write(&truth.Host{Node: 1, Port: 4})
	hop := func(packet uint64, flow uint32, in, out int64, depth uint64) {
		c.Identify(packet)
		w.Write(&truth.Report{TimeNs: out, Node: 1, Packet: packet, Flow: flow})
		w.Write(&truth.Hop{
			Packet: packet, Flow: flow, Node: 1, In: 3, Out: 4, InNs: in, OutNs: out,
			InClock: uint64(epochNs + in + 7), OutClock: uint64(epochNs + out + 7), Depth: depth, Length: 1000,
		})
	}
	hop(1, 1, 1000, 1800, 0)
	hop(2, 1, 2000, 5800, 0) // above the threshold with the next
	hop(3, 2, 3000, 9800, 1000)
	hop(4, 1, 4000, 13800, 2000)
	w.Write(&truth.Burst{
		Node: 1, Port: 4, StartNs: 3000, PeakNs: 4000, EndNs: 9000, Peak: 3000, Packets: 3,
		Bytes: 3000, Flows: []truth.BurstFlow{{Flow: 1, Bytes: 2000}, {Flow: 2, Bytes: 1000}},
	})
	for flow, src := range map[uint32]string{1: "10.0.1.1", 2: "10.0.1.2"} {
		w.Write(&truth.Flow{Flow: flow, Src: src, Dst: "10.0.1.3", Protocol: 17, SrcPort: 4000, DstPort: 5000})
	}
	w.Write(&truth.End{TimeNs: 20000})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Intervals(epochNs + 20e9); err != nil {
		t.Fatal(err)
	}
	at := func(ns int64) time.Time { return time.Unix(0, epochNs+ns+7) }
	flow := func(src string) *telemetry.Endpoints {
		return &telemetry.Endpoints{
			Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr("10.0.1.3"), SrcPort: 4000,
			DstPort: 5000, Protocol: "udp",
		}
	}
	right := func() telemetry.Burst {
		return telemetry.Burst{
			ID: "b", Node: 1, Port: 4, Start: at(3000), Peak: at(4000), End: at(9000), DurationNs: 6000,
			Unit: "bytes", PeakDepth: 3000, PeakBytes: new(uint64(3000)), Packets: 3, Bytes: 3000, Complete: 1,
			Sources: 2, MainSources: 2, Culprits: []telemetry.Culprit{
				{Flow: flow("10.0.1.1"), Packets: 2, Bytes: 2000, BuildUpBytes: 2000, Share: 2000.0 / 3000},
				{Flow: flow("10.0.1.2"), Packets: 1, Bytes: 1000, BuildUpBytes: 1000, Share: 1000.0 / 3000},
			},
		}
	}
	if list, compared, others := c.BurstDifferences([]telemetry.Burst{right()}); len(list) > 0 || compared != 1 ||
		others != 0 {
		t.Fatalf("got %q, %d compared, %d not", list, compared, others)
	}
	for name, spoil := range map[string]func(*telemetry.Burst){
		"another queue":        func(b *telemetry.Burst) { b.Queue = 1 },
		"a start, by 1 ns":     func(b *telemetry.Burst) { b.Start = b.Start.Add(1) },
		"a peak, by 1 ns":      func(b *telemetry.Burst) { b.Peak = b.Peak.Add(1) },
		"an end, by 20 us":     func(b *telemetry.Burst) { b.End, b.DurationNs = at(29000), 26000 },
		"bytes at the peak":    func(b *telemetry.Burst) { b.PeakBytes = new(*b.PeakBytes + 1) },
		"packets":              func(b *telemetry.Burst) { b.Packets++ },
		"drops":                func(b *telemetry.Burst) { b.Drops++ },
		"complete":             func(b *telemetry.Burst) { b.Complete = 0.9 },
		"an incast":            func(b *telemetry.Burst) { b.Incast = true },
		"senders":              func(b *telemetry.Burst) { b.MainSources = 1 },
		"bytes of a flow":      func(b *telemetry.Burst) { b.Culprits[0].Bytes++ },
		"a build-up":           func(b *telemetry.Burst) { b.Culprits[0].BuildUpBytes-- },
		"a share":              func(b *telemetry.Burst) { b.Culprits[0].Share = 0.5 },
		"another flow":         func(b *telemetry.Burst) { b.Culprits[0].Flow = flow("10.0.1.9") },
		"a flow without name":  func(b *telemetry.Burst) { b.Culprits[0].Flow = nil },
		"an order":             func(b *telemetry.Burst) { slices.Reverse(b.Culprits) },
		"a culprit is missing": func(b *telemetry.Burst) { b.Culprits = b.Culprits[:1] },
		"a culprit is a victim": func(b *telemetry.Burst) {
			x := b.Culprits[1]
			b.Culprits, b.Victims = b.Culprits[:1],
				[]telemetry.Victim{{Flow: x.Flow, Packets: 1, Bytes: 1000, ExtraNs: 6000, MaxExtraNs: 6000}}
		},
	} {
		b := right()
		spoil(&b)
		if list, _, _ := c.BurstDifferences([]telemetry.Burst{b}); len(list) == 0 {
			t.Errorf("%s: nobody notices", name)
		}
	}
	if list, _, _ := c.BurstDifferences(nil); len(list) != 1 {
		t.Errorf("missed: got %q", list)
	}
	again := right()
	again.ID, again.Start = "c", again.Start.Add(time.Millisecond)
	if list, _, _ := c.BurstDifferences([]telemetry.Burst{right(), again}); len(list) != 1 {
		t.Errorf("made up: got %q", list)
	}
}
