package dissect

import (
	"strings"

	"github.com/waybill-int/waybill/wire"
)

// ErrorText returns the rule that e names, for people.
func ErrorText(e wire.Error) string {
	if e < wire.NumErrors && errorTexts[e] != "" {
		return errorTexts[e]
	}
	return strings.ReplaceAll(e.Error(), "_", " ")
}

// Every error has a text here; a test looks after that.
var errorTexts = [wire.NumErrors]string{
	wire.ErrSampleHeader: "no header of sFlow 5, NetFlow 9 or IPFIX",
	wire.ErrSampleRecord: "a sample ends too early, or contradicts itself",

	wire.ErrTruncatedEthernet:      "the packet ends inside the Ethernet or link layer header",
	wire.ErrTruncatedVLAN:          "the packet ends inside a VLAN tag",
	wire.ErrTruncatedMPLS:          "the packet ends inside the MPLS label stack",
	wire.ErrTruncatedIPv4:          "the packet ends inside the IPv4 header",
	wire.ErrIPv4Version:            "the version is not 4 where an IPv4 header is announced",
	wire.ErrIPv4HeaderLength:       "the IPv4 header length or total length is too small for the header",
	wire.ErrTruncatedIPv6:          "the packet ends inside the IPv6 header",
	wire.ErrIPv6Version:            "the version is not 6 where an IPv6 header is announced",
	wire.ErrTruncatedIPv6Extension: "the packet ends inside an IPv6 extension header",
	wire.ErrIPv6OptionOverrun:      "an IPv6 option goes past the end of its header",
	wire.ErrTruncatedUDP:           "the packet ends inside the UDP header",
	wire.ErrTruncatedTCP:           "the packet ends inside the TCP header",
	wire.ErrTCPDataOffset:          "the TCP data offset is too small for the header",
	wire.ErrTruncatedTCPOptions:    "the packet ends inside the TCP options",
	wire.ErrTruncatedSCTP:          "the packet ends inside the SCTP header",
	wire.ErrTruncatedICMP:          "the packet ends inside the ICMP header",
	wire.ErrTruncatedGRE:           "the packet ends inside the GRE header",
	wire.ErrGREVersion:             "the GRE version is not 0",
	wire.ErrGRERouting:             "the GRE header has the routing bit of RFC 1701",
	wire.ErrTruncatedVXLAN:         "the packet ends inside the VXLAN header",
	wire.ErrVXLANGPEVersion:        "the VXLAN-GPE version is not 0",
	wire.ErrTruncatedGeneve:        "the packet ends inside the Geneve header or its options",
	wire.ErrGeneveVersion:          "the Geneve version is not 0",
	wire.ErrGeneveOptionOverrun:    "a Geneve option goes past the end of the options",
	wire.ErrTruncatedNSH:           "the packet ends inside the NSH",
	wire.ErrNSHVersion:             "the NSH version is not 0",
	wire.ErrNSHLength:              "the NSH length is too small for the header",

	wire.ErrTruncatedShim:            "the packet ends inside the INT shim",
	wire.ErrShimLengthOverrun:        "the shim's Length goes past the end of the packet",
	wire.ErrINTHeaderTruncated:       "the shim's Length leaves no room for the INT header",
	wire.ErrUnknownINTType:           "the INT type is not one of hop-by-hop or MD, destination, MX",
	wire.ErrUnknownINTVersion:        "the INT header is of no known version",
	wire.ErrUnknownNPT:               "NPT does not go with the way INT was marked",
	wire.ErrInstructionCountMismatch: "Instruction Count is not the number of bits in the bitmap",
	wire.ErrBOSBeforeBottom:          "the bottom of stack bit is set before the last word",
	wire.ErrBOSMissing:               "the bottom of stack bit is not set in the last word",
	wire.ErrTotalHopCountExceedsMax:  "Total Hop Count is larger than Max Hop Count",
	wire.ErrHopMLMismatch:            "Hop ML is not the length of what the bitmap asks for",
	wire.ErrStackNotMultiple:         "the stack is not a whole number of hops",
	wire.ErrStackLengthMismatch:      "the stack is not as long as the hop count says",
	wire.ErrSourceOnlyTruncated:      "the stack is too short for the source-only metadata",
	wire.ErrTailMissing:              "there is no room for the tail header",
	wire.ErrINTMarkConflict:          "two marks announce INT at once",

	wire.ErrUnknownVersion:         "the version is not known",
	wire.ErrTruncatedFixedHeader:   "the packet ends inside the fixed header of the report",
	wire.ErrTruncatedDropHeader:    "the packet ends inside the drop header",
	wire.ErrTruncatedLocalHeader:   "the packet ends inside the switch local header",
	wire.ErrUnknownNProto:          "NProto is not one of Ethernet, drop header, switch local header",
	wire.ErrLengthBelowFixedHeader: "Length is smaller than the fixed header of the report",
	wire.ErrLengthBelowBitmap:      "Length is smaller than what RepMdBits ask for",
	wire.ErrLengthOverrun:          "Length goes past the end of the packet",
	wire.ErrTruncatedGroupHeader:   "the packet ends inside the group header",
	wire.ErrNoReport:               "there is no report behind the group header",
	wire.ErrReportLengthOverrun:    "Report Length goes past the end of the packet",
	wire.ErrINTContentsMissing:     "Report Length leaves no room for the INT main contents",
	wire.ErrMDLengthExceedsReport:  "MD Length goes past the end of the report",
	wire.ErrMDLengthBelowBitmap:    "MD Length is smaller than what RepMdBits ask for",
	wire.ErrTLVOverrun:             "a TLV goes past the end of the report",
	wire.ErrTooManyReports:         "there are more reports than a sane packet has",
	wire.ErrTruncatedTSReport:      "the packet ends inside the report of a Transparent Security program",

	wire.ErrTruncatedIOAM:        "the IOAM option ends before its data",
	wire.ErrIOAMNodeLenZero:      "NodeLen is 0",
	wire.ErrIOAMNodeLenMismatch:  "NodeLen is not the length of what the trace type asks for",
	wire.ErrIOAMRemainingLen:     "RemainingLen is larger than the data space",
	wire.ErrIOAMNodesNotMultiple: "the data space is not a whole number of nodes",
	wire.ErrIOAMSnapshotOverrun:  "an opaque state snapshot goes past the end of the option",
	wire.ErrIOAMShimLength:       "the IOAM header length goes past the end of the packet or does not cover the shim",
	wire.ErrUnknownIOAMType:      "the IOAM option type is not known",
	wire.ErrTruncatedIFA:         "the packet ends inside the IFA header",
	wire.ErrIFAVersion:           "the IFA version is not 2",
	wire.ErrIFALengthExceedsMax:  "Current Length is larger than Max Length",
	wire.ErrIFAStackTruncated:    "Current Length goes past the end of the packet",
}
