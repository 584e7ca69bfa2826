package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// clocksSet is a network in which two clocks are set at once, of neighbours whose link is known better than others.
const clocksSet = `
name: clocks-set
duration: 7s
topology:
  graph:
    switches: [{name: leaf1}, {name: leaf2}, {name: leaf3}, {name: spine1}, {name: spine2}]
    links:
      - {between: [leaf1, spine1], rate: 1G, delay: 1us}
      - {between: [leaf2, spine1], rate: 100M, delay: 300us}
      - {between: [leaf3, spine1], rate: 100M, delay: 300us}
      - {between: [leaf1, spine2], rate: 100M, delay: 300us}
      - {between: [leaf2, spine2], rate: 100M, delay: 300us}
      - {between: [leaf3, spine2], rate: 100M, delay: 300us}
    hosts:
      - {name: h1, at: leaf1, link: {rate: 100M}}
      - {name: h2, at: leaf2, link: {rate: 100M}}
      - {name: h3, at: leaf3, link: {rate: 100M}}
      - {name: h4, at: leaf1, link: {rate: 100M}}
      - {name: h5, at: leaf2, link: {rate: 100M}}
traffic:
  - {poisson: {load: 3%, sizes: web_search, max_size: 100kB}}
faults:
  - {at: 3s, clock: {node: spine1, offset: -20ms}}
  - {at: 3s, clock: {node: leaf1, offset: 50ms}}
`

// When two clocks are set at once each is told with its own step, within the uncertainty, or the pairs that disagree
// are.
func TestClocksSetAtOnce(t *testing.T) {
	v := emulation{shards: 1}.runScenario(t, scenarioOf(t, clocksSet))
	set := map[string]float64{"spine1": -20e6, "leaf1": 50e6}
	known := 0
	for _, e := range v.eventsOf(telemetry.EventClockJump) {
		want := set[e.Name]
		if e.ToNode == nil {
			known++
		} else {
			want -= set[e.ToName]
		}
		if off := e.Evidence[0].Value - want; max(off, -off) > e.Evidence[1].Value || want == 0 {
			t.Errorf("got %s, want a step of %.0f ns", e.Text, want)
		}
	}
	if known != 2 {
		t.Errorf("%d of 2 clocks are told", known)
	}
}
