package join

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxHops is how many hops of one packet are kept.
const MaxHops = 16

// A Kind is what a packet waits for.
type Kind uint8

const (
	Postcards Kind = iota // of other nodes
	Stack                 // its hops are those of an intermediate report, source first: the stack
	FollowUps             // follow-up packets
)

// A Head is what is known of a packet, but for its hops.
type Head struct {
	Key      telemetry.FlowKey
	ID       uint64
	Bytes    uint32
	Kind     Kind
	Whole    bool   // a stack: its packet was reported, and not follow-ups alone
	Routers  uint8  // on the way of a stack; 0: nobody knows
	Probe    bool   // a copy, or a packet that is not delivered
	Copied   bool   // a copy
	Opening  bool   // it asks for a connection
	Counted  bool   // for attacks, as so many packets as Weight says
	Several  bool   // exporters told of it
	Alike    bool   // another one waited that looks the same: its postcards may be of both
	Exporter uint32 // of who told of it first
	Weight   uint32
}

// A Packet waits for the reports of other nodes. It belongs to its Table.
type Packet struct {
	Head
	FirstNs      int64 // Table.NowNs at its first report
	newer, older int32 // packets that came next and before, see Table
	chain        int32 // next packet with that bucket, or next free place, counted from 1
	bucket       uint32
	n            uint8
	hash         uint64
	hops         [MaxHops]telemetry.Hop
}

// Hops returns what came of p, valid as long as its place is not used again.
func (p *Packet) Hops() []telemetry.Hop { return p.hops[:p.n] }

// Add adds a hop, as long as there is room.
func (p *Packet) Add(h *telemetry.Hop) {
	if p.n < MaxHops {
		p.hops[p.n] = *h
		p.n++
	}
}

// AddPostcard adds the hop of a postcard. Where there is no room any more, a drop is the end of a loop.
func (p *Packet) AddPostcard(h *telemetry.Hop) {
	if p.n == MaxHops && h.Has&telemetry.HasDrop != 0 {
		p.n--
	}
	p.Add(h)
}

// AddStack adds the hops of an intermediate report, and local, if it is not nil, the node that sent it.
func (p *Packet) AddStack(stack []telemetry.Hop, local *telemetry.Hop) {
	p.n = uint8(len(WithoutNewest(p.Hops(), stack)))
	p.n += uint8(copy(p.hops[p.n:], stack))
	if local != nil {
		p.Add(local)
	}
}

// AddRecord adds a hop of a stack or of a follow-up to it. Its TTL, which those of stacks do not have, is its place:
// odd in the stack of the packet, even between two of them.
func (p *Packet) AddRecord(h *telemetry.Hop, place int) {
	if p.n < MaxHops {
		p.Add(h)
		p.hops[p.n-1].TTL = uint8(place)
	}
}

// Remove takes out a hop.
func (p *Packet) Remove(place int) {
	p.n--
	p.hops[place] = p.hops[p.n]
}

// Spoke reports whether a node has told of p with that TTL, and whether no node in front of it has. It fits if it can
// be of p at all: what was dropped has not come further, so that a drop in front of everything that is known of p, or a
// hop behind nothing but its drop, is of another packet that looks the same.
func (p *Packet) Spoke(hop *telemetry.Hop) (spoken, first, fits bool) {
	first = true
	further, dropped := true, true // all that is known of p is behind hop; is its drop, in front of hop
	for i := range p.hops[:p.n] {
		o := &p.hops[i]
		spoken = spoken || o.TTL == hop.TTL && NodeOf(o) == NodeOf(hop)
		first = first && o.TTL <= hop.TTL
		further = further && o.TTL < hop.TTL
		dropped = dropped && o.TTL > hop.TTL && o.Has&telemetry.HasDrop != 0
	}
	if hop.Has&telemetry.HasDrop != 0 {
		return spoken, first, p.n == 0 || !further
	}
	return spoken, first, p.n == 0 || !dropped
}

// NodeOf returns the node of a hop, 0 if it is not known.
func NodeOf(hop *telemetry.Hop) uint32 {
	if hop.Has&telemetry.HasNode == 0 {
		return 0
	}
	return hop.NodeID
}

// WithoutNewest returns the hops that were taken out of a packet on the way, without the node that did it if the stack
// behind them begins with its record: it goes into its report or into the packet (INT 2.1 §5.3).
func WithoutNewest(older, stack []telemetry.Hop) []telemetry.Hop {
	n := len(older)
	if n == 0 || len(stack) == 0 || stack[0].Has&telemetry.HasNode == 0 || older[n-1].NodeID != stack[0].NodeID {
		return older
	}
	return older[:n-1]
}

// OrderByTTL sorts postcards, source first: the TTL sinks along the path. A drop ends it, whatever the TTL: a packet
// dropped on ingress is reported with the TTL that it arrived with. It reports whether equal TTLs leave the order open,
// or the drop is of another packet, which had come less far.
func OrderByTTL(hops []telemetry.Hop) (uncertain bool) {
	slices.SortStableFunc(hops, func(a, b telemetry.Hop) int {
		if dropA, dropB := a.Has&telemetry.HasDrop, b.Has&telemetry.HasDrop; dropA != dropB {
			if dropA != 0 {
				return 1
			}
			return -1
		}
		return int(b.TTL) - int(a.TTL)
	})
	for i := 1; i < len(hops); i++ {
		ttl, before := hops[i].TTL, hops[i-1].TTL
		uncertain = uncertain || ttl > before || ttl == before && hops[i].Has&telemetry.HasDrop == 0
	}
	return uncertain
}

// OrderByPlace sorts records by the place that AddRecord was called with. It reports whether equal places leave the
// order open: of two nodes with a slow path, nothing says which comes first.
func OrderByPlace(hops []telemetry.Hop) (uncertain bool) {
	slices.SortStableFunc(hops, func(a, b telemetry.Hop) int { return int(a.TTL) - int(b.TTL) })
	for i := 1; i < len(hops); i++ {
		uncertain = uncertain || hops[i].TTL == hops[i-1].TTL
	}
	return uncertain
}
