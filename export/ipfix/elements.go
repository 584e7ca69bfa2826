package ipfix

import (
	"encoding/binary"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Elements of Waybill's own, below the enterprise number of the configuration. docs/how-to/send-it-elsewhere.md has a
// table of them; a number is never used again for something else.
const (
	elementPathID         = 1
	elementTunnel         = 2
	elementTunnelID       = 3
	elementReports        = 4
	elementPathChanges    = 5
	elementResidenceCount = 6
	elementResidenceSum   = 7
	elementResidenceMin   = 8
	elementResidenceMax   = 9
	elementEndToEndCount  = 10
	elementEndToEndSum    = 11
	elementIncomplete     = 12
	elementClockErrors    = 13
	elementHop            = 14
	elementNode           = 15
	elementHopFlags       = 16
	elementMissing        = 17
	own                   = 0x8000 // of the number in a template: an enterprise number follows (RFC 7011, 3.2)
)

// Flags of a hop.
const (
	hopNode = 1 << iota // its node is known
	hopIngress
	hopEgress
	hopDropped // packets are dropped there
	pathUncertain
)

// A field is an element of a template, and how it is written.
type field[T any] struct {
	id, length uint16
	put        func(b []byte, r *T) []byte
}

// number is a field with an unsigned number of so many bytes; larger values are written as the largest.
func number[T any](id, length uint16, value func(*T) uint64) field[T] {
	return field[T]{id, length, func(b []byte, r *T) []byte {
		v := value(r)
		if length < 8 {
			v = min(v, 1<<(8*length)-1)
		}
		var full [8]byte
		binary.BigEndian.PutUint64(full[:], v)
		return append(b, full[8-length:]...)
	}}
}

// appendTemplate appends the template record of fields (RFC 7011, 3.4.1).
func appendTemplate[T any](b []byte, id uint16, fields []field[T], enterprise uint32) []byte {
	b = binary.BigEndian.AppendUint16(b, id)
	b = binary.BigEndian.AppendUint16(b, uint16(len(fields)))
	for i := range fields {
		b = binary.BigEndian.AppendUint16(b, fields[i].id)
		b = binary.BigEndian.AppendUint16(b, fields[i].length)
		if fields[i].id&own != 0 {
			b = binary.BigEndian.AppendUint32(b, enterprise)
		}
	}
	return b
}

func appendRecord[T any](b []byte, fields []field[T], r *T) []byte {
	for i := range fields {
		b = fields[i].put(b, r)
	}
	return b
}

// Numbers of templates.
const (
	templateFlow4 = 256 + iota
	templateFlow6
	templatePath
	templateHop
)

type (
	flow = telemetry.FlowInterval
	path = telemetry.PathInterval
)

// A hop is one element of a route.
type hop struct {
	*telemetry.Route
	*telemetry.PathElement
	index int
}

func millis(ns int64) uint64 { return uint64(ns / int64(time.Millisecond)) }

// flowFields are those of flows, behind addresses of so many bytes.
func flowFields(src, dst, length uint16) []field[flow] {
	address := func(id uint16, of func(*flow) telemetry.Addr) field[flow] {
		return field[flow]{id, length, func(b []byte, f *flow) []byte {
			a := of(f)
			if length == 4 {
				return binary.BigEndian.AppendUint32(b, uint32(a.Lo))
			}
			return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, a.Hi), a.Lo)
		}}
	}
	return []field[flow]{
		address(src, func(f *flow) telemetry.Addr { return f.Key.Src }),
		address(dst, func(f *flow) telemetry.Addr { return f.Key.Dst }),
		// flowStartMilliseconds
		number(152, 8, func(f *flow) uint64 { return millis(f.StartNs) }),
		// flowEndMilliseconds
		number(153, 8, func(f *flow) uint64 { return millis(f.StartNs + telemetry.FlowIntervalNs) }),
		// flowId
		number(148, 8, func(f *flow) uint64 { return f.Key.Hash() }),
		// sourceTransportPort
		number(7, 2, func(f *flow) uint64 { return uint64(f.Key.SrcPort) }),
		// destinationTransportPort
		number(11, 2, func(f *flow) uint64 { return uint64(f.Key.DstPort) }),
		// protocolIdentifier
		number(4, 1, func(f *flow) uint64 { return uint64(f.Key.Protocol) }),
		// ipDiffServCodePoint
		number(195, 1, func(f *flow) uint64 { return uint64(f.DSCP) }),
		// packetDeltaCount
		number(2, 8, func(f *flow) uint64 { return f.Packets }),
		// octetDeltaCount
		number(1, 8, func(f *flow) uint64 { return f.Bytes }),
		// droppedPacketDeltaCount
		number(133, 8, func(f *flow) uint64 { return f.Drops }),
		number(own|elementTunnel, 1, func(f *flow) uint64 { return uint64(f.Key.Tunnel) }),
		number(own|elementTunnelID, 4, func(f *flow) uint64 { return uint64(f.Key.TunnelID) }),
		number(own|elementPathID, 8, func(f *flow) uint64 { return f.Path }),
		number(own|elementReports, 8, func(f *flow) uint64 { return f.Reports }),
		number(own|elementPathChanges, 8, func(f *flow) uint64 { return f.PathChanges }),
		number(own|elementResidenceCount, 8, func(f *flow) uint64 { return f.Residence.Count }),
		number(own|elementResidenceSum, 8, func(f *flow) uint64 { return f.Residence.Sum }),
		number(own|elementResidenceMin, 8, func(f *flow) uint64 { return f.Residence.Min }),
		number(own|elementResidenceMax, 8, func(f *flow) uint64 { return f.Residence.Max }),
		number(own|elementEndToEndCount, 8, func(f *flow) uint64 { return f.EndToEnd.Count }),
		number(own|elementEndToEndSum, 8, func(f *flow) uint64 { return f.EndToEnd.Sum }),
	}
}

