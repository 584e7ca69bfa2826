package embed

import (
	"fmt"
	"math/rand/v2"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// testDomainID is a domain with per-hop metadata (bits 1 and 3) and source-only metadata (bits 0 and 2).
const testDomainID = 0xABCD

// newDomain returns a domain with MaxHops 8 and the code points that its carrier needs.
func newDomain(version inband.Version, carrier Carrier) *Domain {
	d := &Domain{
		Mode: MD, Version: version, Carrier: carrier, Points: codepoint.Default(), MaxHops: 8,
		ChecksumUpdate: true,
	}
	p := &d.Points
	switch carrier {
	case DstPort, NewUDP:
		p.INTUDPPort = 17768
	case DSCP:
		p.INTDSCP, p.INTDSCPMask = 0x17, 0x3F
	case Marker:
		p.ProbeMarker = 0xAABBCCDDEEFF0011
	case GRE:
		p.GREProtocol = 0x4569
	case Geneve:
		if version != inband.Version20 {
			p.GeneveClasses = []uint16{0x00AB}
		}
	}
	switch version {
	case inband.Version2016:
		p.GPENextProtocol5, p.FormatVersion0 = codepoint.GPE5INT2016, codepoint.Version0INT2016
	case inband.Version05:
		p.GPENextProtocol5, p.FormatVersion0 = codepoint.GPE5INT05, codepoint.Version0INT05
	}
	p.Domains[testDomainID] = &codepoint.Domain{
		0: {Bytes: 4, SourceOnly: true}, 1: {Bytes: 4}, 2: {Bytes: 8, SourceOnly: true}, 3: {Bytes: 8},
	}
	return d
}

// carriers are the carriers of each version.
var carriers = map[inband.Version][]Carrier{
	inband.Version2016: {VXLANGPE, Geneve},
	inband.Version05:   {DSCP, DstPort, VXLANGPE, Geneve},
	inband.Version10:   {DSCP, Marker, VXLANGPE, Geneve},
	inband.Version20:   {DstPort, NewUDP, DSCP, Marker, VXLANGPE, Geneve, GRE},
}

// randomDomain returns a domain that Check finds nothing wrong with.
func randomDomain(r *rand.Rand) *Domain {
	version := []inband.Version{
		inband.Version2016, inband.Version05, inband.Version10, inband.Version20,
		inband.Version20,
	}[r.IntN(5)]
	choices := carriers[version]
	d := newDomain(version, choices[r.IntN(len(choices))])
	d.MaxHops = uint8(1 + r.IntN(8))
	if d.Carrier == DSCP && r.IntN(2) == 0 {
		d.Points.INTDSCP, d.Points.INTDSCPMask = 0x01, 0x01
	}
	d.ChecksumUpdate = r.IntN(2) == 0
	d.Complement = version >= inband.Version10 && d.Carrier != NewUDP && d.Carrier != GRE && r.IntN(2) == 0
	if d.Carrier == DSCP && version != inband.Version05 {
		d.Points.INTBeforeTCPOptions = r.IntN(2) == 0
	}
	if version == inband.Version20 {
		d.NewIP = (d.Carrier == NewUDP || d.Carrier == DstPort) && r.IntN(2) == 0
		switch r.IntN(4) {
		case 0:
			d.DomainID, d.DSInstruction = testDomainID, uint16(r.IntN(16))<<12
		case 1:
			d.DomainID, d.DSInstruction = codepoint.TSDomain, 0x8000
		case 2:
			d.Mode, d.Complement = MX, false
		}
	} else {
		d.ReplicaPolicy = ReplicaPolicy(r.IntN(4))
	}
	if list := dialectsOf(d); list != nil && r.IntN(3) == 0 {
		dialect, err := codepoint.FindDialect(list[r.IntN(len(list))])
		if err != nil {
			panic(err)
		}
		d.Dialect, d.Points = dialect, codepoint.NewProfile(&d.Points, dialect).Points
	}
	if err := d.Check(); err != nil {
		panic(fmt.Sprintf("%v: %+v", err, d))
	}
	return d
}

// dialectsOf are the dialects of programs that work like d.
func dialectsOf(d *Domain) []string {
	switch {
	case d.Version == inband.Version05 && d.Carrier == DSCP:
		return []string{"geant-int04", "onos-int04"}
	case d.Version == inband.Version10 && d.Carrier == DSCP:
		return []string{"geant-int10", "geant-int10-2021", "onos-int10-ver0"}
	case d.Version == inband.Version20 && d.Carrier == NewUDP:
		return []string{"tps"}
	}
	return nil
}

// randomInstruction returns instructions that d takes.
func randomInstruction(r *rand.Rand, d *Domain) Instruction {
	for {
		few := r.Uint32()
		few &= few >> 16 // of 16 bits every fourth is set
		ins := Instruction{Bitmap: uint16(few) & d.definedBits(), D: r.IntN(8) == 0}
		if d.Version != inband.Version20 {
			ins.D = false
		}
		if d.Mode == MX {
			ins.SourceInserted = packets.Bytes(r, 4*r.IntN(5))
		} else if w, err := d.demand(&ins); err == nil {
			if r.IntN(4) != 0 {
				ins.SourceOnly = packets.Bytes(r, w.sourceOnly)
			}
			if r.IntN(4) != 0 {
				ins.DS = packets.Bytes(r, w.perHopDS)
			}
		}
		if d.CheckInstruction(&ins) == nil {
			return ins
		}
	}
}

// randomMetadata returns metadata that any format can carry, and that are never all ones.
func randomMetadata(r *rand.Rand) *inband.Metadata {
	v := func(bits int) uint32 { return uint32(r.Uint64N(1<<bits - 1)) }
	m := &inband.Metadata{
		Has: 1<<14 - 1, NodeID: v(31), L1Ingress: v(16), L1Egress: v(16), HopLatency: v(31), QueueID: uint8(v(8)),
		QueueOccupancy:  v(24),
		QueueCongestion: v(24), IngressTS: uint64(v(31)), EgressTS: uint64(v(31)), L2Ingress: v(16), L2Egress: v(16),
		EgressTxUtil: v(31),
		BufferID:     uint8(v(8)), BufferOccupancy: v(24),
	}
	if r.IntN(2) == 0 { // a node that lacks some
		for _, f := range []inband.Fields{
			inband.NodeID, inband.L1Ingress | inband.L1Egress, inband.HopLatency,
			inband.QueueID | inband.QueueOccupancy | inband.QueueCongestion,
			inband.IngressTS, inband.EgressTS, inband.L2Ingress | inband.L2Egress, inband.EgressTxUtil,
			inband.BufferID | inband.BufferOccupancy,
		} {
			if r.IntN(4) == 0 {
				m.Has &^= f
			}
		}
	}
	return m
}
