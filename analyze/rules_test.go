package analyze

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// The tests of this file are one for each rule about what a collector makes of reports, as far as others do not hold it
// already, in the order of docs/reference/conformance.md.

// rulesShard returns a shard, and the code points of the reports of package internal/test.
func rulesShard(t *testing.T) (*Shard, *codepoint.Config) {
	t.Helper()
	c := codepoint.New()
	if err := c.Set("int_udp_port", test.INTPort); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	return NewShard(DefaultConfig()), c
}

// A sink may tell of itself in a separate report (TR 2.0 §3.4): that is no second packet and no further hop.
// TestSinkMetadataInTheReport has the other two ways.
func TestR085SinkTellsOfItselfSeparately(t *testing.T) {
	s, c := rulesShard(t)
	decodeOne(t, s, c, test.Report(test.Form20MD, 7, 1, 3), second)
	decodeOne(t, s, c, test.Report(test.Form20XD, 7, 2, 3), second+1000) // of node 3
	endWait(s, 2*second)
	collector := &Collector{Owners: []Owner{s}}
	checkPaths(t, collector, map[string]uint64{"1 1>2, 2 1>2, 3 1>2": 1})
	if flows, _ := collector.Flows(FlowFilter{Limit: 2}); len(flows) != 1 || flows[0].Packets != 1 ||
		flows[0].Reports != 2 {
		t.Errorf("flows: got %+v", flows)
	}
}

// Each node and hw_id counts for itself (TR 2.0 §3.2). TestSequence has what a gap, a jump back and a restart are.
func TestR086LossPerNodeAndSubsystem(t *testing.T) {
	e := ledger.NewExporters(10)
	for sequence := range uint32(10) {
		for hwID := range uint8(2) {
			if hwID == 1 && sequence == 4 {
				continue // lost
			}
			h := telemetry.Header{
				Source: netip.MustParseAddr("192.0.2.1"), Dialect: codepoint.Specification.Name,
				Version:   telemetry.Version20,
				HasNodeID: true, NodeID: 7, HWID: hwID, HasSequence: true, Sequence: 1000*uint32(hwID) + sequence,
				Reports: 1,
			}
			e.Observe([]telemetry.Header{h}, second)
		}
	}
	list := (&Collector{Exporters: []*ledger.Exporters{e}}).ExporterList()
	if len(list) != 2 {
		t.Fatalf("got %d accounts, want 2", len(list))
	}
	for hwID, want := range []uint64{0, 1} {
		if got := list[hwID]; got.Lost == nil || *got.Lost != want || got.Received != 10-want ||
			got.Reordered+got.Restarted+got.Duplicate != 0 {
			t.Errorf("hw_id %d: got %+v", hwID, got)
		}
	}
}

// The path of a dropped packet ends at the node that reports it (TR 2.0 §2.5).
func TestR089DropBehindTheStack(t *testing.T) {
	s, c := rulesShard(t)
	payload := test.Report(test.Form20MD, 7, 1, 3)
	payload[8+3] |= 0x80 // D
	payload[7] = 9       // Node ID
	decodeOne(t, s, c, payload, second)
	endWait(s, 2*second)
	checkPaths(t, &Collector{Owners: []Owner{s}}, map[string]uint64{"1 1>2, 2 1>2, 3 1>2, 9 ?>? dropped": 1})
}

// Postcards of two flows through the same nodes, with the same packet identification, are not mixed up.
func TestR090ReportsAreJoinedByFlow(t *testing.T) {
	s, c := rulesShard(t)
	for _, node := range []uint32{2, 0, 1} { // in any order
		for flow := range uint32(2) {
			decodeOne(t, s, c, test.Report(test.Form20XD, flow, node, 3), second)
		}
	}
	endWait(s, 2*second)
	collector := &Collector{Owners: []Owner{s}}
	checkPaths(t, collector, map[string]uint64{"1 1>2, 2 1>2, 3 1>2": 2})
	flows, _ := collector.Flows(FlowFilter{Limit: 10})
	if len(flows) != 2 || flows[0].Packets != 1 || flows[1].Packets != 1 {
		t.Errorf("flows: got %+v", flows)
	}
}

// A latency of all ones enters no average and no maximum.
func TestR092AllOnesEnterNoAverage(t *testing.T) {
	s, c := rulesShard(t)
	decodeOne(t, s, c, test.Report(test.Form20MD, 7, 1, 3), second)
	payload := test.Report(test.Form20MD, 7, 2, 3)
	// in the newest record: group, report, Ethernet, IPv4, UDP, shim, INT-MD
	const latency = 8 + 4 + 14 + 20 + 12 + 12 + 8
	for i := range 24 { // latency, queue and timestamps
		payload[latency+i] = 0xFF
	}
	decodeOne(t, s, c, payload, second)
	paths, _ := (&Collector{Owners: []Owner{s}}).Paths(10)
	if len(paths) != 1 || paths[0].Packets != 2 {
		t.Fatalf("got %+v", paths)
	}
	for i, want := range []uint64{2, 2, 1} {
		if l := paths[0].Hops[i].LatencyNs; l == nil || l.Count != want || l.Max != 1007 {
			t.Errorf("hop %d: got %v, want %d values of 1007 ns", i+1, fmt.Sprintf("%+v", l), want)
		}
	}
}
