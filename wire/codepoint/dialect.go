package codepoint

import (
	"fmt"
	"slices"
	"strings"
)

// Quirks are the ways in which a sender departs from the specification that it follows otherwise.
type Quirks uint32

// Each quirk names what the sender does; dialects (below) say who does it and docs/reference/dialects.md shows the
// bytes.
const (
	// QuirkReport05 takes every report of the source as v0.5, whatever its version nibble says.
	QuirkReport05 Quirks = 1 << iota
	// QuirkFlagsFirst: word 0 of a v1.0 report has D, Q, F before the reserved bits instead of behind them.
	QuirkFlagsFirst
	// QuirkTSReport: reports as the Transparent Security programs send them, not as their profile says.
	QuirkTSReport
	// QuirkNestedTLV: TLV type 0 of a v2.0 report holds a packet fragment.
	QuirkNestedTLV
	// QuirkShimCountsItself: Length of a 2.x shim includes the shim word.
	QuirkShimCountsItself
	// QuirkProtocolRestored: the IP header in a report already has the original protocol although the INT UDP header
	// is still there.
	QuirkProtocolRestored
	// QuirkWideTimestamps: timestamps of 8 bytes and level 2 interfaces of 2+2 bytes in INT 0.4 and 1.0.
	QuirkWideTimestamps
	// QuirkBitmapLow: the instruction bits 0-7 are written in bits 8-15 of the bitmap.
	QuirkBitmapLow
	// QuirkVersion2Bits: an INT 0.4 header, where Ver and Rep are 2 bits each and C, E stand at bits 4, 5.
	QuirkVersion2Bits
	// QuirkNibble3: instruction bits 0-3 of exactly 0011 add the hop latency and the egress timestamp.
	QuirkNibble3
	// QuirkCutStack: reports end inside the oldest hop record.
	QuirkCutStack
	// QuirkUnmarked: nothing announces INT; it follows the L4 header whenever a plausible shim is there.
	QuirkUnmarked
	// QuirkNoSequence: the sequence number of reports does not count, so losses cannot be seen.
	QuirkNoSequence
	// QuirkCopiedSwitchID: the switch id of the report header is that of the sink's stack record, and 0 where the
	// source did not ask for node ids.
	QuirkCopiedSwitchID
	// QuirkMirrorEgress: the sink's egress port in a report is that of the mirrored copy, not that of the packet.
	QuirkMirrorEgress
	// QuirkNoSinkIngress: the sink's ingress port in a report is 0, as the mirrored copy has none.
	QuirkNoSinkIngress
	// QuirkSinkLatency: the sink's hop latency in a report is not a latency.
	QuirkSinkLatency
	// QuirkNoReportTime: the ingress timestamp of the report header is not filled in.
	QuirkNoReportTime
	// QuirkNoPort511: port 511 says that there is no port.
	QuirkNoPort511
	// QuirkHostINT: NProto 3 and 4 of a v0.5 report and shim type 3 of INT 0.5 have the meaning that Host-INT gives
	// them, and the times of report headers are in seconds.
	QuirkHostINT
	// QuirkAlwaysTracked: reports hold embedded telemetry although F is 0.
	QuirkAlwaysTracked
	// QuirkShortLength: Length of a v1.0 report does not count the words behind the first, and v0.5 reports, whose
	// nibble is 1 too, have Length 0 in their shim.
	QuirkShortLength
	// QuirkShortL2: level 2 interfaces of 2+2 bytes in INT 1.0.
	QuirkShortL2
	// QuirkJanuary2018: the metadata of v1.0 reports have the bits of the proposal of January 2018.
	QuirkJanuary2018
	// QuirkDropTotals: the counters of drop reports go on from report to report; without it each counts since the last.
	QuirkDropTotals
	// QuirkPOSIXTime: the fraction of IOAM timestamps counts microseconds.
	QuirkPOSIXTime
)

// A Dialect says how one kind of sender departs from the specifications. It applies only to the sources that the
// configuration gives it to.
type Dialect struct {
	Name    string
	Aliases []string
	Summary string
	Quirks  Quirks
	// TimeUnit and LatencyUnit are the nanoseconds of one unit of the 32 bit timestamps and of the hop latency.
	TimeUnit, LatencyUnit uint64
	// QueueUnit is what its devices count the occupancy of queues in.
	QueueUnit QueueUnit
	// UtilizationUnit is what they tell the use of egress ports in: HundredthsOfPercent or unknown.
	UtilizationUnit UtilizationUnit
	// DepthAtEgress: the occupancy is that when the packet left the queue, not when it came (bmv2's deq_qdepth).
	DepthAtEgress bool
	// DropReasons names the table of drop reason numbers, as report.ReasonTable knows it; empty: unknown numbers.
	DropReasons string
	points      func(*Points)
}

