package main

// A rule is something that a specification asks of a node or a collector and that a test can hold.
type rule struct {
	id    int
	who   string // of roles
	level string // MUST, SHOULD, MAY, or own: the specifications are silent
	text  string
	from  string
	also  []string // tests that hold it under another name: package folder, dot, name
	not   string   // why it is not implemented; with a test it is empty
}

// A section is the rules that belong together.
type section struct {
	title string
	rules []rule
}

// To add a rule:
//
//  1. its row here, with the next number; numbers are never used again;
//  2. a test named TestR and the number in three digits, in the package that does it, or the reason in not;
//  3. go generate ./internal/conformance, which writes docs/reference/conformance.md.
var sections = []section{
	{"All nodes", []rule{
		{
			id: 1, who: "S", level: "MUST",
			text: "Start INT for packets that match the flow watchlist, and for no others",
			from: "INT 2.1 §2",
		},
		{
			id: 2, who: "K", level: "MUST", text: "Take out every INT header and stack: none leaves the domain",
			from: "INT 2.1 §2, §5.2.3",
		},
		{
			id: 3, who: "S T K", level: "MUST",
			text: "One way of marking in a domain (port, DSCP or marker); no packet is marked in two",
			from: "INT 1.0 §4.6.1, INT 2.1 §5.7.2",
		},
		{
			id: 4, who: "S", level: "MUST",
			text: "A packet without INT never enters with the DSCP value of INT; a user's value that would look like it is rewritten", from: "INT 1.0 §4.6.1, INT 2.1 §5.7.2",
		},
		{
			id: 5, who: "S T K", level: "MUST",
			text: "Choose the traffic class without the DSCP bits that belong to INT",
			from: "INT 1.0 §4.6.1, INT 2.1 §5.7.2",
		},
		{
			id: 6, who: "T", level: "MUST",
			text: "Leave destination headers alone, and behind the header that is processed hop by hop",
			from: "INT 2016 §4.1, INT 2.1 §5.1",
		},
		{
			id: 7, who: "S", level: "MUST",
			text: "The header for all hops comes before the one for the destination; MD and MX are never both there",
			from: "INT 2.1 §5.1",
		},
		{
			id: 8, who: "S", level: "SHOULD", text: "Reserved bits are sent as zero (a must in 1.0 and 2.0)",
			from: "INT 2.1 §5.8",
		},
		{
			id: 9, who: "T", level: "MUST",
			text: "Forward reserved bits, instructions, Hop ML and the domain's fields as they came",
			from: "INT 2.1 §5.2.2",
		},
		{
			id: 10, who: "S T K", level: "MUST", text: "Never fragment a packet to get room for INT",
			from: "INT 1.0 §4.3, INT 2.1 §5.3",
		},
		{
			id: 11, who: "S T K", level: "MUST",
			text: "Every length field counts what was inserted or removed, and the IPv4 header checksum is right",
			from: "INT 2.1 §5.7",
		},
		{
			id: 12, who: "S T K", level: "MUST",
			text: "INT is on the same side of the TCP options in the whole domain (0.5: behind them)",
			from: "INT 1.0 §4.6.1",
		},
		{
			id: 13, who: "S", level: "SHOULD",
			text: "No INT for traffic without congestion control unless the operator allows it; there is a filter by protocol and port", from: "INT 2.1 §5.4",
		},
	}},
	{"Source", []rule{
		{
			id: 14, who: "S", level: "MUST",
			text: "Fill version, flags, Hop ML, Remaining Hop Count and instructions; E is 0", from: "INT 2.1 §5.8",
		},
		{
			id: 15, who: "S", level: "MUST",
			text: "Hop ML counts the words that every hop adds, per-hop domain data included, source-only data not; at most 31", from: "INT 2.1 §5.8",
		},
		{
			id: 16, who: "S", level: "MUST",
			text: "Remaining Hop Count starts at the maximum, less one if the source adds a record of its own",
			from: "INT 1.0 §4.7, INT 2.1 §5.8",
		},
		{
			id: 17, who: "S", level: "MUST",
			text: "2016 and 0.5: Total Hop Count and C start at 0, Instruction Count is the number of set bits",
			from: "INT 2016 §5.3.3",
		},
		{
			id: 18, who: "S", level: "MUST",
			text: "Source-only data are at the bottom of the stack, counted by the carrier and not by Hop ML",
			from: "INT 2.1 §5.8",
		},
		{
			id: 19, who: "S", level: "MUST", text: "Do not start INT if its fixed headers exceed the MTU",
			from: "INT 2.1 §5.3",
		},
		{
			id: 20, who: "S", level: "MUST",
			text: "If only the source's record exceeds the MTU, start without it and set M", from: "INT 2.1 §5.3",
		},
		{
			id: 21, who: "S", level: "MUST",
			text: "The shim keeps what INT has replaced: DSCP, destination port or IP protocol",
			from: "INT 2.1 §5.7.2",
		},
		{
			id: 22, who: "S", level: "SHOULD",
			text: "A new UDP header has a source port that is a hash of the flow, and no checksum",
			from: "INT 2.1 §5.7.2",
		},
		{
			id: 23, who: "S", level: "MUST",
			text: "G says that the source brought the GRE header along, or made VXLAN-GPE of VXLAN",
			from: "INT 2.1 §5.7.1, §5.7.3",
		},
		{
			id: 24, who: "S", level: "MUST", text: "Geneve: no more hops than fit in an option of 124 bytes",
			from: "INT 1.0 §4.6.3, INT 2.1 §5.7.4",
		},
		{
			id: 25, who: "S", level: "own",
			text: "Other carriers: no more hops than the 8 bits of the shim's Length can count",
			from: "the width of Length, INT 2.1 §5.7",
		},
		{
			id: 26, who: "S", level: "MUST", text: "Clones and probes that the host must not see carry D",
			from: "INT 2.1 §3.2",
		},
		{
			id: 27, who: "S", level: "MUST", text: "Ask for the checksum complement only where the domain allows it",
			from: "INT 1.0 §4.5",
		},
	}},
	{"Transit", []rule{
		{
			id: 28, who: "T", level: "MUST",
			text: "The record stands directly behind the INT header: values in the order of the bits, domain data, complement", from: "INT 2.1 §5.8",
		},
		{
			id: 29, who: "T", level: "MUST", text: "A record is as long as the header says, or there is none",
			from: "INT 2016 §5.3.3, INT 2.1 §5.8",
		},
		{
			id: 30, who: "T", level: "MUST", text: "Without room for a whole record add nothing and do not count",
			from: "INT 2.1 §5.8",
		},
		{id: 31, who: "T", level: "MUST", text: "Count the hop exactly when a record was added", from: "INT 2.1 §5.8"},
		{id: 32, who: "T", level: "MUST", text: "At the hop limit add nothing and set E", from: "INT 2.1 §5.8"},
		{
			id: 33, who: "T", level: "MUST", text: "A value that the node does not have is all ones",
			from: "INT 2016 §5.3.3, INT 2.1 §5.8",
		},
		{
			id: 34, who: "T", level: "MUST", text: "For a reserved instruction 4 bytes of ones, or no record at all",
			from: "INT 1.0 §4.7, INT 2.1 §5.8",
		},
		{
			id: 35, who: "T", level: "MUST",
			text: "For the data of a domain that the node does not know all ones, or no record",
			from: "INT 2.0 §5.7, INT 2.1 §5.8",
		},
		{
			id: 36, who: "T", level: "MUST",
			text: "Instructions that the node cannot execute still get their words, all ones",
			from: "INT 1.0 §4.7, INT 2.1 §5.8",
		},
		{
			id: 37, who: "T", level: "MUST",
			text: "If the record exceeds the MTU, add nothing and set M (or do as R-38)",
			from: "INT 1.0 §4.3, INT 2.1 §5.3",
		},
		{
			id: 38, who: "T", level: "MAY",
			text: "2.1: report the stack so far, take it out, and put the own record in the report or in the packet, not in both", from: "INT 2.1 §5.3",
		},
		{
			id: 39, who: "T", level: "own",
			text: "After that the header stays, the length counts what is left, and the hop counts only if its record is in the packet", from: "follows from INT 2.1 §5.3, §5.8",
		},
		{id: 40, who: "T", level: "MUST", text: "Never clear E, M or D", from: "follows from INT 2.1 §5.8"},
		{
			id: 41, who: "T", level: "MUST",
			text: "2016: only the first record on an empty stack gets the bottom of stack bit; older ones are not touched", from: "INT 2016 §5.3.3",
		},
		{
			id: 42, who: "T", level: "MAY", text: "Up to 1.0: replicate to the ports that Rep asks for, with C in the copies only",
			from: "INT 2016 §5.3.3, INT 1.0 §4.7",
		},
		{
			id: 43, who: "T", level: "MUST",
			text: "2016, 0.5: a node that is too slow for the packet sends a follow-up packet, which triggers nothing on its way; the sink reports its metadata", from: "INT 2016 §4.2",
		},
		{id: 44, who: "T", level: "MAY", text: "Change DS Flags", from: "INT 2.1 §5.2.2"},
		{id: 45, who: "T", level: "MUST", text: "MX: the packet keeps its size", from: "INT 2.1 §3.1, §5.9"},
		{
			id: 46, who: "T", level: "MUST", text: "Forward unknown versions and types as they are",
			from: "follows from the version field",
		},
	}},
	{"Checksums", []rule{
		{
			id: 47, who: "S T K", level: "MUST", text: "No UDP checksum stays no UDP checksum",
			from: "INT 1.0 §4.5, INT 2.1 §5.6",
		},
		{
			id: 48, who: "S T K", level: "MUST",
			text: "All others are right when the packet leaves, by an update or by the complement (0.5: if the domain wants it)", from: "INT 0.5 §5.3.1, INT 2.1 §5.6",
		},
		{
			id: 49, who: "T", level: "MUST", text: "Whoever updates the checksum writes all ones as complement",
			from: "INT 2.1 §5.6",
		},
		{id: 50, who: "K", level: "MUST", text: "Update the checksum, never a complement", from: "INT 2.1 §5.6"},
		{
			id: 51, who: "S T K", level: "SHOULD",
			text: "Update incrementally, so that a packet that was damaged before stays recognisable",
			from: "INT 2.1 §5.6, RFC 1624",
		},
		{
			id: 52, who: "S T K", level: "MUST", text: "A UDP checksum that comes out as 0 is sent as all ones",
			from: "RFC 768",
		},
		{
			id: 53, who: "S K", level: "own",
			text: "Behind a new UDP header the checksum of the original packet is not touched", from: "INT 2.1 §5.7.2",
		},
	}},
	{"Sink", []rule{
		{
			id: 54, who: "K", level: "MUST",
			text: "Restore the destination port, or the IP protocol without the UDP header of INT",
			from: "INT 2.1 §5.7.2",
		},
		{
			id: 55, who: "K", level: "MAY", text: "Restore the DSCP; the mark of INT never leaves",
			from: "INT 1.0 §4.6.1",
		},
		{
			id: 56, who: "K", level: "MUST", text: "G: take the GRE header out with INT, make VXLAN of VXLAN-GPE again",
			from: "INT 2.1 §5.7.1, §5.7.3",
		},
		{
			id: 57, who: "K", level: "MUST", text: "Discard packets with D after reading them",
			from: "INT 2.1 §5.8, §5.9",
		},
		{
			id: 58, who: "K", level: "MUST", text: "Up to 1.0: discard copies (C) after reading them",
			from: "INT 2016 §5.3.3",
		},
		{
			id: 59, who: "K", level: "MAY", text: "Put the own record on the stack or into the report",
			from: "INT 2.1 §5.8",
		},
		{
			id: 60, who: "K", level: "MUST",
			text: "In the report: the bits that were asked for, without node id, complement, and what is not available",
			from: "INT 2.1 §5.8",
		},
		{
			id: 61, who: "K", level: "own",
			text: "Malformed INT: remove what the length covers, or drop; never deliver INT as payload",
			from: "follows from R-2",
		},
		{
			id: 62, who: "K", level: "SHOULD",
			text: "Notice hops without INT: the TTL has fallen by more than the hop count",
			from: "INT 1.0 §4.2, INT 2.1 §5.1",
		},
	}},
	{"Reports", []rule{
		{id: 63, who: "N", level: "MUST", text: "The source address identifies the node", from: "TR 2.0 §3.1"},
		{
			id: 64, who: "N", level: "MUST",
			text: "IPv4: do not fragment, or an identification that does not repeat too soon", from: "TR 0.5-2.0 §3.1",
		},
		{
			id: 65, who: "N", level: "MAY",
			text: "The UDP source port varies with the flow; otherwise 0, in the final 2.0 as configured",
			from: "TR 0.5-2.0 §3.1.1",
		},
		{
			id: 66, who: "N", level: "MUST", text: "The destination port is configurable, one for all reports",
			from: "TR 0.5-2.0 §3.1.1",
		},
		{
			id: 67, who: "N", level: "MUST", text: "A sequence of its own for each subsystem and destination",
			from: "TR 2.0 §3.2",
		},
		{
			id: 68, who: "N", level: "MUST", text: "One more for each datagram sent, lost ones included; 32 or 22 bits",
			from: "TR 2.0 §3.2",
		},
		{
			id: 69, who: "N", level: "MUST", text: "D, Q and F say what happened, in any combination",
			from: "TR 2.0 §3.3",
		},
		{
			id: 70, who: "N", level: "MUST",
			text: "F if a flow watchlist matched or telemetry is embedded, otherwise not",
			from: "TR 2.0 §3.4",
		},
		{id: 71, who: "T", level: "MUST", text: "I in intermediate reports of INT-MD only", from: "TR 2.0 §3.3"},
		{id: 72, who: "N", level: "MUST", text: "Bitmaps and MD Length agree", from: "TR 2.0 §3.3.1"},
		{id: 73, who: "N", level: "MUST", text: "Inner Only has MD Length 0", from: "TR 2.0 §3.3"},
		{
			id: 74, who: "N", level: "MUST", text: "Reports in one datagram are of one subsystem and for one collector",
			from: "TR 2.0 §2.7",
		},
		{
			id: 75, who: "N", level: "own",
			text: "Collecting reports for a datagram is bounded in time, and by the MTU",
			from: "none",
		},
		{
			id: 76, who: "N", level: "MUST",
			text: "For a domain that the node does not know: no domain data, or no metadata of its own",
			from: "TR 2.0 §3.3.1",
		},
		{
			id: 77, who: "N", level: "MUST", text: "Values that are not available are left out, not sent as all ones",
			from: "TR 2.0 §3.3.1",
		},
		{
			id: 78, who: "N", level: "MUST", text: "Two reports of one packet have the same ingress timestamp",
			from: "TR 2.0 §3.4",
		},
		{
			id: 79, who: "N", level: "MUST", text: "The fragment begins with the header that the report says",
			from: "TR 0.5-2.0",
		},
		{
			id: 80, who: "N", level: "MUST",
			text: "Transparent Security: its domain, its size limit, source port 0, another port than INT",
			from: "Transparent Security",
		},
		{
			id: 81, who: "MX", level: "MUST", text: "Data that the source inserted are reported as their domain says",
			from: "INT 2.1 §5.9",
		},
		{id: 82, who: "XD", level: "MUST", text: "Leave the packet as it is", from: "INT 2.1 §3.1"},
	}},
	{"Collector", []rule{
		{
			id: 83, who: "C", level: "MUST", text: "All versions on one port, told apart by the first nibble",
			from: "the version field of TR 0.5-2.0",
		},
		{id: 84, who: "C", level: "MUST", text: "Without F look for no embedded telemetry", from: "TR 2.0 §3.4"},
		{
			id: 85, who: "C", level: "MUST",
			text: "The sink tells of itself in the stack, in the report or in a report of its own",
			from: "TR 2.0 §3.4, INT 2.1 §5.8", also: []string{"analyze.TestSinkMetadataInTheReport"},
		},
		{
			id: 86, who: "C", level: "SHOULD",
			text: "Loss from gaps, for each node and subsystem; late datagrams and restarts are told from it",
			from: "TR 2.0 §3.2", also: []string{"analyze/ledger.TestSequence", "analyze/ledger.TestSequenceConserves"},
		},
		{id: 87, who: "C", level: "MUST", text: "Ignore reserved bits, whatever they are", from: "all"},
		{
			id: 88, who: "C", level: "own",
			text: "A malformed report stops nothing and reads nothing outside of the datagram; what came before it counts", from: "none", also: []string{"telemetry.TestDecodeMalformed", "telemetry.TestDecodeDamagedVectors"},
		},
		{
			id: 89, who: "C", level: "MUST",
			text: "The stack of a dropped packet is its way up to the drop, the report is of the node that dropped it",
			from: "TR 2.0 §2.5",
		},
		{
			id: 90, who: "C", level: "MUST", text: "Reports are joined by flow, not by node id alone",
			from: "TR 2.0 §2.5",
		},
		{
			id: 91, who: "C", level: "SHOULD",
			text: "Intermediate reports are joined with the sink's: they have the older hops", from: "INT 2.1 §5.3",
			also: []string{"analyze.TestIntermediateReport"},
		},
		{id: 92, who: "C", level: "MUST", text: "All ones are no number, and enter no average", from: "INT 2.1 §5.8"},
		{
			id: 93, who: "C", level: "MUST", text: "Sequence numbers and short timestamps wrap",
			from: "the widths of the fields", also: []string{"analyze/ledger.TestSequence"},
		},
		{
			id: 94, who: "C", level: "own",
			text: "Departures from the specifications are read for configured sources only, and counted",
			from: "[Dialects](dialects.md)",
		},
	}},
	{"IOAM", []rule{
		{
			id: 95, who: "T", level: "MUST", text: "Add nothing to a trace of a namespace that the node does not know",
			from: "RFC 9197 §4.3",
		},
		{
			id: 96, who: "T", level: "MUST",
			text: "Without room for the record and its snapshot add nothing and set O; where O is set, add nothing",
			from: "RFC 9197 §4.4.1",
		},
		{
			id: 97, who: "T", level: "MUST",
			text: "The words of undefined trace type bits are all ones, or there is no record",
			from: "RFC 9197 §4.4.1",
		},
		{id: 98, who: "S", level: "MUST", text: "Undefined trace type bits and bit 23 are 0", from: "RFC 9197 §4.4.1"},
		{
			id: 99, who: "T", level: "MUST", text: "Pre-allocated trace: the packet keeps its size",
			from: "RFC 9197 §4.4",
		},
		{
			id: 100, who: "T", level: "MUST", text: "Direct export: the record is exported and the packet not changed",
			from: "RFC 9326 §3",
		},
	}},
	{"Transparent Security", []rule{
		{
			id: 101, who: "K", level: "MUST", text: "Report one in so many packets of tracked flows, from every one to one in thousands, as configured",
			from: "Transparent Security, sampling rate",
		},
		{
			id: 102, who: "C", level: "MUST", text: "A tracked flow tells by its source device id which device sent the packet, whatever its addresses are",
			from: "Transparent Security, tracked flows",
		},
		{
			id: 103, who: "C", level: "MUST", text: "A drop report tells by key and count what was mitigated where; its count is no packet of a flow",
			from: "Transparent Security, drop reports",
		},
	}},
	{"The proposal of January 2018", []rule{
		{
			id: 104, who: "C", level: "own",
			text: "RepBits are ports, queue, egress timestamp and drop reason, of sources that are configured so", from: "revised format of January 2018, [Dialects](dialects.md#january-2018)",
		},
	}},
	{"Carriers and follow-ups of June 2016", []rule{
		{
			id: 105, who: "S T K C", level: "MUST",
			text: "VXLAN-GPE: Next Protocol 5 announces INT with the P bit, or with the bit that the program has in its place",
			from: "INT 2016 §5.3.2, appendix 2", also: []string{"telemetry.TestDecodeGPE2016Flags"},
		},
		{
			id: 106, who: "C", level: "own",
			text: "The record of a follow-up packet has its place on the path of its packet, by the records below it; it is no packet of the flow",
			from: "follows from INT 2016 §4.2", also: []string{"analyze.TestFollowUps", "telemetry.TestDecodeFollowUp"},
		},
		{
			id: 107, who: "S", level: "MAY",
			text: "Geneve: where an option has no room for a record of all nodes, packets collect different sets of metadata",
			from: "INT 2016 §5.3.1",
		},
	}},
}
