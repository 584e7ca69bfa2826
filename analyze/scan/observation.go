package scan

import (
	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/checksum"
	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// An Owner owns flows, and counts what is reported of them. All that a Scanner asks of it are values: who answers may
// be busy with reports meanwhile.
type Owner interface {
	attack.Shard
	// Observe returns what was counted since the last scan, and counts anew. hops are those of all paths of all owners
	// that carried something between the two scans before.
	Observe(nowNs int64, hops int) *Observation
	// TakeSamples exchanges what packets met at queues for an empty list. No burst ends above a queue of most, in each
	// unit that hops tell, so that packets that met shorter ones may be left out. Samples of all reports that arrived
	// up to lastNs are there, but for those that overflowed.
	TakeSamples(empty []burst.Sample, most [4]uint32) (list []burst.Sample, overflow uint64, lastNs int64)
	// TakeTransits exchanges the packets that were looked at closely for an empty list.
	TakeTransits(empty timing.Packets) timing.Packets
	// NameFlows fills in the keys of those flows of samples that are its own and have not given way to others.
	NameFlows(flows []burst.FlowRef, keys []telemetry.FlowKey, known []bool)
	// SampleAt says how many packets nodes choose by the configuration, for paths that flows take from now on.
	SampleAt(rates map[uint32]telemetry.SampleRate)
	// EndedOn tells of the flows whose latest packet came since a moment and took one of the paths, by hash.
	EndedOn(paths map[uint64]bool, sinceNs int64) Ended
	// Reached reports whether packets of some flow arrive at one of the destinations.
	Reached(to map[telemetry.Addr]bool) bool
	// StreamsFrom returns at most so many TCP streams that come in at a node and whose latest packet came since a
	// moment, each with the sequence number that is next.
	StreamsFrom(node uint32, sinceNs int64, most int) map[telemetry.FlowKey]uint32
	// Ceased counts those of the flows that leave the network at a node and of which nothing came since a moment, and
	// returns how many reports of them came in a nanosecond before.
	Ceased(flows []telemetry.FlowKey, node uint32, sinceNs int64) (ceased int, rate float64)
}

// An Observation is what an owner of flows counted since the last scan.
type Observation struct {
	Paths     []Path // that carried packets
	Left      []Left
	Drops     []drop.Packets
	Changes   map[ChangeKey]*Change
	NewFlows  map[NewFlowKey]*NewFlows
	Findings  []Finding
	Checksums checksum.Sums
	WaitedNs  int64  // how long postcards wait for each other
	Crowded   bool   // there was no room for all of these
	LeftOut   uint64 // flows and holes in streams for which there was no room
}

// A Path is what a path carried since the last scan.
type Path struct {
	Hash            uint64
	N               uint64 // packets
	Incomplete      uint64 // of these, those of which some postcards are missing
	FirstNs, LastNs int64  // of all packets that it ever carried
	Uncertain       bool   // the order of its hops is not known
	Postcards       bool   // tell of its packets
	Flows           uint32 // those with packets on it
	Through         uint32 // if it ends with a drop: flows of which a packet arrived after one that was dropped there
	Streams         loss.Count
	Numbers         loss.Count                                   // the same of packets that the source numbered
	Hit             struct{ Streams, Numbers *telemetry.Extent } // whom these packets were lost of
	Hops            []Hop
	Part            []loss.Part // of each hop, if postcards of packets were ever missing; else empty
}

// A Hop is what a hop of a path told since the last scan.
type Hop struct {
	topology.HopKey
	Parts uint64 // packets of which this hop told, and others did not
	Full  uint32 // packets lost from streams while this hop's queue was long
}

// last is the hop at which the path ends.
func (p *Path) last() *Hop { return &p.Hops[len(p.Hops)-1] }

// dropped reports whether the path ends where packets were dropped.
func (p *Path) dropped() bool { return p.last().Has&telemetry.HasDrop != 0 }

// Left is flows that left a path for another one since the last scan.
type Left struct {
	Links []topology.LinkKey
	To    []topology.LinkKey // of the path that the latest of them took
	Flows uint32
}

// A Finding is what was seen of one, with the name of the rule and the elements of the path that it is about.
type Finding struct {
	finding.Finding
	RuleName string
	Route    []topology.HopKey
}

// A ChangeKey is a way out of a node that packets took before, and the one that they take now.
type ChangeKey struct {
	Node, Port, ToNode uint32 // the node where the paths part, its old egress port, and the node behind that
	NewPort            uint32
}

// A Change counts the flows that changed their path in the same way.
type Change struct {
	Flows       uint64 // of which the scans before, as far as they belong to the same event, did not tell
	Recent      uint64 // flows that did so since the last scan
	First, Last int64
	Flow        telemetry.FlowKey // one of them
	Path        uint64            // the new path
	Hit         telemetry.Extent  // the flows
}

// merge adds what another owner counted.
func (c *Change) merge(o *Change) {
	if o.Last > c.Last {
		c.Flow, c.Path = o.Flow, o.Path
	}
	c.Flows += o.Flows
	c.Recent += o.Recent
	c.Hit.Merge(&o.Hit)
	c.First, c.Last = min(c.First, o.First), max(c.Last, o.Last)
}

// A NewFlowKey is the node at which flows come into the network, as far as it is known.
type NewFlowKey struct {
	Node  uint32
	Known bool
}

// A NewFlows counts the flows that were seen for the first time at a node.
type NewFlows struct {
	Flows       uint64
	First, Last int64
	Flow        telemetry.FlowKey // the first of them
}

// merge adds what another owner counted.
func (n *NewFlows) merge(o *NewFlows) {
	if o.First < n.First || o.First == n.First && o.Flow.Compare(&n.Flow) < 0 {
		n.Flow = o.Flow
	}
	n.Flows += o.Flows
	n.First, n.Last = min(n.First, o.First), max(n.Last, o.Last)
}

// maxNewFlowNodes bounds the nodes at which new flows are counted between two scans.
const maxNewFlowNodes = 1024

// NewFlowCounts counts new flows by the node at which they come in, until a Scanner takes them.
type NewFlowCounts struct {
	nodes    map[NewFlowKey]*NewFlows
	overflow uint64 // flows at nodes for which there was no room
}

// Note counts a flow that was seen at an element for the first time, at firstNs.
func (t *NewFlowCounts) Note(at *topology.HopKey, flow *telemetry.FlowKey, firstNs int64) {
	k := NewFlowKey{Node: at.Node, Known: at.Has&telemetry.HasNode != 0}
	n := t.nodes[k]
	if n == nil {
		if len(t.nodes) >= maxNewFlowNodes {
			t.overflow++
			return
		}
		if t.nodes == nil {
			t.nodes = map[NewFlowKey]*NewFlows{}
		}
		n = &NewFlows{First: firstNs, Last: firstNs, Flow: *flow}
		t.nodes[k] = n
	}
	n.merge(&NewFlows{Flows: 1, First: firstNs, Last: firstNs, Flow: *flow})
}

// Take returns what was counted, and for how many flows there was no room, and begins anew.
func (t *NewFlowCounts) Take() (nodes map[NewFlowKey]*NewFlows, overflow uint64) {
	nodes, overflow = t.nodes, t.overflow
	*t = NewFlowCounts{}
	return nodes, overflow
}

// Ended is what flows tell of paths that they took last.
type Ended struct {
	Flows   int
	To      map[telemetry.Addr]bool // their destinations, at most MaxDestinations
	Path    uint64                  // the lowest hash
	Arrived bool                    // packets of some of them arrived once
}

// MaxDestinations bounds the destinations of flows that ended.
const MaxDestinations = 4096

// add adds what another owner tells.
func (e *Ended) add(o *Ended) {
	if o.Flows == 0 {
		return
	}
	if e.Flows == 0 || o.Path < e.Path {
		e.Path = o.Path
	}
	if e.To == nil {
		e.To = map[telemetry.Addr]bool{}
	}
	for to := range o.To {
		if len(e.To) < MaxDestinations {
			e.To[to] = true
		}
	}
	e.Flows += o.Flows
	e.Arrived = e.Arrived || o.Arrived
}
