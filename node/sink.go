package node

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
)

// sink is for a packet that leaves the domain: nothing of INT does (INT 2.1 §2).
func (n *Node) sink(v *visit) {
	p := &v.packet
	if !p.INT.Present {
		if n.ioam != nil && n.ioamInside(v) {
			return
		}
		n.postcard(v, p.Frame)
		return
	}
	out, stripped, err := n.inside.Strip(n.out.buffer[:0], p)
	n.out.set(out)
	n.count(Stripped)
	n.countIf(err != nil, StrippedBad)
	if stripped.Discard || len(out) == 0 {
		n.count(Discarded)
		n.out.Frame = nil
	}
	flags, readable := embedded(p)
	if err != nil || !readable {
		n.queueReport(v, out)
		return
	}
	if p.INT.Type == inband.TypeDestination {
		n.followed(v, flags, out[max(p.Payload-stripped.Removed, 0):])
		return
	}
	n.countIf(!n.knows(stripped.DomainID), UnknownDomain)
	n.message(v, &stripped)
	n.countIf(n.hidden(v, &stripped), HiddenHops)
	if flags&telemetry.Instructed != 0 {
		n.instructed(v, flags)
		return
	}
	path, latency := n.path(v, &stripped)
	flow := v.state.flow
	if stripped.C { // copies that go different ways are no flow that changes its way
		v.state.flow = fold(flow, path)
	}
	reason := n.events(v, path, latency)
	if v.state.flow = flow; reason == 0 {
		return
	}
	if n.recent != nil {
		hash := contentHash(out[max(p.Payload-stripped.Removed, 0):])
		n.recent[hash%uint64(len(n.recent))] = hash
	}
	n.reportStack(v, &stripped, flags, out)
}

// recentPackets is how many of the packets that were reported are remembered, for their follow-ups.
const recentPackets = 1 << 10

// followed reports a follow-up packet if its packet was reported: what a collector cannot join is of no use to it. It
// has the same contents; what this node could tell of itself is not about the packet.
func (n *Node) followed(v *visit, flags telemetry.Flags, contents []byte) {
	p := &v.packet
	if hash := contentHash(contents); n.recent == nil || n.recent[hash%uint64(len(n.recent))] != hash {
		n.count(Suppressed)
		return
	}
	n.count(Reported)
	n.tell(v, flags, p.Frame, p.Payload, mdIngressTS|onlyStack, n.inside.DomainID)
}

// contentHash returns a hash of the front of what a packet has behind its INT.
func contentHash(b []byte) uint64 {
	h := uint64(len(b))
	for b = b[:min(len(b), 96)]; len(b) >= 8; b = b[8:] {
		h = fold(h, binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		h = fold(h, uint64(c))
	}
	return h
}

// reportStack reports what INT-MD has collected, and what this node adds to it (TR 2.0 §3.4).
func (n *Node) reportStack(v *visit, s *embed.Stripped, flags telemetry.Flags, out []byte) {
	p := &v.packet
	own := metadataOf(s.Version, s.Bitmap)
	switch n.form {
	case separate:
		n.tell(v, flags, p.Frame, p.Payload, mdIngressTS|onlyStack, s.DomainID)
		if len(out) > 0 {
			n.tell(v, telemetry.Tracked, out, p.Payload-s.Removed, own|mdIngressTS, s.DomainID)
		}
		return
	case inStack:
		pushed, r := n.inside.PushDS(n.spare[:0], p, &v.own, n.perHopOf(s.DomainID, s.DSInstruction), 0)
		n.spare = pushed
		if r.Action == embed.Pushed {
			n.tell(v, flags, pushed, p.Payload+r.Added, onlyStack, s.DomainID)
			return
		}
		// Its record has no room in the stack: then it is in the report.
	}
	n.tell(v, flags, p.Frame, p.Payload, own, s.DomainID)
}

// message reads what the source has told in a destination header: the numbers that are missing between two packets of
// a flow are those of packets that were lost, or overtaken.
func (n *Node) message(v *visit, s *embed.Stripped) {
	d := &n.destination
	if _, err := d.Decode(s.Destination); err != nil || !d.HasSequence {
		return
	}
	if n.numbers.sets == nil { // of a source that others configured
		n.numbers = newNumbers(n.config.Events.Flows)
	}
	next, known := n.numbers.of(v.state.flow)
	switch ahead := int32(d.Sequence - *next); {
	case !known || d.Sequence == 1 || ahead < -longestGap || ahead > longestGap:
		*next = d.Sequence + 1
	case ahead >= 0:
		n.stats.Count[SequenceGaps] += uint64(ahead)
		*next = d.Sequence + 1
	}
}

// longestGap is how many packets may be missing before it is taken for a source that began anew.
const longestGap = 1 << 16

// hidden reports whether a packet passed nodes that added no record: its TTL sank by more than the number of records
// grew (INT 1.0 §4.2, INT 2.1 §5.1). That can be known only where hosts begin with a known TTL, or where the source
// tells it. Each node in front of this one has taken one from it, the source too.
func (n *Node) hidden(v *visit, s *embed.Stripped) bool {
	first, ttl := n.config.InitialTTL, v.state.ttl
	if d := &n.destination; d.HasTTL && s.Destination != nil {
		first = d.TTL
	}
	if first == 0 || ttl > first || s.Type == inband.TypeMX || s.E {
		return false
	}
	added := int(v.packet.INT.Total)
	if n.inside.Version >= inband.Version10 {
		added = n.inside.Hops(&embed.Instruction{Bitmap: s.Bitmap}) - int(s.Remaining)
	}
	return int(first-ttl) > added
}

// path returns a hash of the nodes and ports that the packet passed, and the sum of the latencies that are known.
func (n *Node) path(v *visit, s *embed.Stripped) (path, latency uint64) {
	path = uint64(s.Hops) + 1
	latency = n.latency(v)
	for i := range s.Hops {
		m := &n.hop
		s.Layout.Decode(s.Stack.Record(i), m)
		valid := m.Has &^ m.Invalid
		var element uint64
		if valid&inband.NodeID != 0 {
			element = uint64(m.NodeID) << 32
		}
		if valid&inband.L1Ingress != 0 {
			element |= uint64(m.L1Ingress&0xFFFF) << 16
		}
		if valid&inband.L1Egress != 0 {
			element |= uint64(m.L1Egress & 0xFFFF)
		}
		path = fold(path, element)
		if valid&inband.HopLatency != 0 {
			latency += uint64(m.HopLatency)
		}
	}
	return path, latency
}
