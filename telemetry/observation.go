package telemetry

import (
	"math"
	"net/netip"
)

// Observed says how many packets of its flow a Report with Sampled stands for.
type Observed struct {
	Packets, Bytes uint64 // that the device counted: of those that it looked at
	Rate           uint32 // it looked at 1 packet in so many; 0: nobody knows
	Leaving        bool   // it looked at what leaves by a port, and not at what comes in
	// BeganMs and EndedMs are how long ago the first and the last of these packets came, in milliseconds, at most
	// MaxObservedAge; 0: just now, or the device does not tell.
	BeganMs, EndedMs uint32
}

// MaxObservedAge is the largest age of what is observed, in milliseconds. What devices say is older is not believed.
const MaxObservedAge = 24 * 3600 * 1000

// An Observation is what a device tells by sFlow, of a packet that it sampled or dropped, or by NetFlow and IPFIX, of
// packets of a flow that it counted or dropped.
type Observation struct {
	Observed
	Packet  []byte   // the front of it, from a header of kind InType on
	InType  uint8    // report.InEthernet, InIPv4 or InIPv6
	Flow    *FlowKey // instead of a packet; with DSCP, and Local.TTL, which is 0 if it is not known
	DSCP    uint8
	Local   Hop    // the device, and the ports
	Dropped bool   // exactly this packet, or exactly Drops packets of the flow, for Local.DropReason
	Drops   uint64 // 0: Packet
	Reasons string // name of the table of Local.DropReason
}

// BeginObservations begins a datagram with observations, as Decode does one with reports; h says who sent it.
func (d *Decoder) BeginObservations(payload []byte, src netip.AddrPort, dstPort uint16, batch *Batch, h *Header) {
	d.profile = d.config.For(src.Addr(), src.Port(), dstPort)
	d.dialect, d.batch, d.payload = d.profile.Dialect, batch, payload
	*h = Header{Source: src.Addr(), Datagram: payload}
}

// NodeOf returns the node that the configuration has for a source.
func (d *Decoder) NodeOf(source netip.Addr) (node uint32, ok bool) {
	node, ok = d.config.SourceNodes[source.Unmap()]
	return node, ok
}

// Observe appends the report that o makes to the batch of BeginObservations. It is false without one: the packet has no
// flow, and was not dropped.
func (d *Decoder) Observe(o *Observation, h *Header) bool {
	r := d.start(h)
	r.Local = o.Local
	if h.HasNodeID {
		r.Local.Has |= HasNode
		r.Local.NodeID = h.NodeID
	}
	if o.Flow != nil {
		r.Flags, r.Flow, r.DSCP, r.TTL = HasFlow, *o.Flow, o.DSCP, o.Local.TTL
	} else {
		// A switch in the middle samples packets with telemetry in them: it is looked for, and left to who reports it.
		r.Flags = Tracked
		d.fragment(o.Packet, o.InType)
		d.reason = 0 // where the front of the packet ends is no fault
		r.Flags &= HasFlow | HasOuter | LaterFragment | Opening
		r.Hops = nil
	}
	r.Local.Has |= HasTTL
	r.Local.TTL = r.TTL
	if o.Dropped {
		r.Flags |= Dropped
		if o.Drops > 0 {
			r.Flags |= DropSummary
			r.DropKey, r.DropCount = 0, uint32(min(o.Drops, math.MaxUint32))
		}
		r.Local.Has |= HasDrop
		r.DropReasons = reasonTable(o.Reasons)
		return true
	}
	if !r.Is(HasFlow) {
		d.batch.Reports = d.batch.Reports[:len(d.batch.Reports)-1]
		return false
	}
	r.Flags |= Sampled
	r.Observed = o.Observed
	if r.Bytes != 0 {
		r.Observed.Bytes = uint64(r.Bytes)
	}
	return true
}
