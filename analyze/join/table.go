package join

import (
	"iter"
	"math"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A Table holds the packets that wait.
type Table struct {
	WindowNs int64
	NowNs    int64  // time without the stalls of the process, see Pass
	WholeNs  int64  // what arrived until then has all come here; the same or behind NowNs
	Early    uint64 // packets that gave way before their window was over

	waiting []Packet
	buckets []int32 // first packet of each, a place counted from 1
	unused  int32   // first place that is free again, counted from 1
	fresh   int32   // places from here on were never used
	settled []settledPacket

	// Packets that wait form a list in the order in which they came; its ends are places in waiting, counted from 1,
	// and 0 if none waits.
	oldest, newest int32
}

// A settledPacket is a packet that waits no more. It is remembered for another window, in the place that its hash says.
type settledPacket struct {
	tag   uint32
	at    settledAt
	spoke uint64 // a bit for each node and TTL that told of it
}

// A settledAt is when a packet was settled, Table.NowNs in ms without its highest bits, whether it was dropped, and a
// TTL: that of the drop, or the highest of those that are known.
type settledAt uint32

const (
	settledDropped = 1 << 8
	settledMs      = 9 // bits below
)

// since returns how many ms went by since then.
func (a settledAt) since(nowNs int64) uint32 {
	return (uint32(nowNs/1e6)<<settledMs - uint32(a)&^(1<<settledMs-1)) >> settledMs
}

// fits reports whether hop can be of a packet, see Packet.Spoke: it came no further than to where it was dropped.
func (a settledAt) fits(hop *telemetry.Hop) bool {
	if a&settledDropped != 0 {
		return hop.Has&telemetry.HasDrop == 0 && hop.TTL >= uint8(a)
	}
	return hop.Has&telemetry.HasDrop == 0 || hop.TTL <= uint8(a)
}

// New returns a table in which so many packets, a power of two, may wait for that long.
func New(places int, windowNs int64) Table {
	return Table{
		WindowNs: windowNs, waiting: make([]Packet, places), buckets: make([]int32, places),
		settled: make([]settledPacket, 2*places),
	}
}

const (
	// longestStepNs is how much of the time between two calls of Pass counts.
	longestStepNs = 150e6
	// longestBehindNs is how long packets wait for receivers that are behind.
	longestBehindNs = 5e9
)

// Pass lets time pass. A process that stands still for a while, or a wall clock that is set, must not end the wait for
// reports that are in a socket or a queue all the time.
func (t *Table) Pass(ns int64) { t.NowNs += min(max(ns, 0), longestStepNs) }

// Arrived says that what arrived has all come here, but for what came within the latest behindNs.
func (t *Table) Arrived(behindNs int64) {
	t.WholeNs = max(t.WholeNs, t.NowNs-min(max(behindNs, 0), longestBehindNs))
}

// End ends the window of all packets.
func (t *Table) End() {
	t.NowNs += t.WindowNs
	t.WholeNs = t.NowNs
}

// Hash is where a packet is to be found, by its identity and the hash of its flow.
func Hash(id uint64, flowTag uint32) uint64 {
	return topology.Mix(id^uint64(flowTag), 0x9e3779b97f4a7c15)
}

func (t *Table) bucket(hash uint64) uint32 { return uint32(hash & uint64(len(t.buckets)-1)) }

// First returns the place of the first packet with the bucket of a hash, 0 if there is none, and Read reads there: see
// Shard.reach.
func (t *Table) First(hash uint64) int32 { return t.buckets[t.bucket(hash)] }

// Read reads a place that First returned, which is not 0.
func (t *Table) Read(place int32) int64 { return int64(t.waiting[place-1].ID) }

// Find returns the packet that r belongs to and that waits for that, or nil.
func (t *Table) Find(r *telemetry.Report, hash uint64, kind Kind) *Packet {
	for i := t.First(hash); i > 0; i = t.waiting[i-1].chain {
		p := &t.waiting[i-1]
		if p.ID == r.PacketID && p.Kind == kind && p.Probe == r.Is(telemetry.Discard) && p.Key == r.Flow {
			return p
		}
	}
	return nil
}

// FindPostcards returns the packet that a postcard may be of: the newest one of which its node did not tell yet. If
// it told of all of them it returns the oldest, and nil if none can be. spoken says that the node told of it, first
// that no node in front of it has, and alike that one waits that looks the same, whether it can be. Each packet that
// shows by r that another one looks like it is Alike from then on.
func (t *Table) FindPostcards(r *telemetry.Report, hash uint64, hop *telemetry.Hop) (
	p *Packet, spoken, first, alike bool,
) {
	for i := t.First(hash); i > 0; i = t.waiting[i-1].chain {
		o := &t.waiting[i-1]
		if o.ID != r.PacketID || o.Kind != Postcards || o.Probe != r.Is(telemetry.Discard) || o.Key != r.Flow {
			continue
		}
		alike = true
		told, isFirst, fits := o.Spoke(hop)
		o.Alike = o.Alike || told || !fits
		if !fits {
			continue
		}
		p, spoken, first = o, told, isFirst
		if !told {
			break
		}
	}
	return p, spoken, first, alike
}

// Oldest returns the packet that has waited longest, or nil.
func (t *Table) Oldest() *Packet {
	if t.oldest == 0 {
		return nil
	}
	return &t.waiting[t.oldest-1]
}

// Over returns a packet whose window is over, or nil.
func (t *Table) Over() *Packet {
	if p := t.Oldest(); p != nil && t.WholeNs-p.FirstNs >= t.WindowNs {
		return p
	}
	return nil
}

// Full reports whether a packet has to give way before another one can wait.
func (t *Table) Full() bool { return t.unused == 0 && int(t.fresh) == len(t.waiting) }

// Use lets the packet of r, with that hash, wait, as the newest one. The table must not be full. exporter is who sent
// r.
func (t *Table) Use(r *telemetry.Report, hash uint64, kind Kind, exporter uint32) *Packet {
	p := t.link(hash)
	p.Head = Head{
		Key: r.Flow, ID: r.PacketID, Bytes: r.Bytes, Kind: kind, Probe: r.Is(telemetry.Discard),
		Copied: r.Is(telemetry.Copied), Opening: r.Is(telemetry.Opening), Exporter: exporter,
	}
	return p
}

// Restore lets a packet wait that waited in another table, of which these hops had come. The table must not be full.
func (t *Table) Restore(h *Head, flowTag uint32, hops []telemetry.Hop) {
	p := t.link(Hash(h.ID, flowTag))
	p.Head, p.n = *h, uint8(copy(p.hops[:], hops))
}

// All are the packets that wait, the oldest first.
func (t *Table) All() iter.Seq[*Packet] {
	return func(yield func(*Packet) bool) {
		for place := t.oldest; place > 0; place = t.waiting[place-1].newer {
			if !yield(&t.waiting[place-1]) {
				return
			}
		}
	}
}

// link puts a packet with that hash in a free place and at the end of the list.
func (t *Table) link(hash uint64) *Packet {
	place := t.unused - 1
	if place < 0 {
		place = t.fresh
		t.fresh++
	} else {
		t.unused = t.waiting[place].chain
	}
	p := &t.waiting[place]
	p.n, p.hash, p.bucket = 0, hash, t.bucket(hash)
	p.chain, t.buckets[p.bucket] = t.buckets[p.bucket], place+1
	p.FirstNs = t.NowNs
	p.older, p.newer = t.newest, 0
	if t.newest > 0 {
		t.waiting[t.newest-1].newer = place + 1
	} else {
		t.oldest = place + 1
	}
	t.newest = place + 1
	return p
}

// Free takes p out of the list and makes its place free. Its contents stay until the place is used again.
func (t *Table) Free(p *Packet) {
	link := &t.buckets[p.bucket]
	for &t.waiting[*link-1] != p {
		link = &t.waiting[*link-1].chain
	}
	place := *link
	*link = p.chain
	p.chain, t.unused = t.unused, place
	if p.older > 0 {
		t.waiting[p.older-1].newer = p.newer
	} else {
		t.oldest = p.newer
	}
	if p.newer > 0 {
		t.waiting[p.newer-1].older = p.older
	} else {
		t.newest = p.older
	}
}

// Settle frees p, and remembers who told of it.
func (t *Table) Settle(p *Packet) {
	t.Free(p)
	at := &t.settled[p.hash&uint64(len(t.settled)-1)]
	*at = settledPacket{tag: uint32(p.hash >> 32)}
	dropped, ttl := settledAt(0), uint8(0)
	if p.Kind != Postcards { // places, and not TTLs
		ttl = math.MaxUint8
	}
	for i := range p.hops[:p.n] {
		h := &p.hops[i]
		at.spoke |= spokenBit(h)
		switch {
		case p.Kind == Postcards && h.Has&telemetry.HasDrop != 0:
			dropped, ttl = settledDropped, h.TTL
		case dropped == 0:
			ttl = max(ttl, h.TTL)
		}
	}
	at.at = settledAt(t.NowNs/1e6)<<settledMs | dropped | settledAt(ttl)
}

// IsLate reports whether hop is of a packet that waits no more, and of which its node did not tell yet.
func (t *Table) IsLate(hash uint64, hop *telemetry.Hop) bool {
	at, bit := &t.settled[hash&uint64(len(t.settled)-1)], spokenBit(hop)
	if at.spoke == 0 || at.tag != uint32(hash>>32) || at.spoke&bit != 0 || !at.at.fits(hop) ||
		at.at.since(t.NowNs) > uint32(t.WindowNs/1e6) {
		return false
	}
	at.spoke |= bit
	return true
}

func spokenBit(hop *telemetry.Hop) uint64 {
	return 1 << ((NodeOf(hop)<<8 + uint32(hop.TTL)) * 0x9e3779b1 >> 26)
}
