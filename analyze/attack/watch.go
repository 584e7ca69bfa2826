package attack

import (
	"math/bits"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxWatches bounds the targets whose sources are counted at a time.
const MaxWatches = 16

// What a watch tells apart. A source takes 132 bytes, and one that has a batch 128 more.
const (
	maxDevices   = 4096
	maxAddresses = 512
	maxGateways  = 512
	maxPaths     = 512
	maxFilters   = 512
	maxLast      = 4
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
	Last               uint32 // and the last one, which tells of it
	HasDevice, HasNode bool
	HasPath, HasLast   bool
	Src                telemetry.Addr
	Port               uint16 // destination
	Exporter           uint32 // who reported it
	Several            bool   // and others
	FlowNs, NowNs      int64  // when its flow was first seen; now
}

// A WatchOf says whose sources a Watch counts.
type WatchOf struct {
	Number  uint32 // of the watch, another one for each
	Target  Target
	Bits    int     // of a prefix, as of an IPv6 address: 128 is an address
	Classes Classes // those that the attack consists of
	SinceNs int64   // flows that are older are usual traffic, and no part of it; 0: all are
}

// A Watch counts the sources of packets to a target, in one Counts.
type Watch struct {
	WatchOf

	devices, addresses, gateways, paths sources
	filters                             sources         // nodes that drop packets
	port                                uint16          // that of most packets, if one has more than half
	portVotes                           uint64          // for port, less those for others
	packets                             uint64          // all that was counted
	bytes                               uint64          // of all that was counted
	last                                [maxLast]uint32 // nodes where it leaves the network, the first of them
	lasts                               int
}

func newWatch(of WatchOf) *Watch {
	return &Watch{
		WatchOf: of,
		devices: newSources(maxDevices, true), addresses: newSources(maxAddresses, true),
		gateways: newSources(maxGateways, false), paths: newSources(maxPaths, false),
		filters: newSources(maxFilters, false),
	}
}

func (w *Watch) holds(t Target) bool {
	return t.Tenant == w.Target.Tenant && masked(t.Addr, w.Bits) == w.Target.Addr
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
	if !w.Classes[p.Class] {
		if p.HasDevice { // who opens connections uses them
			if s := w.devices.find(p.Device, 0); s != nil {
				s.other += uint64(max(p.Weight, 1))
			}
		}
		return
	}
	if p.FlowNs < w.SinceNs {
		return
	}
	if p.HasLast && w.lasts < maxLast && !slices.Contains(w.last[:w.lasts], p.Last) {
		w.last[w.lasts] = p.Last
		w.lasts++
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
	if p.HasDevice {
		i, _ := w.at(&w.devices, &e.from, p.Device, 0, p.Exporter, p.NowNs)
		w.countAt(&w.devices, i, p, n, bytes)
	} else {
		i, _ := w.at(&w.addresses, &e.from, p.Src.Hi, p.Src.Lo, p.Exporter, p.NowNs)
		w.countAt(&w.addresses, i, p, n, bytes)
	}
}

// countAt counts a packet at the device or the address that it comes from, which is at place i.
func (w *Watch) countAt(t *sources, i int, p *Packet, n, bytes uint64) {
	s, b := &t.list[i], &t.batches[i]
	if !p.HasNode && p.HasDevice && s.hasNode { // dropped before it was on a path
		p.Gateway, p.HasNode = s.node, true
	}
	if !b.holds(s, p) {
		w.settle(t, i)
		b.misses = 0
		if p.HasNode {
			s.node, s.hasNode = p.Gateway, true
		}
		if p.HasPath {
			s.path, s.hasWay = p.Path, true
		}
		b.src, b.exporter, b.several, b.filter, b.filtered = p.Src, p.Exporter, p.Several, p.Filter, p.Filtered
		b.hasNode, b.hasPath, b.firstNs, b.srcNs = p.HasNode, p.HasPath, p.NowNs, p.NowNs
	} else if b.src != p.Src {
		if b.misses == 0 {
			w.settleAddress(s, b)
		} else {
			b.skipAddress()
		}
		if b.src = p.Src; b.misses == 0 {
			b.srcNs = p.NowNs
		}
	}
	b.packets += n
	b.bytes += bytes
	s.packets += n
	s.bytes += bytes
	s.lastNs = p.NowNs
}

// settle counts a batch at all that it has to be counted at besides the packets and bytes of its source.
func (w *Watch) settle(t *sources, i int) {
	s, b := &t.list[i], &t.batches[i]
	if b.packets == 0 {
		return
	}
	s.note(b, b.packets)
	if t == &w.devices && b.misses == 0 {
		w.settleAddress(s, b)
	}
	if b.hasNode {
		w.addAll(&w.gateways, &b.gateway, uint64(s.node), s, b)
	}
	if b.hasPath && !b.filtered {
		w.addAll(&w.paths, &b.path, s.path, s, b)
	}
	if b.filtered {
		w.addAll(&w.filters, &b.filterAt, uint64(b.filter), s, b)
	}
	b.packets, b.bytes, b.told, b.toldBytes = 0, 0, 0, 0
}

// settleAddress counts the packets of a batch of a device at the address that they come from. Who forges an address for
// each packet makes each of them a new one: of such a device they are looked at one in so many.
func (w *Watch) settleAddress(s *source, b *batch) {
	packets, bytes := b.packets-b.told, b.bytes-b.toldBytes
	if packets == 0 {
		return
	}
	b.told, b.toldBytes = b.packets, b.bytes
	at, evicted := w.at(&w.addresses, &b.address, b.src.Hi, b.src.Lo, b.exporter, b.srcNs)
	if evicted {
		b.misses = forged
	}
	w.settle(&w.addresses, at) // the gateway and the path of its own batch are what it has now
	address := &w.addresses.list[at]
	address.add(s, b, packets, bytes, b.srcNs)
	address.note(b, packets)
}

// skipAddress is settleAddress for an address that is not looked at.
func (b *batch) skipAddress() {
	b.told, b.toldBytes = b.packets, b.bytes
	b.misses--
}

// addAll adds a batch of from to what has the key in t.
func (w *Watch) addAll(t *sources, at *place, key uint64, from *source, b *batch) {
	i, _ := w.at(t, at, key, 0, b.exporter, b.firstNs)
	s := &t.list[i]
	s.add(from, b, b.packets, b.bytes, b.firstNs)
	if b.filtered {
		s.filtered += b.packets
	}
}

// settleAll has to come before what was counted is read.
func (w *Watch) settleAll() {
	for _, t := range []*sources{&w.devices, &w.addresses} {
		for i := range t.batches {
			w.settle(t, i)
		}
	}
}

// A source is where packets come from, in two cache lines.
type source struct {
	// What packets need is in the first one.
	key, key2       uint64
	packets, bytes  uint64 // no packets: it is not used
	path            uint64
	lastNs          int64
	node            uint32
	exporter        uint32 // who told of it first
	hasNode, hasWay bool

	several        bool   // other exporters tell of it as well
	filtered       uint64 // of packets
	other          uint64 // packets that are no part of the attack
	packetsTooMany uint64 // at most, as other sources were in its place
	bytesTooMany   uint64
	firstNs        int64
	_              [2]uint64
}

// A batch is the latest packets of a source, as long as they are alike but for their addresses. Only their source
// counts each of them: where 2,000 devices send by turns, the counts of their addresses, gateways and paths would be
// other cache lines each time.
type batch struct {
	// What packets need is in the first of two cache lines.
	src                                 telemetry.Addr
	packets, bytes                      uint64
	exporter, filter                    uint32
	several, filtered, hasNode, hasPath bool
	misses                              uint8  // addresses until the next one is counted
	told, toldBytes                     uint64 // of the packets: their address was settled

	firstNs, srcNs                   int64 // first packet of all, and from src
	address, gateway, path, filterAt place // where these are counted: those of the next batch are mostly the same
	_                                [5]uint64
}

// forged is how many addresses of a device are not counted after one that made another one give way.
const forged = 31

// A place in sources, from 1; 0: none yet. What is there has to be compared: it may have given way to another source.
type place uint16

// holds reports whether a packet is like those of the batch of s.
func (b *batch) holds(s *source, p *Packet) bool {
	return b.packets > 0 && b.exporter == p.Exporter && b.several == p.Several &&
		b.filtered == p.Filtered && b.filter == p.Filter && b.hasNode == p.HasNode && b.hasPath == p.HasPath &&
		(!p.HasNode || s.node == p.Gateway) && (!p.HasPath || s.path == p.Path)
}

// add adds packets of a batch of from, the first of them at firstNs.
func (s *source) add(from *source, b *batch, packets, bytes uint64, firstNs int64) {
	s.packets += packets
	s.bytes += bytes
	s.firstNs = min(s.firstNs, firstNs)
	if from.lastNs < s.lastNs { // a batch of another source was settled before this one
		return
	}
	s.lastNs = from.lastNs
	if b.hasNode {
		s.node, s.hasNode = from.node, true
	}
	if b.hasPath {
		s.path, s.hasWay = from.path, true
	}
}

// note notes who told of packets of a batch, and whether they were filtered.
func (s *source) note(b *batch, packets uint64) {
	if b.several || s.exporter != b.exporter {
		s.several = true
	}
	if b.filtered {
		s.filtered += packets
	}
}

// sources counts the sources with the most packets (space-saving, in sets of places: the source with the fewest packets
// of a set gives way, and its successor begins with its count, which is how much that may be too many).
type sources struct {
	tags    []tags // of each set of the list
	list    []source
	batches []batch // of each of the list, or none
}

func newSources(n int, batches bool) sources {
	t := sources{tags: make([]tags, n/ways), list: make([]source, n)}
	if batches {
		t.batches = make([]batch, n)
	}
	return t
}

// setOf returns the set of places that a source may have, and its tag.
func (t *sources) setOf(key, key2 uint64) (set int, tag uint8) {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, key2^0xe7037ed1a0b428db)
	return int(hi^lo) & (len(t.tags) - 1), tagOf(hi ^ lo)
}

func (s *source) is(key, key2 uint64) bool { return s.key == key && s.key2 == key2 }

// find returns a source, or nil.
func (t *sources) find(key, key2 uint64) *source {
	set, tag := t.setOf(key, key2)
	if i := t.in(set, tag, key, key2); i >= 0 {
		return &t.list[i]
	}
	return nil
}

// in returns where a source is in its set, below 0 if it is not.
func (t *sources) in(set int, tag uint8, key, key2 uint64) int {
	for like := t.tags[set].like(tag); like != 0; like &= like - 1 {
		if i := set*ways + firstOf(like); t.list[i].is(key, key2) {
			return i
		}
	}
	return -1
}

// at returns where a source is in t, which is new if it is not there, and whether another one gave way to it. at is
// where it was before.
func (w *Watch) at(t *sources, at *place, key, key2 uint64, exporter uint32, nowNs int64) (i int, evicted bool) {
	if i := int(*at) - 1; uint(i) < uint(len(t.list)) && t.list[i].is(key, key2) && t.list[i].packets > 0 {
		return i, false
	}
	set, tag := t.setOf(key, key2)
	if i = t.in(set, tag, key, key2); i < 0 {
		i, evicted = w.insert(t, set, tag)
		s := &t.list[i]
		*s = source{
			key: key, key2: key2, packets: s.packets, bytes: s.bytes, packetsTooMany: s.packets, bytesTooMany: s.bytes,
			firstNs: nowNs, exporter: exporter,
		}
	}
	*at = place(i + 1)
	return i, evicted
}

// insert returns a place for a new source with that tag in a set, and whether another one gave way to it.
func (w *Watch) insert(t *sources, set int, tag uint8) (i int, evicted bool) {
	first := set * ways
	least := first
	if free := t.tags[set].like(0); free != 0 {
		least += firstOf(free)
	} else {
		evicted = true
		for i := first + 1; i < first+ways; i++ {
			if t.list[i].packets < t.list[least].packets {
				least = i
			}
		}
		if t.batches != nil {
			w.settle(t, least)
		}
	}
	t.tags[set].set(least-first, tag)
	return least, evicted
}

// Watched is what was counted in a Watch.
type Watched struct {
	Devices, Addresses, Gateways, Paths, Filters []SourceTally
	Port                                         uint16 // that of most packets, if one has more than half
	PortVotes                                    uint64 // for port, less those for others
	Packets, Bytes                               uint64
	Last                                         []uint32 // nodes where it leaves the network, the first of them
}

// A SourceTally is what was counted of a source: a device, an address, a gateway, a path, or a filter.
type SourceTally struct {
	Key, Key2       uint64
	Packets, Bytes  uint64
	Path            uint64
	Node            uint32
	HasNode, HasWay bool
	Several         bool   // more than one exporter tells of it, or another one than Exporter
	Exporter        uint32 // who told of it first
	Filtered        uint64
	Other           uint64 // packets that are no part of the attack
	TooMany         uint64 // packets that it may have too many
	FirstNs, LastNs int64
}

// watched returns what w counted so far.
func (w *Watch) watched() Watched {
	w.settleAll()
	return Watched{
		Devices: w.devices.tallies(), Addresses: w.addresses.tallies(), Gateways: w.gateways.tallies(),
		Paths: w.paths.tallies(), Filters: w.filters.tallies(),
		Port: w.port, PortVotes: w.portVotes, Packets: w.packets, Bytes: w.bytes,
		Last: slices.Clone(w.last[:w.lasts]),
	}
}

// tallies returns what was counted of the sources.
func (t *sources) tallies() (list []SourceTally) {
	for i := range t.list {
		if s := &t.list[i]; s.packets > 0 {
			list = append(list, SourceTally{
				Key: s.key, Key2: s.key2, Packets: s.packets, Bytes: s.bytes, Path: s.path, Node: s.node,
				HasNode: s.hasNode, HasWay: s.hasWay, Several: s.several, Exporter: s.exporter, Filtered: s.filtered,
				Other: s.other, TooMany: s.packetsTooMany, FirstNs: s.firstNs, LastNs: s.lastNs,
			})
		}
	}
	return list
}

// merge adds what another shard counted.
func (s *SourceTally) merge(o *SourceTally) {
	s.Packets += o.Packets
	s.Bytes += o.Bytes
	s.Filtered += o.Filtered
	s.Other += o.Other
	s.TooMany += o.TooMany
	s.Several = s.Several || o.Several || s.Exporter != o.Exporter
	if o.LastNs > s.LastNs {
		s.LastNs = o.LastNs
		if o.HasNode {
			s.Node, s.HasNode = o.Node, true
		}
		if o.HasWay {
			s.Path, s.HasWay = o.Path, true
		}
	}
	s.FirstNs = min(s.FirstNs, o.FirstNs)
}
