package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// incidentNetwork is a ring in which nothing is wrong, and no queue is full.
const incidentNetwork = `
topology: {ring: {nodes: 6, hosts: 2, host_link: {rate: 50M}, ring_link: {rate: 100M, delay: 50us}}}
traffic:
  - {poisson: {load: 1%, sizes: web_search, max_size: 20kB}, ip: mixed}
  - {constant: {from: h1, to: h5}, rate: 1M, packet: 500, port: 6001}
  - {constant: {from: h3, to: h8}, rate: 1M, packet: 500, port: 6002}
  - {constant: {from: h5, to: h1}, rate: 1M, packet: 500, port: 6003}
  - {constant: {from: h9, to: h11}, rate: 1M, packet: 500, port: 6004}
  - {constant: {from: h12, to: h10}, rate: 1M, packet: 500, port: 6005}
`

// Faults that overlap stay apart: each makes exactly one incident, of its kind, at its place, from when packets met it,
// with the packets and flows that it cost; and there is no other.
func TestFaultsThatOverlap(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	const (
		blackhole = "  - {at: 3s, for: 3s, blackhole: {node: pop2, prefix: 10.0.3.0/24}}\n"
		slow      = "  - {at: 4s, for: 3s, slow_switch: {node: pop5, extra: 300us}}\n"
		link      = "  - {at: 3500ms, for: 3s, link_down: {link: [pop5, pop6]}}\n"
	)
	for name, c := range map[string]struct {
		faults string
		n      int
	}{
		"two": {blackhole + slow, 2}, "two with a link": {blackhole + link, 2}, "three": {blackhole + link + slow, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenarioOf(t, "name: overlap\nduration: 10s\n"+incidentNetwork+"faults:\n"+c.faults)
			s.INT.Text = []byte(everyPacket)
			v := emulation{shards: 2}.runScenario(t, s)
			events, _ := v.log.Events(nil, 100_000)
			got := scoreIncidents(t, v, events)
			if got.faults != c.n || got.found != c.n || got.told != c.n || got.right != c.n ||
				got.startNs > scan.ScanNs || got.exact != got.known || got.below != got.bounds {
				t.Errorf("got %+v, want %d faults with one incident each", got, c.n)
				for _, n := range incident.Of(events, nil) {
					t.Logf("%v to %v %v %v: %s", n.Start, n.End, n.Severity, n.Kind, n.Text)
				}
			}
		})
	}
}

// In a minute without faults nothing is an incident that anybody has to look at.
func TestMinuteWithoutFaults(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	s := scenarioOf(t, "name: quiet\nduration: 60s\n"+incidentNetwork)
	s.INT.Text = []byte(everyPacket)
	v := emulation{shards: 2}.runScenario(t, s)
	events, _ := v.log.Events(nil, 100_000)
	if !slices.ContainsFunc(events, func(e telemetry.Event) bool { return e.Kind == telemetry.EventNewFlow }) {
		t.Fatal("no flow was seen")
	}
	for _, n := range incident.Of(events, nil) {
		if n.Severity > telemetry.Info {
			t.Errorf("%v to %v %v: %s", n.Start, n.End, n.Kind, n.Text)
		}
	}
}

// A link that loses packets both ways does so from when either way was found to, whichever is found first.
func TestGrayLinkBegins(t *testing.T) {
	v := emulation{shards: 2, seed: 1007}.run(t, "gray-link")
	faults, _ := faultsOf(v)
	events := v.eventsOf(telemetry.EventGrayFailure)
	if len(faults) != 1 || len(events) != 1 {
		t.Fatalf("got %d faults, and events %+v", len(faults), events)
	}
	if after := events[0].Start.UnixNano() - v.start - faults[0].firstNs; after < 0 || after > scan.ScanNs {
		t.Errorf("got a begin %d ns after the first packet was lost", after)
	}
}

// A link that always carries the same flows as the next one and as a host's own cannot be told from these by stacks,
// and nothing is said; if another gateway uses it too, it is found.
func TestGrayLinkInAChain(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	chain := strings.NewReplacer("load: 2%", "load: 6%", "at: 10s, for: 2s", "at: 10s, for: 4s", "duration: 14s",
		"duration: 16s").Replace(otherNetworks[1])
	branch := strings.NewReplacer(
		"{name: gw3},", "{name: gw3}, {name: gw4},", "      - {between: [agg1, core]",
		"      - {between: [gw4, agg2], rate: 50M, delay: 1ms}\n      - {between: [agg1, core]",
		"      - {name: e,", "      - {name: g, at: gw4, link: {rate: 20M}}\n      - {name: e,").Replace(chain)
	for _, c := range []struct {
		network string
		want    int
	}{{chain, 0}, {branch, 1}} {
		s := scenarioOf(t, c.network)
		s.INT.Text = []byte(everyPacket)
		v := emulation{shards: 2, seed: 1001}.runScenario(t, s)
		if got := v.eventsOf(telemetry.EventGrayFailure); len(got) != c.want {
			t.Errorf("got %d gray links, want %d: %+v", len(got), c.want, got)
		}
	}
}

// Packets of a loop whose TTL another node than the one that they come to first uses up are part of what it cost, also
// if they are too few for a storm of drops.
func TestSlowLoop(t *testing.T) {
	s := scenarioOf(t, `
name: slow loop
duration: 8s
topology: {ring: {nodes: 7, hosts: 1, host_link: {rate: 100M}, ring_link: {rate: 100M}}}
traffic:
  - {constant: {from: h1, to: h3}, rate: 16k, packet: 200, port: 6001}
  - {constant: {from: h7, to: h3}, rate: 16k, packet: 200, port: 6002}
faults: [{at: 2s, for: 3s, loop: {nodes: [pop2, pop1], prefix: 10.0.3.0/24}}]
`)
	s.INT.Text = []byte(everyPacket)
	v := emulation{shards: 2}.runScenario(t, s)
	events, _ := v.log.Events(nil, 100_000)
	got := scoreIncidents(t, v, events)
	nodes := map[uint32]bool{}
	v.each(func(r truth.Record) {
		if d, ok := r.(*truth.Drop); ok && d.Reason == "ttl" {
			nodes[d.Node] = true
		}
	})
	if len(nodes) != 2 || got.found != 1 || got.told != 1 || got.exact != 1 {
		t.Errorf("got %+v; dropped at %v", got, nodes)
	}
}
