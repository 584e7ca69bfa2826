package telemetry

import (
	"math"
	"net/netip"
	"time"
)

// A CounterSample is what a device counts at one of its ports since it began to count: the structure if_counters of
// sFlow (sFlow version 5, section 5).
type CounterSample struct {
	Node, Port uint32
	Agent      netip.Addr // who counts: the agent and the part of it
	SubAgent   uint32
	Sequence   uint32 // of the samples of this port; it begins anew with its counters
	UptimeMs   uint32 // since the agent started, in milliseconds; it wraps
	Speed      uint64 // bit/s; 0: not known
	AdminUp    bool   // it is to be in use
	OperUp     bool   // it can be used
	In, Out    PortCounts
}

// PortCounts are the counters of what came in by a port, or of what left by it.
type PortCounts struct {
	Octets                                          uint64 // UnknownOctets: not told
	Unicast, Multicast, Broadcast, Discards, Errors uint32 // packets; UnknownCount: not told. They wrap
}

// What counters have that a device does not tell.
const (
	UnknownOctets = math.MaxUint64
	UnknownCount  = math.MaxUint32
)

// ObserveCounters adds what a port counts to the batch of BeginObservations, with the node that h has. It is false
// without one: nobody knows whose port it is.
func (d *Decoder) ObserveCounters(c *CounterSample, h *Header) bool {
	if !h.HasNodeID {
		return false
	}
	c.Node = h.NodeID
	d.batch.Counters = append(d.batch.Counters, *c)
	return true
}

// What a device says of a port (RFC 2863, ifAdminStatus and ifOperStatus).
const (
	PortUp   = "up"
	PortDown = "down"
)

// PortCounters are what the device of a port counts there: of all packets, with telemetry or without. Rates are those
// between the two latest samples. They are nil before the second one, where the counters began anew between them, and
// when no sample came for a while.
type PortCounters struct {
	InBPS  *uint64 `json:"in_bps,omitempty" kind:"rate" doc:"bits that came in by the port in a second, as its device counts"`
	OutBPS *uint64 `json:"out_bps,omitempty" kind:"rate" doc:"bits that left by it in a second"`
	InPPS  *uint64 `json:"in_pps,omitempty" doc:"packets that came in by it in a second, of the kinds that the device counts"`
	OutPPS *uint64 `json:"out_pps,omitempty" doc:"packets that left by it in a second, of the kinds that the device counts"`

	InUse  *float64 `json:"in_use,omitempty" kind:"ratio" doc:"in_bps as a share of the speed"`
	OutUse *float64 `json:"out_use,omitempty" kind:"ratio" doc:"out_bps as a share of the speed"`

	InDiscards  *uint64 `json:"in_discards,omitempty" doc:"packets without a fault that the device discarded as they came in, since its first sample"`
	OutDiscards *uint64 `json:"out_discards,omitempty" doc:"packets without a fault that it discarded as they were to leave"`
	InErrors    *uint64 `json:"in_errors,omitempty" doc:"packets with a fault that came in, since its first sample"`
	OutErrors   *uint64 `json:"out_errors,omitempty" doc:"packets that could not be sent because of a fault"`

	Speed      uint64    `json:"speed_bps,omitempty" unit:"bit/s" doc:"what the port carries at most, as the device says with its counters" known:"Speed"`
	Admin      string    `json:"admin" doc:"up if the port is to be in use, else down"`
	Oper       string    `json:"oper" doc:"up if it can be used, else down"`
	IntervalNs int64     `json:"interval_ns,omitempty" known:"IntervalNs" doc:"time between the two latest samples"`
	Restarts   uint64    `json:"restarts" doc:"how often its counters began anew; what they lack of that time is in no figure"`
	First      time.Time `json:"first" doc:"when the first sample came"`
	Last       time.Time `json:"last" doc:"when the latest sample came"`
}