// Has reports whether the dialect has any of the quirks.
func (d *Dialect) Has(q Quirks) bool { return d.Quirks&q != 0 }

const (
	nanosecond  = 1
	microsecond = 1000
)

// Specification is the dialect of a sender that does what the specifications say, with times in nanoseconds.
var Specification = &Dialect{
	Name: "spec", Summary: "as the specifications say; times in ns", TimeUnit: nanosecond,
	LatencyUnit: nanosecond,
}

// To add a dialect: 1. a quirk above for each departure that no other sender has, and its use in wire/dissect and
// telemetry, 2. an entry here, 3. its section in docs/reference/dialects.md with the bytes that prove it, 4. a capture
// or vector in the tests.

// Dialects lists every dialect that a source can be given, by name.
var Dialects = []*Dialect{
	{
		Name:     "amlight",
		Summary:  "AmLight: v1.0 reports with INT 1.0 inside although F is 0, DSCP 0x17",
		Quirks:   QuirkAlwaysTracked,
		TimeUnit: nanosecond, LatencyUnit: nanosecond,
		points: func(p *Points) { p.INTDSCP, p.INTDSCPMask = 0x17, 0x3f },
	},
	{
		Name: "dtel", Aliases: []string{"switch-p4-16"},
		Summary:  "SONiC on Tofino (switch-p4-16): its own drop reasons, port 511 for none, times in ns",
		Quirks:   QuirkNoPort511,
		TimeUnit: nanosecond, LatencyUnit: nanosecond, DropReasons: "switch-p4-16",
	},
	{
		Name:     "fabric-tna",
		Summary:  "SD-Fabric on Tofino: postcards in v0.5 reports, its own drop reasons, times in ns",
		TimeUnit: nanosecond, LatencyUnit: nanosecond, QueueUnit: UnitCells, DropReasons: "fabric-tna",
	},
	{
		Name:     "fabric-tna-bmv2",
		Summary:  "SD-Fabric on bmv2: as fabric-tna, times in us",
		TimeUnit: microsecond, LatencyUnit: microsecond, QueueUnit: UnitPackets, DropReasons: "fabric-tna",
	},
	{
		Name:    "geant-int04",
		Summary: "GEANT INT 0.4 (2021): 2 bit version, bitmap in the low byte, 8 byte timestamps, DSCP 0x20",
		Quirks: QuirkWideTimestamps | QuirkBitmapLow | QuirkVersion2Bits | QuirkNibble3 | QuirkMirrorEgress |
			QuirkNoSinkIngress | QuirkSinkLatency | QuirkNoReportTime | QuirkCopiedSwitchID,
		TimeUnit: nanosecond, LatencyUnit: microsecond, QueueUnit: UnitPackets,
		points: geantPoints,
	},
	{
		Name:    "geant-int10",
		Summary: "GEANT INT 1.0 (2022): 8 byte timestamps, DSCP 0x20",
		Quirks: QuirkWideTimestamps | QuirkNibble3 | QuirkMirrorEgress | QuirkSinkLatency | QuirkNoReportTime |
			QuirkCopiedSwitchID,
		TimeUnit: nanosecond, LatencyUnit: microsecond, QueueUnit: UnitPackets,
		points: geantPoints,
	},
	{
		Name:    "geant-int10-2021",
		Summary: "GEANT INT 1.0 (2021): as geant-int10, bitmap in the low byte",
		Quirks: QuirkWideTimestamps | QuirkBitmapLow | QuirkNibble3 | QuirkMirrorEgress | QuirkSinkLatency |
			QuirkNoReportTime | QuirkCopiedSwitchID,
		TimeUnit: nanosecond, LatencyUnit: microsecond, QueueUnit: UnitPackets,
		points: geantPoints,
	},
	{
		Name:     "host-int",
		Summary:  "Intel Host-INT: v0.5 reports of hosts with INT 0.5 and gaps of flows, report times in s",
		Quirks:   QuirkHostINT,
		TimeUnit: nanosecond, LatencyUnit: nanosecond, DropReasons: "host-int",
		points: func(p *Points) {
			p.INTDSCP, p.INTDSCPMask, p.INTBeforeTCPOptions, p.FormatVersion0 = 0x01, 0x01, true, Version0INT05
		},
	},
	{
		Name:     "int-host-reporter",
		Summary:  "int-host-reporter: v0.5 reports of hosts, its own drop reasons, times in ns",
		TimeUnit: nanosecond, LatencyUnit: nanosecond, DropReasons: "int-host-reporter",
	},
	{
		Name:     "intcollector",
		Summary:  "the generators of INTCollector and GEANT: v1.0 and v0.5 reports with nibble 1, unmarked INT of version 0",
		Quirks:   QuirkShortLength | QuirkShortL2 | QuirkUnmarked,
		TimeUnit: nanosecond, LatencyUnit: nanosecond,
	},
	{
		Name:     "january-2018",
		Summary:  "v1.0 reports with the metadata bits of the proposal of January 2018, drop reasons of p4lang/switch",
		Quirks:   QuirkJanuary2018,
		TimeUnit: nanosecond, LatencyUnit: nanosecond, DropReasons: "p4lang-switch",
	},
	{
		Name:     "linux-ioam",
		Summary:  "reports about packets with IOAM of the Linux kernel: timestamp fractions in us",
		Quirks:   QuirkPOSIXTime,
		TimeUnit: nanosecond, LatencyUnit: nanosecond, QueueUnit: UnitBytes,
	},
	{
		Name:     "montimage-int10",
		Summary:  "Montimage: the INT 1.0 layout with version 2 and 8 byte timestamps, unmarked",
		Quirks:   QuirkWideTimestamps | QuirkUnmarked,
		TimeUnit: nanosecond, LatencyUnit: microsecond, QueueUnit: UnitPackets,
	},
	{
		Name:     "onos-int04",
		Summary:  "ONOS fabric.p4: INT 0.4 with DSCP bit 0x01, v0.5 reports that never count, times in us",
		Quirks:   QuirkVersion2Bits | QuirkNoSequence | QuirkMirrorEgress,
		TimeUnit: microsecond, LatencyUnit: microsecond, QueueUnit: UnitPackets, DepthAtEgress: true,
		points: func(p *Points) {
			p.INTDSCP, p.INTDSCPMask, p.INTBeforeTCPOptions, p.FormatVersion0 = 0x01, 0x01, true, Version0INT05
		},
	},
	{
		Name:     "onos-int10-ver0",
		Summary:  "ONOS int.p4: INT 1.0 with version 0 and DSCP 0x17, v1.0 reports that never count, times in us",
		Quirks:   QuirkFlagsFirst | QuirkCutStack | QuirkNoSequence | QuirkMirrorEgress,
		TimeUnit: microsecond, LatencyUnit: microsecond, QueueUnit: UnitPackets, DepthAtEgress: true,
		points: func(p *Points) {
			p.INTDSCP, p.INTDSCPMask, p.INTBeforeTCPOptions, p.FormatVersion0 = 0x17, 0x3f, true, Version0INT10
		},
	},
	{
		Name:     "p4lang-switch",
		Summary:  "p4lang/switch: INT of June 2016 over VXLAN-GPE, its own drop reasons, times in ns",
		TimeUnit: nanosecond, LatencyUnit: nanosecond, DropReasons: "p4lang-switch",
		points: func(p *Points) { p.GPENextProtocol5 = GPE5INT2016 },
	},
	{
		Name:     "report05",
		Summary:  "v0.5 reports with another version nibble",
		Quirks:   QuirkReport05,
		TimeUnit: nanosecond, LatencyUnit: nanosecond,
	},
	{
		Name: "tps", Aliases: []string{"transparent-security"},
		Summary:  "the Transparent Security programs: INT 2.1 on UDP 555, reports on UDP 556 with wrong lengths",
		Quirks:   tpsQuirks | QuirkDropTotals,
		TimeUnit: nanosecond, LatencyUnit: nanosecond, DropReasons: "transparent-security",
		points: func(p *Points) { p.INTUDPPort = 555 },
	},
	{
		Name:     "tps-delta",
		Summary:  "as tps, with a controller whose drop reports count since the last report",
		Quirks:   tpsQuirks,
		TimeUnit: nanosecond, LatencyUnit: nanosecond, DropReasons: "transparent-security",
		points: func(p *Points) { p.INTUDPPort = 555 },
	},
	{
		Name:     "ts-nested-tlv",
		Summary:  "the nested TLV draft of Transparent Security: several fragments in TLVs of type 0",
		Quirks:   QuirkNestedTLV,
		TimeUnit: nanosecond, LatencyUnit: nanosecond,
	},
	{
		Name:     "waybill",
		Summary:  "Waybill's own nodes: as the specifications say, its own drop reasons",
		TimeUnit: nanosecond, LatencyUnit: nanosecond, QueueUnit: UnitBytes, UtilizationUnit: HundredthsOfPercent,
		DropReasons: "waybill-fabric",
	},
	Specification,
}

const tpsQuirks = QuirkTSReport | QuirkShimCountsItself | QuirkProtocolRestored | QuirkNoSequence

func geantPoints(p *Points) {
	p.INTDSCP, p.INTDSCPMask, p.INTBeforeTCPOptions = 0x20, 0x3f, true
	p.FormatVersion0 = Version0INT05
}

// FindDialect returns the dialect of that name or alias.
func FindDialect(name string) (*Dialect, error) {
	names := make([]string, len(Dialects))
	for i, d := range Dialects {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, nil
		}
		names[i] = d.Name
	}
	return nil, fmt.Errorf("unknown dialect %q; known are %s", name, strings.Join(names, ", "))
}
