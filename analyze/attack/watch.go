package attack

import (
	"math/bits"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxWatches bounds the targets whose sources are counted at a time.
const MaxWatches = 16

// What a watch tells apart. A source takes 128 bytes.
const (
	maxDevices   = 4096
	maxAddresses = 512
	maxGateways  = 512
	maxPaths     = 512
	maxFilters   = 512
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
	filters                             sources // nodes that drop packets
	port                                uint16  // that of most packets, if one has more than half
	portVotes                           uint64  // for port, less those for others
	packets                             uint64  // all that was counted
	bytes                               uint64  // of all that was counted
}

func newWatch(t Target, bits int, classes [numClasses]bool, sinceNs int64) *Watch {
	return &Watch{
		target: t, bits: bits, classes: classes, sinceNs: sinceNs,
		devices: newSources(maxDevices), addresses: newSources(maxAddresses), gateways: newSources(maxGateways),
		paths: newSources(maxPaths), filters: newSources(maxFilters),
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

// Count counts the sources of a packet to the target. The ends are those of its flow.
func (w *Watch) Count(e *Ends, p *Packet) {
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
	bytes := n * uint64(p.Bytes)
	w.packets += n
	w.bytes += bytes
	switch {
	case p.Port == w.port:
		w.portVotes += n
	case w.portVotes <= n:
		w.port, w.portVotes = p.Port, n
	default:
		w.portVotes -= n
	}
	from := w.from(e, p, n, bytes)
	if p.HasNode {
		w.gateways.at(&from.near.gateway, uint64(p.Gateway), 0, p).count(p, n, bytes)
	}
	if p.HasPath && !p.Filtered {
		w.paths.at(&from.near.path, p.Path, 0, p).count(p, n, bytes)
	}
	if p.Filtered {
		w.filters.at(&from.filter, uint64(p.Filter), 0, p).count(p, n, bytes)
	}
}

// from counts the device and the address of a packet, and returns what tells more of them apart.
func (w *Watch) from(e *Ends, p *Packet, n, bytes uint64) *source {
	if !p.HasDevice {
		s := w.addresses.at(&e.from, p.Src.Hi, p.Src.Lo, p)
		s.count(p, n, bytes)
		s.toldBy(p)
		return s
	}
	s := w.devices.at(&e.from, p.Device, 0, p)
	s.count(p, n, bytes)
	s.toldBy(p)
	if !p.HasNode && s.hasNode { // dropped before it was on a path
		p.Gateway, p.HasNode = s.node, true
	}
	address := w.addresses.at(&s.near.address, p.Src.Hi, p.Src.Lo, p)
	address.count(p, n, bytes)
	address.toldBy(p)
	return s
}

// A source is where packets come from, in two cache lines.
type source struct {
	// What packets that pass need is in the first one.
	key, key2       uint64
	packets, bytes  uint64 // no packets: it is not used
	path            uint64
	lastNs          int64
	node            uint32
	exporter        uint32 // who told of it first
	hasNode, hasWay bool
	near            near

	several        bool   // other exporters tell of it as well
	filter         place  // as in near
	filtered       uint64 // of packets
	other          uint64 // packets that are no part of the attack
	packetsTooMany uint64 // at most, as other sources were in its place
	bytesTooMany   uint64
	firstNs        int64
	_              [2]uint64
}

// near is where the address, the gateway and the path of the latest packet of a source are counted: the next one mostly
// has the same.
type near struct{ address, gateway, path place }

// A place in sources, from 1; 0: none yet. What is there has to be compared: it may have given way to another source.
type place uint16

func (s *source) count(p *Packet, packets, bytes uint64) {
	s.packets += packets
	s.bytes += bytes
	s.lastNs = p.NowNs
	if p.Filtered {
		s.filtered += packets
	}
	if p.HasNode {
		s.node, s.hasNode = p.Gateway, true
	}
	if p.HasPath {
		s.path, s.hasWay = p.Path, true
	}
}

// toldBy notes who told of a packet.
func (s *source) toldBy(p *Packet) {
	if p.Several || s.exporter != p.Exporter {
		s.several = true
	}
}

// sources counts the sources with the most packets (space-saving, in sets of places: the source with the fewest packets
// of a set gives way, and its successor begins with its count, which is how much that may be too many).
type sources struct{ list []source }

func newSources(n int) sources { return sources{make([]source, n)} }

// set returns the index of the first place that a source may have.
func (t *sources) set(key, key2 uint64) int {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, key2^0xe7037ed1a0b428db)
	hi, lo = bits.Mul64(hi^lo^key2, 0xd6e8feb86659fd93^key)
	return int(hi^lo) & (len(t.list) - 1) &^ (ways - 1)
}

func (s *source) is(key, key2 uint64) bool { return s.key == key && s.key2 == key2 && s.packets > 0 }

// find returns a source, or nil.
func (t *sources) find(key, key2 uint64) *source {
	first := t.set(key, key2)
	for i := range t.list[first : first+ways] {
		if s := &t.list[first+i]; s.is(key, key2) {
			return s
		}
	}
	return nil
}

// at returns a source of a packet, which is new if it is not there. at is where it was before.
func (t *sources) at(at *place, key, key2 uint64, p *Packet) *source {
	if i := int(*at) - 1; uint(i) < uint(len(t.list)) {
		if s := &t.list[i]; s.is(key, key2) {
			return s
		}
	}
	return t.place(at, key, key2, p)
}

// place is at for a source that is not where it was.
func (t *sources) place(at *place, key, key2 uint64, p *Packet) *source {
	first := t.set(key, key2)
	set, least := t.list[first:first+ways], 0
	for i := range set {
		if set[i].is(key, key2) {
			*at = place(first + i + 1)
			return &set[i]
		}
		if set[i].packets < set[least].packets {
			least = i
		}
	}
	*at = place(first + least + 1)
	s := &set[least]
	*s = source{
		key: key, key2: key2, packets: s.packets, bytes: s.bytes, packetsTooMany: s.packets, bytesTooMany: s.bytes,
		firstNs: p.NowNs, exporter: p.Exporter,
	}
	return s
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
		s.lastNs = o.lastNs
		if o.hasNode {
			s.node, s.hasNode = o.node, true
		}
		if o.hasWay {
			s.path, s.hasWay = o.path, true
		}
	}
	s.firstNs = min(s.firstNs, o.firstNs)
}
