package attack

import (
	"math/bits"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxWatches bounds the targets whose sources are counted at a time.
const MaxWatches = 16

// What a watch tells apart. A source takes 136 bytes.
const (
	maxDevices   = 4096
	maxAddresses = 512
	maxGateways  = 512
	maxPaths     = 512
	maxFilters   = 64
)

// A Packet is what is told of a packet to a target that is watched.
type Packet struct {
	Class              Class
	Bytes, Weight      uint32
	Filtered           bool // a filter dropped it, at node Filter
	Filter             uint32
	Device             uint64
	Gateway            uint32 // the first node on its way
	Path               uint64
	HasDevice, HasNode bool
	HasPath            bool
	Src                telemetry.Addr
	Port               uint16 // destination
	Exporter           uint32 // who reported it
	Several            bool   // and others
	FlowNs, NowNs      int64  // when its flow was first seen; now
}

// A Watch counts the sources of packets to a target, in one Counts.
type Watch struct {
	target  Target
	bits    int              // of a prefix, as of an IPv6 address: 128 is an address
	classes [numClasses]bool // those that the attack consists of
	sinceNs int64            // flows that are older are usual traffic, and no part of it; 0: all are

	devices, addresses, gateways, paths sources
	filters                             map[uint32]uint64 // packets by node
	port                                uint16            // that of most packets, if one has more than half
	portVotes                           uint64            // for port, less those for others
	packets                             uint64            // all that was counted
	bytes                               uint64            // of all that was counted
}

func newWatch(t Target, bits int, classes [numClasses]bool, sinceNs int64) *Watch {
	return &Watch{
		target: t, bits: bits, classes: classes, sinceNs: sinceNs,
		devices: newSources(maxDevices), addresses: newSources(maxAddresses), gateways: newSources(maxGateways),
		paths: newSources(maxPaths), filters: make(map[uint32]uint64, maxFilters),
	}
}

func (w *Watch) holds(t Target) bool {
	return t.Tenant == w.target.Tenant && masked(t.Addr, w.bits) == w.target.Addr
}

// masked returns the first address of the prefix of so many bits that an address is in.
func masked(a telemetry.Addr, n int) telemetry.Addr {
	if n >= 128 {
		return a
	}
	if n <= 64 {
		return telemetry.Addr{Hi: a.Hi &^ (1<<(64-n) - 1)}
	}
	return telemetry.Addr{Hi: a.Hi, Lo: a.Lo &^ (1<<(128-n) - 1)}
}

// Count counts the sources of a packet to the target.
func (w *Watch) Count(p *Packet) {
	if !w.classes[p.Class] {
		if p.HasDevice { // who opens connections uses them
			if s := w.devices.find(p.Device, 0); s != nil {
				s.other += uint64(max(p.Weight, 1))
			}
		}
		return
	}
	if p.FlowNs < w.sinceNs {
		return
	}
	n := uint64(max(p.Weight, 1))
	w.bytes += n * uint64(p.Bytes)
	w.packets += n
	switch {
	case p.Port == w.port:
		w.portVotes += n
	case w.portVotes <= n:
		w.port, w.portVotes = p.Port, n
	default:
		w.portVotes -= n
	}
	if p.HasDevice {
		s := w.devices.at(p.Device, 0)
		s.count(p, n)
		if !p.HasNode && s.hasNode { // dropped before it was on a path
			p.Gateway, p.HasNode = s.node, true
		}
	}
	w.addresses.at(p.Src.Hi, p.Src.Lo).count(p, n)
	if p.HasNode {
		w.gateways.at(uint64(p.Gateway), 0).count(p, n)
	}
	if p.HasPath && !p.Filtered {
		w.paths.at(p.Path, 0).count(p, n)
	}
	if p.Filtered {
		if _, known := w.filters[p.Filter]; known || len(w.filters) < maxFilters {
			w.filters[p.Filter] += n
		}
	}
}

// A source is where packets come from.
type source struct {
	key, key2       uint64
	packets, bytes  uint64
	filtered        uint64 // of packets
	other           uint64 // packets that are no part of the attack
	packetsTooMany  uint64 // at most, as other sources were in its place
	bytesTooMany    uint64
	path            uint64
	node            uint32
	exporter        uint32
	port            uint16
	used            bool
	hasNode, hasWay bool
	several         bool // exporters tell of it
	firstNs, lastNs int64
}

func (s *source) count(p *Packet, n uint64) {
	s.packets += n
	s.bytes += n * uint64(p.Bytes)
	if p.Filtered {
		s.filtered += n
	}
	if s.firstNs == 0 {
		s.firstNs, s.exporter = p.NowNs, p.Exporter
	}
	s.several = s.several || p.Several || s.exporter != p.Exporter
	s.lastNs, s.port = p.NowNs, p.Port
	if p.HasNode {
		s.node, s.hasNode = p.Gateway, true
	}
	if p.HasPath {
		s.path, s.hasWay = p.Path, true
	}
}

// sources counts the sources with the most packets (space-saving, in sets of places: the source with the fewest packets
// of a set gives way, and its successor begins with its count, which is how much that may be too many).
type sources struct{ list []source }

func newSources(n int) sources { return sources{make([]source, n)} }

// set returns the places of a source.
func (t *sources) set(key, key2 uint64) []source {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, key2^0xe7037ed1a0b428db)
	hi, lo = bits.Mul64(hi^lo^key2, 0xd6e8feb86659fd93^key)
	first := int(hi^lo) & (len(t.list) - 1) &^ (ways - 1)
	return t.list[first : first+ways]
}

// find returns a source, or nil.
func (t *sources) find(key, key2 uint64) *source {
	set := t.set(key, key2)
	for i := range set {
		if s := &set[i]; s.used && s.key == key && s.key2 == key2 {
			return s
		}
	}
	return nil
}

// at returns a source, which is new if it is not there.
func (t *sources) at(key, key2 uint64) *source {
	set := t.set(key, key2)
	least := &set[0]
	for i := range set {
		s := &set[i]
		switch {
		case s.used && s.key == key && s.key2 == key2:
			return s
		case !s.used && least.used, s.used == least.used && s.packets < least.packets:
			least = s
		}
	}
	*least = source{
		key: key, key2: key2, used: true, packets: least.packets, bytes: least.bytes,
		packetsTooMany: least.packets, bytesTooMany: least.bytes,
	}
	return least
}

// merge adds what another counted.
func (s *source) merge(o *source) {
	s.packets += o.packets
	s.bytes += o.bytes
	s.filtered += o.filtered
	s.other += o.other
	s.packetsTooMany += o.packetsTooMany
	s.bytesTooMany += o.bytesTooMany
	s.several = s.several || o.several || s.exporter != o.exporter
	if o.lastNs > s.lastNs {
		s.lastNs, s.port = o.lastNs, o.port
		if o.hasNode {
			s.node, s.hasNode = o.node, true
		}
		if o.hasWay {
			s.path, s.hasWay = o.path, true
		}
	}
	s.firstNs = min(s.firstNs, o.firstNs)
}
