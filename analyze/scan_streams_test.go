package analyze

import (
	"math"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// Where sinks tell of every packet, a link that loses some of them is found by the holes in TCP streams.
func TestGrayFailuresOfStacks(t *testing.T) {
	for _, test := range []struct {
		scenario string
		duration time.Duration
		share    float64 // that the link leaf2-spine1 loses
	}{
		{scenario: "gray-link", share: 0.02},
		{scenario: "demo", duration: 48 * time.Second, share: 0.03},
	} {
		if raceDetector && test.scenario != "gray-link" {
			continue // races do not depend on the scenario
		}
		t.Run(test.scenario, func(t *testing.T) {
			v := emulation{duration: test.duration, shards: 2}.run(t, test.scenario)
			var first, last int64
			var lost uint64
			lostBy, tcp := map[uint32]uint64{}, map[uint32]bool{}
			v.each(func(r truth.Record) {
				switch r := r.(type) {
				case *truth.Flow:
					tcp[r.Flow] = r.Protocol == 6 || r.Inner != nil && r.Inner.Protocol == 6
				case *truth.Drop:
					if r.Reason != "gray_link" {
						return
					}
					if first == 0 {
						first = r.TimeNs
					}
					last = r.TimeNs
					lostBy[r.Flow]++
				}
			})
			for flow, n := range lostBy {
				if tcp[flow] {
					lost += n
				}
			}
			events := v.eventsOf(telemetry.EventGrayFailure)
			if len(events) != 1 {
				t.Fatalf("got %d events: %+v", len(events), events)
			}
			e := &events[0]
			if e.Name != "leaf2" || *e.Port != 1 || e.ToName != "spine1" || *e.ToPort != 2 ||
				!v.around(e, first, last) {
				t.Errorf("got %s from %v to %v, want leaf2-spine1 from %v to %v", e.Text, e.Start, e.End,
					time.Duration(first), time.Duration(last))
			}
			// Nothing tells of acknowledgements, nor of data behind which none came.
			if e.Count > lost || float64(e.Count) < 0.3*float64(lost) {
				t.Errorf("got %d packets lost, want %d", e.Count, lost)
			}
			for _, share := range e.Evidence {
				if math.Abs(share.Value-test.share) > 0.015 {
					t.Errorf("got %s of %.3f, want %.2f", share.Name, share.Value, test.share)
				}
			}
			if len(e.Evidence) != 2 {
				t.Errorf("the link loses packets both ways: got %+v", e.Evidence)
			}
		})
	}
}

// congested is a network whose links within are as full as those of its hosts.
const congested = `
name: congested
duration: 5s
topology: {leaf_spine: {leaves: 4, spines: 2, hosts: 4, host_link: {rate: 40M}, fabric_link: {rate: 40M}}}
traffic:
  - poisson: {load: 45%, sizes: web_search, max_size: 300kB}
`

// Packets for which a queue has no room leave holes as well. If the node tells of them nobody is misled, nor if it does
// not but stacks tell how long the queue was. A link that loses packets is not found if reports tell of some only, or
// if reports are lost, too.
func TestNoGrayFailuresOfStacks(t *testing.T) {
	if raceDetector {
		t.Skip("races do not depend on the scenario")
	}
	for _, test := range []struct {
		name, nodes, scenario string
		change                func(*scenario.Scenario)
	}{
		{name: "full queues", nodes: everyPacket},
		{name: "full queues of which nobody tells", nodes: everyPacket + "drops: []\nqueues: []\n"},
		{name: "one in three packets", nodes: "watch: [{report_all: true, sample: 3}]\n", scenario: "gray-link"},
		{
			name: "one in three reports is lost", nodes: everyPacket, scenario: "gray-link",
			change: func(s *scenario.Scenario) {
				s.Faults = append(s.Faults, scenario.Fault{ReportLoss: &scenario.ReportLoss{Every: 3}})
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := emulation{shards: 2, nodes: test.nodes, change: test.change}
			var v *virtualCollector
			if test.scenario != "" {
				v = e.run(t, test.scenario)
			} else {
				s := scenarioOf(t, congested)
				s.INT.Text = []byte(test.nodes)
				v = e.runScenario(t, s)
				drops := 0
				v.each(func(r truth.Record) {
					if _, ok := r.(*truth.Drop); ok {
						drops++
					}
				})
				if drops < 1000 {
					t.Errorf("%d drops prove nothing", drops)
				}
			}
			for _, g := range v.eventsOf(telemetry.EventGrayFailure) {
				t.Errorf("made up: %+v", g)
			}
		})
	}
}
