// Package wire names the reasons why received bytes break a rule of a format.
//
// Its subpackages hold the formats themselves: packet (what carries INT), inband (INT headers), report (telemetry
// reports), ioam and ifa. They import nothing but the standard library and each other, downwards.
package wire

// An Error is the reason why bytes break a rule of a format. Its name is the error code that JSON output, counters and
// documents use. Errors are small numbers, so that a receiver counts them in an array and returning one never
// allocates.
type Error uint8

// To add a reason: 1. a constant here, 2. its code in errorCodes, 3. its text in wire/dissect/errortext.go, 4. a row in
// docs/reference/errors.md.
const (
	_ Error = iota

	// Packets.
	ErrTruncatedEthernet
	ErrTruncatedVLAN
	ErrTruncatedMPLS
	ErrTruncatedIPv4
	ErrIPv4Version
	ErrIPv4HeaderLength
	ErrTruncatedIPv6
	ErrIPv6Version
	ErrTruncatedIPv6Extension
	ErrIPv6OptionOverrun
	ErrTruncatedUDP
	ErrTruncatedTCP
	ErrTCPDataOffset
	ErrTruncatedTCPOptions
	ErrTruncatedSCTP
	ErrTruncatedICMP
	ErrTruncatedGRE
	ErrGREVersion
	ErrGRERouting
	ErrTruncatedVXLAN
	ErrVXLANGPEVersion
	ErrTruncatedGeneve
	ErrGeneveVersion
	ErrGeneveOptionOverrun
	ErrTruncatedNSH
	ErrNSHLength
	ErrNSHVersion

	// In-band telemetry.
	ErrTruncatedShim
	ErrShimLengthOverrun
	ErrINTHeaderTruncated
	ErrUnknownINTType
	ErrUnknownINTVersion
	ErrUnknownNPT
	ErrInstructionCountMismatch
	ErrBOSBeforeBottom
	ErrBOSMissing
	ErrTotalHopCountExceedsMax
	ErrHopMLMismatch
	ErrStackNotMultiple
	ErrStackLengthMismatch
	ErrSourceOnlyTruncated
	ErrTailMissing
	ErrINTMarkConflict

	// Telemetry reports.
	ErrUnknownVersion
	ErrTruncatedFixedHeader
	ErrTruncatedDropHeader
	ErrTruncatedLocalHeader
	ErrUnknownNProto
	ErrLengthBelowFixedHeader
	ErrLengthBelowBitmap
	ErrLengthOverrun
	ErrTruncatedGroupHeader
	ErrNoReport
	ErrReportLengthOverrun
	ErrINTContentsMissing
	ErrMDLengthExceedsReport
	ErrMDLengthBelowBitmap
	ErrTLVOverrun
	ErrTooManyReports
	ErrTruncatedTSReport

	// IOAM and IFA.
	ErrTruncatedIOAM
	ErrIOAMNodeLenZero
	ErrIOAMNodeLenMismatch
	ErrIOAMRemainingLen
	ErrIOAMNodesNotMultiple
	ErrIOAMSnapshotOverrun
	ErrIOAMShimLength
	ErrUnknownIOAMType
	ErrTruncatedIFA
	ErrIFAVersion
	ErrIFALengthExceedsMax
	ErrIFAStackTruncated

	// sFlow, NetFlow and IPFIX.
	ErrSampleHeader
	ErrSampleRecord

	// NumErrors is the length of an array that counts every Error.
	NumErrors
)

