// Package sampled keeps what devices tell of flows by samples, and of what they count: sFlow, NetFlow and IPFIX. It
// is apart from what reports tell of each packet, so that an estimate is never added to a figure that is exact.
package sampled

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// maxPlaces is how many places of a flow are told apart: those of a network of three tiers.
const maxPlaces = 6

// A Place is where a device told of packets of a flow: a node, and whether it looked at what comes in or at what
// leaves.
type Place struct {
	topology.HopKey
	Rate           telemetry.SampleRate // the latest that is known
	Packets, Bytes uint64               // that there were by its counts and rates; as long as none is known, its counts
	told           uint64               // packets that it told of
	leaving        bool
	ttl            uint8 // with which packets come; 0: not told
	last           int64
}

// A Flow is what is known of a flow by samples.
type Flow struct {
	places []Place
	first  int64
	given  Estimate
}

// An Estimate is how many packets and bytes of a flow there were, by samples.
type Estimate struct {
	Packets, Bytes uint64
	Rate           telemetry.SampleRate // at which they were sampled; unknown: those that the device counted
}

// A Node is a device that told of samples.
type Node struct {
	First, Last int64
	Ports       map[uint32]bool
}

// A Table keeps flows and nodes, both bounded. Its zero value keeps nothing.
type Table struct {
	max      int
	flows    map[telemetry.FlowKey]*Flow
	Nodes    map[uint32]*Node
	ports    int
	Overflow uint64 // reports for which there was no place
}

const (
	maxNodes = 4096
	maxPorts = 65536 // of all nodes
)

// New returns a table for at most limit flows.
func New(limit int) Table {
	return Table{max: limit, flows: map[telemetry.FlowKey]*Flow{}, Nodes: map[uint32]*Node{}}
}

// Len returns how many flows are kept.
func (t *Table) Len() int { return len(t.flows) }

// Add takes a report with telemetry.Sampled.
func (t *Table) Add(r *telemetry.Report, nowNs int64) {
	t.seeNode(&r.Local, nowNs)
	f := t.flows[r.Flow]
	if f == nil {
		if len(t.flows) >= t.max {
			t.Overflow++
			return
		}
		f = &Flow{first: nowNs}
		t.flows[r.Flow] = f
	}
	f.first = min(f.first, nowNs-int64(r.Observed.BeganMs)*1e6)
	key := topology.HopKeyOf(&r.Local)
	at := slices.IndexFunc(f.places, func(p Place) bool {
		return p.Has&telemetry.HasNode == key.Has&telemetry.HasNode && p.Node == key.Node &&
			p.leaving == r.Observed.Leaving
	})
	if at < 0 {
		if len(f.places) == maxPlaces {
			t.Overflow++
			return
		}
		at = len(f.places)
		f.places = append(f.places, Place{leaving: r.Observed.Leaving})
	}
	p := &f.places[at]
	p.HopKey, p.last = key, max(p.last, nowNs-int64(r.Observed.EndedMs)*1e6)
	if r.Local.Has&telemetry.HasTTL != 0 {
		p.ttl = r.Local.TTL
	}
	if rate := telemetry.SampleRate(min(r.Observed.Rate, telemetry.MaxSampleRate)); rate != telemetry.SampleUnknown {
		if p.Rate == telemetry.SampleUnknown { // devices tell it now and then, and counts may come first
			p.Packets, p.Bytes = p.Packets*uint64(rate), p.Bytes*uint64(rate)
		}
		p.Rate = rate
	}
	p.told += r.Observed.Packets
	p.Packets += r.Observed.Packets * uint64(max(p.Rate, 1))
	p.Bytes += r.Observed.Bytes * uint64(max(p.Rate, 1))
}

// seeNode notes the node and the ports of a hop.
func (t *Table) seeNode(h *telemetry.Hop, nowNs int64) {
	if h.Has&telemetry.HasNode == 0 {
		return
	}
	n := t.Nodes[h.NodeID]
	if n == nil {
		if len(t.Nodes) >= maxNodes {
			return // the flow tells of it
		}
		n = &Node{First: nowNs, Ports: map[uint32]bool{}}
		t.Nodes[h.NodeID] = n
	}
	n.Last = nowNs
	for _, port := range []struct {
		has telemetry.Fields
		id  uint32
	}{{telemetry.HasIngressPort, h.IngressPort}, {telemetry.HasEgressPort, h.EgressPort}} {
		if h.Has&port.has != 0 && !n.Ports[port.id] && t.ports < maxPorts {
			n.Ports[port.id] = true
			t.ports++
		}
	}
}

// Forget forgets a flow.
func (t *Table) Forget(key *telemetry.FlowKey) { delete(t.flows, *key) }

// Of returns what is known of a flow; nil: nothing.
func (t *Table) Of(key *telemetry.FlowKey) *Flow { return t.flows[*key] }

// Best returns the place that told of most packets, since all of the others saw the same ones: adding them up would
// count a packet once at each node.
func (f *Flow) Best() *Place {
	best := &f.places[0]
	for i := range f.places {
		if f.places[i].told > best.told {
			best = &f.places[i]
		}
	}
	return best
}

// Estimate returns what Best tells. configured has the rates of nodes that do not tell theirs.
func (f *Flow) Estimate(configured map[uint32]telemetry.SampleRate) Estimate {
	best := f.Best()
	e := Estimate{best.Packets, best.Bytes, best.Rate}
	if known := configured[best.Node]; e.Rate == telemetry.SampleUnknown && best.Has&telemetry.HasNode != 0 &&
		known <= telemetry.MaxSampleRate {
		e = Estimate{e.Packets * uint64(max(known, 1)), e.Bytes * uint64(max(known, 1)), known}
	}
	return e
}

// Since returns by how much e, an estimate of f, is beyond the one that was given last. An estimate that fell, since
// another place tells of more packets, is given no more until it is beyond that again.
func (f *Flow) Since(e Estimate) Estimate {
	return Estimate{
		e.Packets - min(e.Packets, f.given.Packets), e.Bytes - min(e.Bytes, f.given.Bytes), e.Rate,
	}
}

// Give notes e as given.
func (f *Flow) Give(e Estimate) {
	f.given = Estimate{max(f.given.Packets, e.Packets), max(f.given.Bytes, e.Bytes), e.Rate}
}

// Route returns the nodes of f in the order of the TTLs with which packets come to them, with those that are known to
// be missing between them, and when the first and the latest sample came. Nodes without a TTL come last.
func (f *Flow) Route() (route []topology.HopKey, firstNs, lastNs int64) {
	var hops []telemetry.Hop
	places := slices.Clone(f.places)
	slices.SortStableFunc(places, func(a, b Place) int { return int(b.ttl) - int(a.ttl) })
	for i := range places {
		p := &places[i]
		lastNs = max(lastNs, p.last)
		if i > 0 && p.Node == places[i-1].Node && p.Has&telemetry.HasNode != 0 {
			continue // it looked at what comes in and at what leaves
		}
		h := telemetry.Hop{Has: p.Has, NodeID: p.Node, IngressPort: p.In, EgressPort: p.Out, TTL: p.ttl}
		if p.ttl != 0 {
			h.Has |= telemetry.HasTTL
		}
		hops = append(hops, h)
	}
	for i := range hops {
		if missing := topology.MissingBefore(hops, i); missing > 0 {
			route = append(route, topology.HopKey{Missing: missing})
		}
		route = append(route, topology.HopKeyOf(&hops[i]))
	}
	return route, f.first, lastNs
}
