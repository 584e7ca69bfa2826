// Package codepoint holds what the INT specifications leave to configuration: which port, DSCP value, marker or next
// protocol announces telemetry, how long domain-specific metadata is, and which source needs which dialect.
//
// Nothing here is guessed from packets. Without configuration only what the specifications name is active (Geneve class
// 0x0103, the VXLAN-GPE values of each INT version), so that user traffic is never taken for telemetry. The one
// exception are the report ports of known devices, by which captures are searched for reports; a collector has its own
// sockets.
//
// To add a code point: 1. a field in Points, 2. a row in keys (keys.go), 3. its use in wire/dissect and telemetry,
// 4. a row in docs/reference/code-points.md.
package codepoint

import (
	"slices"

	"github.com/waybill-int/waybill/wire/inband"
)

// GPE5 says what VXLAN-GPE Next Protocol 0x05 stands for; several programs claim it.
type GPE5 uint8

// Meanings of VXLAN-GPE Next Protocol 0x05.
const (
	GPE5None GPE5 = iota
	GPE5INT2016
	GPE5INT05
	GPE5IOAM
	GPE5MPLS
)

// Version0 says which layout an INT header with version nibble 0 has where the bytes do not tell.
type Version0 = inband.Version0

// Layouts of an INT header with version nibble 0.
const (
	Version0None    = inband.ZeroUnset
	Version0INT2016 = inband.ZeroIs2016
	Version0INT05   = inband.ZeroIs05
	Version0INT10   = inband.ZeroIs10
)

// A DSBit describes the metadata of one bit of DS Instruction in a domain.
type DSBit struct {
	Bytes      int  // a multiple of 4; 0: the bit is not assigned
	SourceOnly bool // only the source writes it, at the bottom of the stack; not counted in Hop ML
}

// A Domain lists the metadata of a Domain Specific ID, by DS Instruction bit (INT 2.1 §5.8).
type Domain [16]DSBit

// SourceOnlyBytes returns the length of the source-only metadata that instruction asks for, in bytes.
func (d *Domain) SourceOnlyBytes(instruction uint16) int { return d.bytes(instruction, true) }

// PerHopBytes returns the length of the metadata that every hop adds for instruction, in bytes.
func (d *Domain) PerHopBytes(instruction uint16) int { return d.bytes(instruction, false) }

func (d *Domain) bytes(instruction uint16, sourceOnly bool) int {
	n := 0
	for bit := range d {
		if instruction&(0x8000>>bit) != 0 && d[bit].SourceOnly == sourceOnly {
			n += d[bit].Bytes
		}
	}
	return n
}

// TSDomain is the Domain Specific ID of Transparent Security, "TS"; its bit 0 is the 8 byte source device id.
const TSDomain = 0x5453

// Points are the code points of one deployment, or of one source in it.
type Points struct {
	ReportPorts []uint16 // UDP destination ports of telemetry reports
	INTUDPPort  uint16   // UDP destination port that announces an INT 2.x shim with NPT 1 or 2; 0: none
	// DSCP value, under a mask, that announces an INT shim behind TCP or UDP; mask 0: none
	INTDSCP, INTDSCPMask uint8
	INTBeforeTCPOptions  bool     // INT stands between the fixed TCP header and its options (INT 1.0 §4.6.1)
	ProbeMarker          uint64   // first 8 bytes of an L4 payload that announce an INT shim; 0: none
	GREProtocol          uint16   // GRE Protocol Type of INT; 0: none
	GeneveClasses        []uint16 // Geneve option classes of INT
	GPENextProtocols     []uint8  // VXLAN-GPE Next Protocol values of INT 1.0 (0x08), 2.0 (0x80), 2.1 (0x82)
	GPENextProtocol5     GPE5
	GPEIOAMNextProtocol  uint8 // VXLAN-GPE Next Protocol of IOAM; 0: none
	FormatVersion0       Version0
	IFAProtocol          uint8 // IP protocol of IFA 2.0; 0: none
	Domains              map[uint16]*Domain
}

// KnownReportPorts are the UDP destination ports that devices are known to send telemetry reports to: Transparent
// Security (8555, its programs 556), SD-Fabric (32766), INTCollector (54321), AmLight (5900) and GEANT (8090, 6000).
var KnownReportPorts = []uint16{8555, 556, 32766, 54321, 5900, 8090, 6000}

// Default returns the code points that are active without configuration.
func Default() Points {
	return Points{
		ReportPorts:      slices.Clone(KnownReportPorts),
		GeneveClasses:    []uint16{0x0103},
		GPENextProtocols: []uint8{0x08, 0x80, 0x82},
		Domains:          map[uint16]*Domain{TSDomain: {0: {Bytes: 8, SourceOnly: true}}},
	}
}

// Clone returns a copy of p that shares nothing with it.
func (p *Points) Clone() Points {
	c := *p
	c.ReportPorts = slices.Clone(p.ReportPorts)
	c.GeneveClasses = slices.Clone(p.GeneveClasses)
	c.GPENextProtocols = slices.Clone(p.GPENextProtocols)
	c.Domains = make(map[uint16]*Domain, len(p.Domains))
	for id, d := range p.Domains {
		copied := *d
		c.Domains[id] = &copied
	}
	return c
}

// MarksDSCP reports whether dscp announces INT. DSCP 0 never does: it is what unmarked traffic has.
func (p *Points) MarksDSCP(dscp uint8) bool {
	mark := p.INTDSCP & p.INTDSCPMask
	return mark != 0 && dscp&p.INTDSCPMask == mark
}

// MarksPort05 reports whether what stands behind a TCP or UDP header with that destination port is an INT 0.5 shim:
// v0.5 is what version nibble 0 means here, and the shim is one of before INT 2.0 (INT 0.5 §5.3.1). The port is that of
// INT 2.x.
func (p *Points) MarksPort05(port uint16, shim []byte) bool {
	return p.INTUDPPort != 0 && port == p.INTUDPPort && p.FormatVersion0 == Version0INT05 &&
		inband.DetectL4(shim) == inband.FamilyOld
}

// SourceOnly returns the bytes of source-only metadata that a domain's DS Instruction asks for; -1 if the domain is
// unknown. Domain 0 has none.
func (p *Points) SourceOnly(domain, instruction uint16) int {
	if domain == 0 {
		return 0
	}
	if d := p.Domains[domain]; d != nil {
		return d.SourceOnlyBytes(instruction)
	}
	return -1
}