var (
	flow4Fields = flowFields(8, 12, 4)   // sourceIPv4Address, destinationIPv4Address
	flow6Fields = flowFields(27, 28, 16) // sourceIPv6Address, destinationIPv6Address

	pathFields = []field[path]{
		number(152, 8, func(p *path) uint64 { return millis(p.StartNs) }),
		number(153, 8, func(p *path) uint64 { return millis(p.StartNs + telemetry.FlowIntervalNs) }),
		number(own|elementPathID, 8, func(p *path) uint64 { return p.Path }),
		number(2, 8, func(p *path) uint64 { return p.Packets }),
		number(own|elementIncomplete, 8, func(p *path) uint64 { return p.Incomplete }),
		number(own|elementClockErrors, 8, func(p *path) uint64 { return p.ClockErrors }),
		number(own|elementResidenceCount, 8, func(p *path) uint64 { return p.Residence.Count }),
		number(own|elementResidenceSum, 8, func(p *path) uint64 { return p.Residence.Sum }),
		number(own|elementResidenceMin, 8, func(p *path) uint64 { return p.Residence.Min }),
		number(own|elementResidenceMax, 8, func(p *path) uint64 { return p.Residence.Max }),
		number(own|elementEndToEndCount, 8, func(p *path) uint64 { return p.EndToEnd.Count }),
		number(own|elementEndToEndSum, 8, func(p *path) uint64 { return p.EndToEnd.Sum }),
	}

	hopFields = []field[hop]{
		number(152, 8, func(h *hop) uint64 { return millis(h.StartNs) }),
		number(own|elementPathID, 8, func(h *hop) uint64 { return h.Path }),
		number(own|elementHop, 1, func(h *hop) uint64 { return uint64(h.index) }),
		number(own|elementNode, 4, func(h *hop) uint64 { return uint64(h.Node) }),
		// ingressInterface
		number(10, 4, func(h *hop) uint64 { return uint64(h.IngressPort) }),
		// egressInterface
		number(14, 4, func(h *hop) uint64 { return uint64(h.EgressPort) }),
		number(own|elementHopFlags, 1, (*hop).flags),
		number(own|elementMissing, 1, func(h *hop) uint64 { return uint64(h.Missing) }),
	}
)

func (h *hop) flags() (flags uint64) {
	for _, f := range []struct {
		set  bool
		flag uint64
	}{
		{h.Has&telemetry.HasNode != 0, hopNode},
		{h.Has&telemetry.HasIngressPort != 0, hopIngress},
		{h.Has&telemetry.HasEgressPort != 0, hopEgress},
		{h.Has&telemetry.HasDrop != 0, hopDropped},
		{h.Uncertain, pathUncertain},
	} {
		if f.set {
			flags |= f.flag
		}
	}
	return flags
}
