package embed

import (
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// A Mode is how the nodes of an INT domain work together (INT 2.1 §3.1).
type Mode uint8

// The modes.
const (
	// XD, eXport Data: packets stay as they are.
	XD Mode = iota + 1
	// MX, eMbed instructions and eXport data: the source inserts instructions, every node reports.
	MX
	// MD, eMbed Data: every node adds its metadata to the packet. Up to INT 1.0 there is no other mode.
	MD
)

// A Carrier is the header that INT travels in and the way in which it is marked.
type Carrier uint8

// The carriers. A domain has one, and a packet is never marked in two ways (INT 2.1 §5.7.2).
const (
	// DstPort: the UDP destination port of INT. INT stands behind the UDP header of the packet (NPT 1), and packets of
	// other protocols get a UDP header (NPT 2). INT 0.5: the destination port of TCP or UDP.
	DstPort Carrier = iota + 1
	// NewUDP: as DstPort, but all packets get a UDP header (NPT 2).
	NewUDP
	// DSCP: a DSCP value. INT stands behind the TCP or UDP header.
	DSCP
	// Marker: 8 bytes in front of INT, both behind the TCP or UDP header.
	Marker
	// VXLANGPE: INT stands behind the VXLAN-GPE header. From INT 2.0 on VXLAN is made VXLAN-GPE on the way.
	VXLANGPE
	// Geneve: INT is an option.
	Geneve
	// GRE: INT stands behind the GRE header. Other packets get a GRE header and an IP header in front of it.
	GRE
)

// A ReplicaPolicy says which copies of a packet nodes may make on the way (INT 2016 §5.3.3, up to INT 1.0 §4.7).
type ReplicaPolicy uint8

// The policies, as the Rep field of the INT header has them.
const (
	NoReplicas ReplicaPolicy = iota
	ReplicatePorts
	ReplicateNextHops
	ReplicateBoth
)

// A Domain is what all nodes of an INT domain agree on. It is only read: one Domain serves any number of goroutines.
// Check says what cannot work.
type Domain struct {
	Mode    Mode
	Version inband.Version // Version2016, Version05, Version10, or Version20 for INT 2.0 and 2.1
	Carrier Carrier
	// Points are the ports, DSCP value, classes and so on of the carrier, and the tables of domain-specific metadata.
	// INT of other carriers in them is taken for that of another domain (Packet.INT.Nested).
	Points codepoint.Points
	// Dialect is that of the other nodes, whose layouts are then read and written; nil: as the specifications say.
	Dialect *codepoint.Dialect

	// MaxHops is how many nodes may add a record, the source included, if the Instruction does not say.
	MaxHops uint8
	// DomainID is the Domain Specific ID that the source writes, 0 the default domain. DSInstruction and DSFlags are
	// written with every Instruction. The table of the domain is in Points.Domains.
	DomainID, DSInstruction, DSFlags uint16

	// Complement allows the checksum complement, instruction bit 15 (INT 1.0 §4.5, INT 2.1 §5.6).
	Complement bool
	// BeforeTCPOptions puts INT between the fixed 20 bytes of the TCP header and its options. Nodes must agree
	// (INT 1.0 §4.6.1). Points.INTBeforeTCPOptions means the same, and either counts.
	BeforeTCPOptions bool
	// ChecksumUpdate: nodes keep the checksums of TCP and UDP right. INT 0.5 leaves that to the domain (§5.3.1), and
	// the nodes of a Dialect do what they do; in all other cases it is a must and this field is not asked.
	ChecksumUpdate bool
	// NewIP: IPSec packets (ESP and AH) and packets in IP tunnels that get a UDP header get an IP header in front of it
	// too (INT 2.1 §6.7), so that the one that they have is not touched.
	NewIP bool
	// ReplicaPolicy is Rep in the headers that the source inserts.
	ReplicaPolicy ReplicaPolicy
}

func (d *Domain) has(q codepoint.Quirks) bool { return d.Dialect != nil && d.Dialect.Has(q) }

// updates reports whether nodes keep the checksums of TCP and UDP right.
func (d *Domain) updates() bool {
	optional := d.Version == inband.Version05 || d.Dialect != nil && d.Dialect != codepoint.Specification
	return d.ChecksumUpdate || !optional
}

func (d *Domain) beforeTCPOptions() bool { return d.BeforeTCPOptions || d.Points.INTBeforeTCPOptions }

// format returns how records are laid out.
func (d *Domain) format() inband.Format {
	wide := d.has(codepoint.QuirkWideTimestamps)
	switch {
	case d.Version == inband.Version2016:
		return inband.Format2016
	case d.Version == inband.Version05 && wide:
		return inband.Format05Long
	case d.Version == inband.Version05:
		return inband.Format05
	case d.Version == inband.Version10 && wide:
		return inband.Format10Long
	case d.Version == inband.Version10:
		return inband.Format10
	}
	return inband.Format20
}

// instructions returns the instructions that nodes follow when bitmap is written in the header.
func (d *Domain) instructions(bitmap uint16) uint16 {
	if d.Version != inband.Version20 && d.has(codepoint.QuirkBitmapLow) {
		bitmap = inband.LowByteInstructions(bitmap)
	}
	if d.Version != inband.Version20 && d.has(codepoint.QuirkNibble3) {
		bitmap = inband.GEANTInstructions(bitmap)
	}
	return bitmap
}

// family returns the shape of the shims of the domain.
func (d *Domain) family() inband.Family {
	if d.Version == inband.Version20 {
		return inband.Family2x
	}
	return inband.FamilyOld
}

// headerLen returns the length of the INT header in bytes.
func (d *Domain) headerLen() int {
	if d.Version == inband.Version20 {
		return 12
	}
	return 8
}
