package embed

import (
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
)

// A Packet is what a node needs to know of one frame. Parse fills it, without allocating; reuse it for the next frame.
//
// Offsets are bytes from the start of Frame. The IP header that the fields speak of is the outermost one, as it is on
// the wire; if INT has brought it along, that is the one of INT.
type Packet struct {
	Frame []byte // as given to Parse; never modified

	L3      int // of the IP header; 0 if the frame is not IP
	L4      int // of the header behind it and its extension headers
	Payload int // behind that header, and behind INT if INT follows it
	End     int // of the IP packet: bytes behind it are padding of the frame

	Tagged bool   // there is a VLAN tag
	VLAN   uint16 // id in the outermost VLAN tag
	PCP    uint8  // priority in the outermost VLAN tag

	IPVersion   uint8 // 4, 6, or 0 if the frame is not IP
	Protocol    uint8 // IPv4 protocol, or next header of the last IPv6 extension header
	DSCP, ECN   uint8
	TTL         uint8
	TotalLength int // IPv4 Total Length, or 40 + IPv6 Payload Length

	Fragment      bool // any fragment, the first included: it gets no INT
	LaterFragment bool // a fragment without L4 header

	// Flow is the flow of the innermost IP packet that could be read, with INT undone: the original port, protocol and
	// tunnel. Outer is the flow of the outermost packet if Flow is in a tunnel.
	HasFlow, HasOuter bool
	Flow, Outer       telemetry.FlowKey

	INT INT

	etherTypeAt int // offset of the EtherType in front of the IP header; 0 behind MPLS, which has none
	protocolAt  int // offset of Protocol
	sum         checksum
	badLength   bool // UDP Length is not possible

	tunnel   telemetry.Tunnel // what begins at tunnelAt, behind the outermost UDP or IP header; TunnelNone: no tunnel
	tunnelAt int
}

// An INT is what Parse found of the domain's INT in a packet, that is in its outermost headers.
//
// A header that breaks a rule is Malformed. Its offsets are then filled as far as the length in the shim or option can
// be trusted: End is 0 if it cannot, or if nothing says what the packet was before INT.
type INT struct {
	Present   bool
	Nested    bool       // there is INT of another domain: further in, or of another carrier (INT 2.1 §5.7.2)
	Conflict  bool       // the packet is marked with a DSCP value as well; the port counts
	Malformed wire.Error // 0: none

	Carrier Carrier        // DstPort or NewUDP as the shim says, otherwise that of the domain
	Version inband.Version // that of the domain; VersionUnknown if the header has another one
	Type    uint8          // inband.TypeMD, TypeMX, ...; TypeDestination only if there is no other header

	Start    int // first byte that INT added to the packet: marker, IP or UDP header, shim, option
	Shim     int // shim, or Geneve option
	Header   int // INT header
	Stack    int // metadata stack; MX: source-inserted metadata
	StackEnd int // behind the stack
	End      int // behind all of INT, tail and destination headers included; 0: unknown

	Destination    int // contents of a destination header, 0: none
	DestinationEnd int

	HopML     uint8  // words per record; up to INT 0.5 Instruction Count
	Remaining uint8  // nodes that may still add a record
	Total     uint8  // up to INT 0.5: Total Hop Count
	Hops      int    // records in the stack
	Bitmap    uint16 // instructions, at the places that the specification has for them

	DomainID, DSInstruction, DSFlags uint16

	E, M, D, C bool
	Replicas   ReplicaPolicy // up to INT 1.0: copies that nodes may make

	recordLen int    // bytes that a node adds, complement and per-hop DS metadata included
	perHopDS  int    // of them per-hop DS metadata
	next      uint16 // what follows INT: IP protocol, UDP or TCP port, EtherType or Next Protocol
	dscp      uint8  // the original DSCP
	g         bool   // G of the shim: INT brought the encapsulation along
}

// FollowUp reports whether the packet is what a node with a slow path sent after another one (INT 2016 §4.2).
func (t *INT) FollowUp() bool {
	return t.Present && t.Malformed == 0 && t.Type == inband.TypeDestination && t.C
}

// DestinationOnly reports whether there is a destination header alone, a message of the host to the sink (INT 2016
// §4.1): a source puts the header for all hops in front of it.
func (t *INT) DestinationOnly() bool {
	return t.Present && t.Malformed == 0 && t.Type == inband.TypeDestination && !t.C && t.End > 0
}
