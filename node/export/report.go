package export

import (
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/report"
)

// A Report is what a node has to say about a packet.
type Report struct {
	// Flow is the hash of the packet's flow as telemetry.FlowKey.Hash returns it; of a report without a packet, of what
	// it is about. It decides which collector gets the report.
	Flow uint64

	HWID uint8 // 6 bits: the subsystem of the node that reports

	// Flags are Dropped, Congested and Tracked (matched a flow watchlist), as far as they are true; Embedded or
	// Instructed if the fragment has an INT stack or instructions; and Intermediate if a transit node sends the stack
	// so far. Other flags are not looked at.
	Flags telemetry.Flags

	// IngressTS is when the node received the packet, in ns; all reports of the node about the packet have the same
	// (TR 2.0 §3.4). In TR 2.0 it is sent if Metadata.Bits asks for it.
	IngressTS uint64

	// Metadata is what the node knows of itself: Bits says which fields, Invalid which of them it could not find out
	// this time. IngressTS is taken from above. The drop reason is sent of packets that were dropped only.
	Metadata report.Metadata

	// Domain specific metadata, for TR 2.0. DSMetadata has the values of the bits of DSMdBits, in their order, as long
	// as the domain says. For a domain that the Exporter does not know they are not sent.
	DomainID   uint16
	DSMdBits   uint16
	DSMdStatus uint16
	DSMetadata []byte

	// Fragment is the packet, or the front of it, and Kind the header that it begins with: report.InEthernet,
	// report.InIPv4, report.InIPv6, or report.InNone if there is no packet.
	Kind     uint8
	Fragment []byte

	// Keep is where in Fragment the INT stack and the first L4 header end. A report that has to be cut before that is
	// counted in Stats.CutShort.
	Keep int
}

// is says whether any of the flags is set.
func (r *Report) is(f telemetry.Flags) bool { return r.Flags&f != 0 }

// tracked says whether F is set: embedded telemetry is looked for in tracked flows only (TR 2.0 §3.4).
func (r *Report) tracked() bool {
	return r.is(telemetry.Tracked | telemetry.Embedded | telemetry.Instructed)
}

// intermediate says whether I is set: only where metadata travel in the packet there is a stack so far (TR 2.0 §3.3).
func (r *Report) intermediate() bool {
	return r.is(telemetry.Intermediate) && r.is(telemetry.Embedded)
}
