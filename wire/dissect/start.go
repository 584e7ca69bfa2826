package dissect

import (
	"fmt"
	"slices"
	"strings"
)

// A Start says what the first byte of some bytes belongs to. The walk through a packet uses the same values for what
// comes next.
type Start uint8

// Values of Start. Their names are those of the layers that they lead to.
const (
	// Payload is bytes that nothing is known about.
	Payload Start = iota
	Ethernet
	LinuxCooked  // LINKTYPE_LINUX_SLL
	LinuxCooked2 // LINKTYPE_LINUX_SLL2
	Loopback     // LINKTYPE_NULL and LINKTYPE_LOOP
	RawIP        // IPv4 or IPv6, by the first nibble
	IPv4
	IPv6
	MPLS
	UDP
	TCP
	SCTP
	ICMP
	ICMPv6
	GRE
	VXLAN
	VXLANGPE
	Geneve
	NSH
	TelemetryReport
	INTShimL4v05
	INTShimL4v1
	INTShimL4v2
	INTShimGPE2016
	INTShimGPEv05
	INTShimGPEv1
	INTShimGPEv2
	INTShimGREv2
	INT2016
	INTHopByHopV05
	INTHopByHopV1
	INTMD
	INTMX
	IOAMShim
	IOAMTrace
	IFA
	numStarts

	// nothing ends a walk: the packet is complete.
	nothing = numStarts
)

var startNames = [numStarts]string{
	Payload:         "payload",
	Ethernet:        "ethernet",
	LinuxCooked:     "linux_sll",
	LinuxCooked2:    "linux_sll2",
	Loopback:        "loopback",
	RawIP:           "ip",
	IPv4:            "ipv4",
	IPv6:            "ipv6",
	MPLS:            "mpls",
	UDP:             "udp",
	TCP:             "tcp",
	SCTP:            "sctp",
	ICMP:            "icmp",
	ICMPv6:          "icmpv6",
	GRE:             "gre",
	VXLAN:           "vxlan",
	VXLANGPE:        "vxlan_gpe",
	Geneve:          "geneve",
	NSH:             "nsh",
	TelemetryReport: "telemetry_report",
	INTShimL4v05:    "int_shim_l4_v0_5",
	INTShimL4v1:     "int_shim_l4_v1",
	INTShimL4v2:     "int_shim_l4_v2",
	INTShimGPE2016:  "int_shim_vxlan_gpe_2016",
	INTShimGPEv05:   "int_shim_vxlan_gpe_v0_5",
	INTShimGPEv1:    "int_shim_vxlan_gpe_v1_0",
	INTShimGPEv2:    "int_shim_vxlan_gpe_v2",
	INTShimGREv2:    "int_shim_gre_v2",
	INT2016:         "int_2016",
	INTHopByHopV05:  "int_hbh_v0_5",
	INTHopByHopV1:   "int_hbh_v1",
	INTMD:           "int_md",
	INTMX:           "int_mx",
	IOAMShim:        "ioam_shim",
	IOAMTrace:       "ioam_trace",
	IFA:             "ifa_header",
}

// String returns the name of s, for example "vxlan_gpe".
func (s Start) String() string {
	if s >= numStarts {
		return "nothing"
	}
	return startNames[s]
}

// Starts lists the names of every Start.
func Starts() []string { return slices.Clone(startNames[:]) }

// ParseStart returns the Start of that name.
func ParseStart(name string) (Start, error) {
	for s, known := range startNames {
		if known == name {
			return Start(s), nil
		}
	}
	return Payload, fmt.Errorf("unknown start %q; known are %s", name, strings.Join(startNames[:], ", "))
}

// Link types of capture files (pcap-linktype(7)).
const (
	linkNull         = 0
	linkEthernet     = 1
	linkRaw          = 101
	linkRawBSD       = 12
	linkLoop         = 108
	linkLinuxCooked  = 113
	linkIPv4         = 228
	linkIPv6         = 229
	linkLinuxCooked2 = 276
)

// StartOfLinkType returns what the packets of a capture file with that LINKTYPE_ value start with, and false for a link
// type that Waybill does not read.
func StartOfLinkType(linkType int) (Start, bool) {
	switch linkType {
	case linkEthernet:
		return Ethernet, true
	case linkRaw, linkRawBSD:
		return RawIP, true
	case linkLinuxCooked:
		return LinuxCooked, true
	case linkLinuxCooked2:
		return LinuxCooked2, true
	case linkNull, linkLoop:
		return Loopback, true
	case linkIPv4:
		return IPv4, true
	case linkIPv6:
		return IPv6, true
	}
	return Payload, false
}
