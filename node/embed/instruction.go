package embed

import (
	"errors"
	"fmt"

	"github.com/waybill-int/waybill/wire/inband"
)

// An Instruction is what a source asks of the nodes behind it for a packet.
type Instruction struct {
	Bitmap        uint16 // instruction bits; those that the version reserves are not written
	MaxHops       uint8  // how many nodes may add a record, the source included; 0: as the Domain says
	DSInstruction uint16 // on top of those of the Domain
	DSFlags       uint16 // on top of those of the Domain
	D             bool   // a clone or probe that must not reach the host behind the sink (INT 2.1 §3.2)

	// DS is the per-hop DS metadata of the source's own record, in the order of the DS Instruction bits. If its length
	// is not what the table of the domain says, all ones are written.
	DS []byte
	// SourceOnly is the source-only DS metadata, in the order of the DS Instruction bits; nil: all ones.
	SourceOnly []byte
	// SourceInserted is what MX carries behind its header, in the order of the DS Instruction bits.
	SourceInserted []byte

	// Destination is what the source tells the sink in a header of its own behind the INT header (INT 2.1 §5.1); nil:
	// nothing. Only VXLAN-GPE and Geneve have room for two headers.
	Destination *inband.Destination
}

// Instruction bits that a version defines; all others are reserved.
const (
	bits05  = 0xFF00
	bits10  = 0xFF01
	bits20  = 0xFF81
	bitsMX  = 0xFF80
	bitLast = 0x0001 // checksum complement
)

// definedBits returns the instruction bits that mean something in the domain.
func (d *Domain) definedBits() uint16 {
	bits := uint16(bits05)
	switch {
	case d.Mode == MX:
		return bitsMX
	case d.Version == inband.Version20:
		bits = bits20
	case d.Version == inband.Version10:
		bits = bits10
	}
	if !d.Complement || d.written(bits) != bits { // a dialect has other instructions in the low byte
		bits &^= bitLast
	}
	return bits
}

// CheckInstruction says why Insert would refuse ins, or what it would not write. A watchlist calls it when it is
// loaded.
func (d *Domain) CheckInstruction(ins *Instruction) error {
	if reserved := ins.Bitmap &^ d.definedBits(); reserved != 0 {
		if reserved == bitLast && d.Mode == MD && d.Version >= inband.Version10 {
			return errors.New("instruction bit 15: the domain does not allow checksum complements")
		}
		return fmt.Errorf("instruction bits %#04x mean nothing in this version and mode", reserved)
	}
	_, err := d.demand(ins)
	return err
}

// Hops returns how many nodes can add a record for ins: what it asks for, or less if the length field of the carrier
// cannot say more (INT 2.1 §5.7.4). 0: Insert refuses it.
func (d *Domain) Hops(ins *Instruction) int {
	w, err := d.demand(ins)
	if err != nil {
		return 0
	}
	return w.maxHops
}
