package timing

import (
	"iter"

	"github.com/waybill-int/waybill/telemetry"
)

// Delays between nodes need the clocks of all nodes, and what is usual at a hop needs the packets of all shards. So a
// shard sets aside what some packets met on their way, and a Scanner puts those of all shards together: all packets of
// a path that has few, one of many of a path that has many.

const (
	// maxTransitHops bounds the hops that wait for a scan, 72 bytes each.
	maxTransitHops = 1 << 13
	// transitHops is how many hops all paths together are meant to set aside in a second.
	transitHops = 40_000
	// maxTransits is how many packets of a path are set aside in a second, if there are more.
	maxTransits = 1024
)

// A Packet is a packet that was looked at.
type Packet struct {
	Path     uint64 // hash
	AtNs     int64  // arrival of its report, since 1970
	from, to int32  // its hops in the list, source first
	bytes    uint32 // IP length, 0: unknown
	others   uint32 // packets of its path that were not looked at for this one
	waitedNs int64  // how long AtNs is after its first postcard came
}

// Packets holds packets since the last look.
type Packets struct {
	packets  []Packet
	hops     []telemetry.Hop
	overflow uint64 // packets for which there was no room
}

// Add keeps a copy of what a packet met, the first postcard of which came waitedNs ago.
func (l *Packets) Add(hash, skip uint64, hops []telemetry.Hop, bytes uint32, nowNs, waitedNs int64) {
	if len(l.hops)+len(hops) > maxTransitHops {
		l.overflow++
		return
	}
	from := int32(len(l.hops))
	l.hops = append(l.hops, hops...)
	l.packets = append(l.packets, Packet{
		Path: hash, AtNs: nowNs, from: from, to: int32(len(l.hops)), bytes: bytes, others: uint32(skip),
		waitedNs: waitedNs,
	})
}

// All are the packets with their hops.
func (l *Packets) All() iter.Seq2[*Packet, []telemetry.Hop] {
	return func(yield func(*Packet, []telemetry.Hop) bool) {
		for i := range l.packets {
			if t := &l.packets[i]; !yield(t, l.hops[t.from:t.to]) {
				return
			}
		}
	}
}

// Exchange returns what was set aside, and makes room for more in the memory of empty, whose overflow goes on.
func (l *Packets) Exchange(empty Packets) Packets {
	full := *l
	*l = Packets{packets: empty.packets[:0], hops: empty.hops[:0]}
	full.overflow += empty.overflow
	return full
}

// Emptied returns l without its packets, whose overflow goes on.
func (l Packets) Emptied() Packets { return Packets{overflow: l.overflow} }

// Skip returns which packets of a path to leave out that had n packets since the last scan, if all paths together had
// so many hops on their ways: the skip of a path.
func Skip(n uint64, hops int) uint64 {
	wanted := uint64(min(max(transitHops/max(hops, 1), 1), maxTransits))
	skip := uint64(0)
	for n > wanted*(skip+1) {
		skip = 2*skip + 1
	}
	return skip
}
