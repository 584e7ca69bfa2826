package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// standbyNetworks have links that carry packets only while another link is down: a ring, and a slow way around.
var standbyNetworks = map[string]struct {
	text, nodes string
	lost        int // links
}{
	"ring": {`
duration: 9s
routing: {reconvergence: 30ms}
topology: {ring: {nodes: 5, hosts: 2, host_link: {rate: 50M}, ring_link: {rate: 100M, delay: 300us}}}
traffic:
  - {poisson: {load: 4%, sizes: web_search, max_size: 60kB}, ip: mixed}
  - {constant: {from: h1, to: h4}, rate: 1M, packet: 500, port: 6001}
  - {constant: {from: h5, to: h8}, rate: 1M, packet: 500, port: 6002}
  - {constant: {from: h9, to: h3}, rate: 1M, packet: 500, port: 6003}
faults: [{at: 3s, for: 1500ms, link_down: {link: [pop1, pop2]}}]
`, postcards, 0},
	"way around": {`
duration: 40s
routing: {reconvergence: 1s}
topology:
  graph:
    switches: [{name: a}, {name: b}, {name: c}, {name: d}]
    links:
      - {between: [a, b], rate: 10M, delay: 20ms}
      - {between: [b, c], rate: 10M, delay: 30ms}
      - {between: [c, d], rate: 10M, delay: 5ms}
      - {between: [a, d], rate: 2M, delay: 80ms}
    hosts: [{name: ha, at: a}, {name: hb, at: b}, {name: hc, at: c}, {name: hd, at: d}]
traffic:
  - {constant: {from: ha, to: hc}, rate: 20k, packet: 200, port: 6001}
  - {constant: {from: hc, to: ha}, rate: 20k, packet: 200, port: 6002}
  - {constant: {from: hb, to: hd}, rate: 40k, packet: 200, port: 6003}
  - {constant: {from: hd, to: ha}, rate: 8k, packet: 200, port: 6004}
  - {constant: {from: ha, to: hb, bytes: 40kB}, start: 3s, packet: 1000, port: 6005, transport: tcp}
faults: [{at: 12s, for: 12s, link_down: {link: [b, c]}}]
`, everyPacket, 1}, // no packet goes from c to b
	"for a moment": {`
duration: 4s
routing: {reconvergence: 1ms}
topology: {ring: {nodes: 3, hosts: 1, host_link: {rate: 389M}, ring_link: {rate: 234M}}}
traffic:
  - {poisson: {load: 2%, sizes: web_search, max_size: 30kB}, port: 48369}
  - {constant: {from: h2, to: h3}, rate: 20M, packet: 500, port: 6001}
faults: [{at: 1700ms, for: 400ms, link_down: {link: [pop2, pop3]}}]
`, everyPacket, 0}, // only pop2 has packets to drop
}

// A link that falls silent because its flows went back to where they were before is not lost, and what stands in for
// another link does not share packets with it.
func TestLinksThatStandIn(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	for name, network := range standbyNetworks {
		t.Run(name, func(t *testing.T) {
			s := scenarioOf(t, network.text)
			s.INT.Text = []byte(network.nodes)
			e := emulation{shards: 2}
			v := e.runScenario(t, s)
			lost := v.eventsOf(telemetry.EventLinkLost)
			for i := range lost {
				if lost[i].End == nil {
					t.Errorf("goes on: %s", lost[i].Text)
				}
			}
			if len(lost) != network.lost {
				t.Errorf("%d links are lost, want %d", len(lost), network.lost)
			}
			for _, e := range v.eventsOf(telemetry.EventECMPImbalance) {
				t.Errorf("made up: %s", e.Text)
			}
		})
	}
}