var errorCodes = [NumErrors]string{
	ErrTruncatedEthernet:      "truncated_ethernet",
	ErrTruncatedVLAN:          "truncated_vlan",
	ErrTruncatedMPLS:          "truncated_mpls",
	ErrTruncatedIPv4:          "truncated_ipv4",
	ErrIPv4Version:            "ipv4_version",
	ErrIPv4HeaderLength:       "ipv4_header_length",
	ErrTruncatedIPv6:          "truncated_ipv6",
	ErrIPv6Version:            "ipv6_version",
	ErrTruncatedIPv6Extension: "truncated_ipv6_extension",
	ErrIPv6OptionOverrun:      "ipv6_option_overrun",
	ErrTruncatedUDP:           "truncated_udp",
	ErrTruncatedTCP:           "truncated_tcp",
	ErrTCPDataOffset:          "tcp_data_offset",
	ErrTruncatedTCPOptions:    "truncated_tcp_options",
	ErrTruncatedSCTP:          "truncated_sctp",
	ErrTruncatedICMP:          "truncated_icmp",
	ErrTruncatedGRE:           "truncated_gre",
	ErrGREVersion:             "gre_version",
	ErrGRERouting:             "gre_routing",
	ErrTruncatedVXLAN:         "truncated_vxlan",
	ErrVXLANGPEVersion:        "vxlan_gpe_version",
	ErrTruncatedGeneve:        "truncated_geneve",
	ErrGeneveVersion:          "geneve_version",
	ErrGeneveOptionOverrun:    "geneve_option_overrun",
	ErrTruncatedNSH:           "truncated_nsh",
	ErrNSHLength:              "nsh_length",
	ErrNSHVersion:             "nsh_version",

	ErrTruncatedShim:            "truncated_shim",
	ErrShimLengthOverrun:        "shim_length_overrun",
	ErrINTHeaderTruncated:       "int_header_truncated",
	ErrUnknownINTType:           "unknown_int_type",
	ErrUnknownINTVersion:        "unknown_int_version",
	ErrUnknownNPT:               "unknown_npt",
	ErrInstructionCountMismatch: "instruction_count_mismatch",
	ErrBOSBeforeBottom:          "bos_before_bottom",
	ErrBOSMissing:               "bos_missing",
	ErrTotalHopCountExceedsMax:  "total_hop_count_exceeds_max",
	ErrHopMLMismatch:            "hop_ml_mismatch",
	ErrStackNotMultiple:         "stack_not_multiple",
	ErrStackLengthMismatch:      "stack_length_mismatch",
	ErrSourceOnlyTruncated:      "source_only_truncated",
	ErrTailMissing:              "tail_missing",
	ErrINTMarkConflict:          "int_mark_conflict",

	ErrUnknownVersion:         "unknown_version",
	ErrTruncatedFixedHeader:   "truncated_fixed_header",
	ErrTruncatedDropHeader:    "truncated_drop_header",
	ErrTruncatedLocalHeader:   "truncated_local_header",
	ErrUnknownNProto:          "unknown_nproto",
	ErrLengthBelowFixedHeader: "length_below_fixed_header",
	ErrLengthBelowBitmap:      "length_below_bitmap",
	ErrLengthOverrun:          "length_overrun",
	ErrTruncatedGroupHeader:   "truncated_group_header",
	ErrNoReport:               "no_report",
	ErrReportLengthOverrun:    "report_length_overrun",
	ErrINTContentsMissing:     "int_contents_missing",
	ErrMDLengthExceedsReport:  "md_length_exceeds_report",
	ErrMDLengthBelowBitmap:    "md_length_below_bitmap",
	ErrTLVOverrun:             "tlv_overrun",
	ErrTooManyReports:         "too_many_reports",
	ErrTruncatedTSReport:      "truncated_ts_report",

	ErrTruncatedIOAM:        "truncated_ioam",
	ErrIOAMNodeLenZero:      "ioam_node_len_zero",
	ErrIOAMNodeLenMismatch:  "ioam_node_len_mismatch",
	ErrIOAMRemainingLen:     "ioam_remaining_len",
	ErrIOAMNodesNotMultiple: "ioam_nodes_not_multiple",
	ErrIOAMSnapshotOverrun:  "ioam_snapshot_overrun",
	ErrIOAMShimLength:       "ioam_shim_length",
	ErrUnknownIOAMType:      "unknown_ioam_type",
	ErrTruncatedIFA:         "truncated_ifa",
	ErrIFAVersion:           "ifa_version",
	ErrIFALengthExceedsMax:  "ifa_length_exceeds_max",
	ErrIFAStackTruncated:    "ifa_stack_truncated",

	ErrSampleHeader: "sample_header",
	ErrSampleRecord: "sample_record",
}

// Error returns the error code, for example "hop_ml_mismatch".
func (e Error) Error() string {
	if e == 0 || e >= NumErrors {
		return "unknown_error"
	}
	return errorCodes[e]
}
