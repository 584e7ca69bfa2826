package fabric

import "strconv"

// A Reason says why a packet was lost. Its number is the drop reason in telemetry reports: that of p4lang/switch where
// it has one, and one from 200 for what no switch reports.
type Reason uint8

// Reasons.
const (
	ReasonUnknown        Reason = 0  // not an IP packet
	ReasonTTL            Reason = 26 // TTL or hop limit exhausted
	ReasonRoutingMiss    Reason = 29 // no route, or a blackhole
	ReasonMTU            Reason = 50 // larger than the link takes
	ReasonTrafficManager Reason = 51 // no room in the queue
	ReasonACLDeny        Reason = 60 // a mitigation matched

	ReasonPortDown  Reason = 200 // the link behind the port is down, and routes do not know yet
	ReasonLinkDown  Reason = 201 // was on the link when it went down
	ReasonGrayLink  Reason = 202 // lost on a link that is up
	ReasonHostQueue Reason = 210 // the sending host has no room
	ReasonRefused   Reason = 211 // the receiving host found it damaged, or not meant for it
	ReasonDiscarded Reason = 220 // the telemetry device took it out when it left
)

var reasonNames = map[Reason]string{
	ReasonUnknown:        "unknown",
	ReasonTTL:            "ttl",
	ReasonRoutingMiss:    "routing_miss",
	ReasonMTU:            "mtu",
	ReasonTrafficManager: "traffic_manager",
	ReasonACLDeny:        "acl_deny",
	ReasonPortDown:       "port_down",
	ReasonLinkDown:       "link_down",
	ReasonGrayLink:       "gray_link",
	ReasonHostQueue:      "host_queue",
	ReasonRefused:        "refused",
	ReasonDiscarded:      "discarded",
}

// String returns the name in truth files; that of a number which only a telemetry device knows is "reason_" and the
// number.
func (r Reason) String() string {
	if name, ok := reasonNames[r]; ok {
		return name
	}
	return "reason_" + strconv.Itoa(int(r))
}

// A Place says where a packet was lost.
type Place uint8

// Places.
const (
	PlaceHost    Place = iota // in the queue of the sender, or refused by the receiver
	PlaceIngress              // the switch decided not to forward it
	PlaceQueue                // no room
	PlaceEgress               // behind the queue, or the port is down
	PlaceLink                 // between two nodes
)

// String returns the name in truth files.
func (p Place) String() string {
	return [...]string{"host", "ingress", "queue", "egress", "link"}[p]
}
