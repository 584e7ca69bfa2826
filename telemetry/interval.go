package telemetry

import "strconv"

// The types in this file and in interval_*.go are what was counted in one interval of time: the differences of the
// tables between two looks. They add up: the sum over intervals is the total. Times are nanoseconds since 1970 by the
// clock of the collector, durations nanoseconds.

// Lengths of intervals, in nanoseconds.
const (
	// HopIntervalNs is the length of the intervals of hops and queues.
	HopIntervalNs = int64(1e9)
	// FlowIntervalNs is that of all others.
	FlowIntervalNs = 10 * HopIntervalNs
)

// Intervals holds records of all kinds. Who takes it owns it with all that it points to.
type Intervals struct {
	Flows     []FlowInterval
	Paths     []PathInterval
	Hops      []HopInterval
	Queues    []QueueInterval
	Links     []LinkInterval
	Drops     []DropInterval
	Exporters []ExporterInterval
	Events    []Event // new ones, and those that changed since they were given last
	Routes    []Route // of paths that were not given before
	Hosts     []HostInterval
	Bursts    []Burst // that are over; without the flows
	// BurstFlows are the flows of Bursts.
	BurstFlows []BurstFlow

	// Settled is called once what becomes of the records is known: written says that they are on disk, else they were
	// dropped. It may be called by any goroutine, and does not wait. Nil: nobody asks.
	Settled func(written bool)
}

// Settle says what became of the records.
func (v *Intervals) Settle(written bool) {
	if v.Settled != nil {
		v.Settled(written)
	}
}

// Len returns the number of records.
func (v *Intervals) Len() int {
	return len(v.Flows) + len(v.Paths) + len(v.Hops) + len(v.Queues) + len(v.Links) + len(v.Drops) + len(v.Exporters) +
		len(v.Events) + len(v.Routes) +
		len(v.Hosts) + len(v.Bursts) + len(v.BurstFlows)
}

// A Place is a node and its ports, as far as Has says that they are known: HasNode, HasIngressPort, HasEgressPort,
// HasDrop.
type Place struct {
	Has                           Fields
	Node, IngressPort, EgressPort uint32
}

// String returns "3[1,2]": node, ingress and egress port, with "?" for what is not known, and "!" behind it if it is
// where packets were dropped.
func (p *Place) String() string {
	text := func(has Fields, v uint32) string {
		if p.Has&has == 0 {
			return "?"
		}
		return strconv.FormatUint(uint64(v), 10)
	}
	drop := ""
	if p.Has&HasDrop != 0 {
		drop = "!"
	}
	return text(HasNode, p.Node) + "[" + text(HasIngressPort, p.IngressPort) + "," + text(HasEgressPort, p.EgressPort) +
		"]" + drop
}
