package fabric

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// copiesScenario has three tiers: an aggregation switch, which is no source, has two core switches above it.
const copiesScenario = `
duration: 300ms
topology:
  fat_tree:
    k: 4
    host_link: {rate: 50M, delay: 5us}
    fabric_link: {rate: 50M, delay: 20us}
traffic:
  - {constant: {from: h1, to: h16, bytes: 20kB}, rate: 1M, packet: 500, tunnel: geneve, vni: 9}
  - {constant: {from: h2, to: h9, bytes: 20kB}, transport: tcp, tunnel: geneve, vni: 9}
  - {constant: {from: h3, to: h4, bytes: 20kB}, rate: 1M, packet: 500, tunnel: geneve, vni: 9}
int:
  version: 2016
  replicate: true
  reports: {format: "1.0"}
  watch: [{report_all: true}]
`

// Of each packet that asks for it, a switch sends a copy to each further next hop, and never of one that does not.
// Copies are reported with the way that they took, and are no packets of it: hosts and flows know nothing of them.
func TestCopies(t *testing.T) {
	for rep, each := range map[string]uint64{"none": 0, "ports": 0, "next_hops": 1, "both": 1} {
		text := copiesScenario + "  replicas: " + rep + "\n"
		s := parseScenario(t, text)
		device, err := INTDevices(s, netip.MustParseAddrPort("192.0.2.9:8555"))
		if err != nil {
			t.Fatal(err)
		}
		c := newCollector(t, map[string]any{"geneve_int_class": 0xab, "int_format_for_version_0": "2016"})
		list, f := ran(t, text, Options{Device: device, Reports: c}, 300*time.Millisecond)
		over := uint64(0) // packets that passed a core switch
		for _, p := range of[*truth.Path](list) {
			if len(p.Hops) == 5 {
				over += p.Packets
			}
		}
		stats := f.Stats()
		if over == 0 || stats.Copies != each*over || stats.Lost() != stats.Dropped[ReasonDiscarded] ||
			stats.Dropped[ReasonDiscarded] != stats.Copies || stats.Sent != stats.Delivered {
			t.Errorf("%s: %d packets passed a core: %+v", rep, over, stats)
		}
		for _, fl := range of[*truth.Flow](list) {
			if fl.PacketsSent != fl.PacketsDelivered || fl.PacketsDropped != 0 {
				t.Errorf("%s: flow %+v", rep, fl)
			}
		}
		reports := map[bool]uint64{}
		cores := map[uint64]map[uint32]bool{} // by packet
		for i := range c.reports {
			r := &c.reports[i]
			reports[r.Is(telemetry.Discard)]++
			if len(r.Hops) == 4 {
				if cores[r.PacketID] == nil {
					cores[r.PacketID] = map[uint32]bool{}
				}
				cores[r.PacketID][r.Hops[2].NodeID] = true
			}
		}
		if reports[true] != stats.Copies || reports[false] != stats.Delivered {
			t.Errorf("%s: %v reports of copies and of packets, %+v", rep, reports, stats)
		}
		for id, by := range cores {
			if uint64(len(by)) != 1+each {
				t.Errorf("%s: packet %x went by the cores %v", rep, id, by)
			}
		}
	}
}

// A source of clones sends a clone behind each packet that is watched, on the same path. Packets arrive as they were
// sent, and each that crosses the domain is told of once, by its clone.
func TestClones(t *testing.T) {
	text := `
duration: 300ms
topology:
  leaf_spine:
    {leaves: 2, spines: 2, hosts: 1, host_link: {rate: 50M, delay: 5us}, fabric_link: {rate: 50M, delay: 5us}}
traffic:
  - {constant: {from: h1, to: h2, bytes: 20kB}, rate: 1M, packet: 500}
  - {constant: {from: h2, to: h1, bytes: 20kB}, transport: tcp}
int:
  clone: true
  watch: [{report_all: true}]
  queues: []
`
	device, err := INTDevices(parseScenario(t, text), netip.MustParseAddrPort("192.0.2.9:8555"))
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(t, map[string]any{"int_dscp": 0x17, "int_dscp_mask": 0x3f})
	list, f := ran(t, text, Options{Device: device, Reports: c}, 300*time.Millisecond)
	stats := f.Stats()
	if stats.Sent == 0 || stats.Copies != stats.Sent || stats.Lost() != stats.Copies ||
		stats.Dropped[ReasonDiscarded] != stats.Copies || stats.Sent != stats.Delivered ||
		uint64(len(c.reports)) != stats.Copies {
		t.Errorf("%d reports, %+v", len(c.reports), stats)
	}
	ways := map[string]uint64{}
	for _, p := range of[*truth.Path](list) {
		ways[fmt.Sprint(p.Hops[0].Node, p.Hops[1].Node, p.Hops[2].Node)] += p.Packets
	}
	for i := range c.reports {
		r := &c.reports[i]
		if !r.Is(telemetry.Discard) || len(r.Hops) != 2 {
			t.Fatalf("report %d: %+v", i, r)
		}
		ways[fmt.Sprint(r.Hops[0].NodeID, r.Hops[1].NodeID, r.NodeID)]--
	}
	for way, n := range ways {
		if n != 0 {
			t.Errorf("%s: %d packets more than clones", way, int64(n))
		}
	}
}
