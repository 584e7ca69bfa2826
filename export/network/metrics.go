package network

import (
	"sync"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// DefaultLimit is how many nodes, ports, queues, links and drop reasons of ports have series, of each.
const DefaultLimit = 4096

// Sources has what metrics tell of now, and what things are called.
type Sources struct {
	Names     func() map[uint32]string
	Inventory func() *telemetry.Inventory
	Links     func() []telemetry.Link
	// Units are what nodes tell the use of their ports in.
	Units     func() map[uint32]telemetry.UtilizationUnit
	Queues    func() []telemetry.QueueHistogram
	Incidents func() []telemetry.Incident
	Attacks   func() []telemetry.Attack
}

// Metrics add up what intervals tell. They may be used by many goroutines.
type Metrics struct {
	from  Sources
	limit int

	mu       sync.Mutex
	nodes    map[uint32]*counted
	ports    map[portKey]*counted
	links    map[linkKey]*counted
	drops    map[dropKey]*uint64
	unlisted map[string]uint64
	lookedNs int64
}

// counted are packets and what they took.
type counted struct {
	packets uint64
	took    distribution
}

// A portKey is a port of a node, by which packets leave or come in.
type portKey struct {
	node, port uint32
	in         bool
}

// A linkKey is the two ends of a link. A port of which no node tells is -1.
type linkKey struct {
	from, to         uint32
	fromPort, toPort int64
}

// A dropKey is a reason at an egress port, -1 if it is not known. Reasons are told apart by their names only, as
// different tables may have the same.
type dropKey struct {
	node          uint32
	hasNode       bool
	port          int64
	reason, cause string
}

// New returns Metrics of at most so many nodes, ports, queues, links, and reasons of drops, of each.
func New(from Sources, limit int) *Metrics {
	return &Metrics{
		from: from, limit: limit, nodes: map[uint32]*counted{}, ports: map[portKey]*counted{},
		links: map[linkKey]*counted{}, drops: map[dropKey]*uint64{},
		unlisted: map[string]uint64{"node": 0, "port": 0, "link": 0, "drop": 0},
	}
}

// Take adds the records of intervals, and keeps nothing of v.
func (m *Metrics) Take(v *telemetry.Intervals) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range v.Hops {
		m.takeHop(&v.Hops[i])
	}
	for i := range v.Links {
		l := &v.Links[i]
		key := linkKey{l.From.Node, l.To.Node, -1, -1}
		if l.From.Has&telemetry.HasEgressPort != 0 {
			key.fromPort = int64(l.From.EgressPort)
		}
		if l.To.Has&telemetry.HasIngressPort != 0 {
			key.toPort = int64(l.To.IngressPort)
		}
		if c := at(m, m.links, key, "link", l.Packets); c != nil {
			c.packets += l.Packets
			c.took.addNs(&l.Delay)
		}
	}
	for i := range v.Drops {
		d := &v.Drops[i]
		key := dropKey{node: d.Node, hasNode: d.Has&telemetry.HasNode != 0, port: -1}
		key.reason, key.cause = d.Reasons.Name(d.Reason), dropreason.Of(d.Reasons, d.Reason).ID
		if d.Has&telemetry.HasEgressPort != 0 {
			key.port = int64(d.EgressPort)
		}
		if n := at(m, m.drops, key, "drop", d.Packets); n != nil {
			*n += d.Packets
		}
	}
}

func (m *Metrics) takeHop(h *telemetry.HopInterval) {
	m.lookedNs = max(m.lookedNs, h.StartNs)
	if h.Has&telemetry.HasNode == 0 {
		return
	}
	if c := at(m, m.nodes, h.Node, "node", h.Packets); c != nil {
		c.packets += h.Packets
		c.took.addNs(&h.Latency)
	}
	if h.Has&telemetry.HasIngressPort != 0 {
		if c := at(m, m.ports, portKey{h.Node, h.IngressPort, true}, "port", h.Packets); c != nil {
			c.packets += h.Packets
		}
	}
	if h.Has&telemetry.HasEgressPort != 0 && h.Has&telemetry.HasDrop == 0 {
		if c := at(m, m.ports, portKey{h.Node, h.EgressPort, false}, "port", h.Packets); c != nil {
			c.packets += h.Packets
			c.took.addNs(&h.Latency)
		}
	}
}

// at returns what is counted under a key; nil if there is no room for one more, which counts so many packets as
// unlisted.
func at[K comparable, V any](m *Metrics, counts map[K]*V, key K, of string, packets uint64) *V {
	c := counts[key]
	switch {
	case c != nil:
	case len(counts) >= m.limit:
		m.unlisted[of] += packets
	default:
		c = new(V)
		counts[key] = c
	}
	return c
}
