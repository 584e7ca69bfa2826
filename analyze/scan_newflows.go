package analyze

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// scanNewFlows notes where flows were seen for the first time. While new ones keep coming in at a node that is one
// event: a network has many more flows than anybody wants to read about, and few nodes at which they come in.
func (s *Scanner) scanNewFlows() {
	all := map[newFlowKey]*newFlows{}
	for _, shard := range s.collector.Shards {
		shard.mu.Lock()
		nodes, overflow := shard.newFlows.take()
		shard.mu.Unlock()
		s.log.AddUnwatched(overflow)
		for k, n := range nodes {
			if sum := all[k]; sum != nil {
				sum.merge(n)
			} else {
				all[k] = n
			}
		}
	}
	for k, n := range all {
		s.log.Note(eventlog.Key{Kind: telemetry.EventNewFlow, Node: k.node, Unnamed: !k.known}, n.first, n.last,
			n.flows, func(e *telemetry.Event) {
				flow := telemetry.EndpointsOf(&n.flow)
				e.Severity, e.Flow, e.Text = telemetry.Info, &flow, "new flows"
				if k.known {
					s.at(e, &station{node: k.node, has: telemetry.HasNode})
					e.Text = fmt.Sprintf("new flows come in at %s", s.name(k.node))
				}
			})
	}
}
