package embed

import (
	"errors"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// A demand is what an Instruction comes to in a domain.
type demand struct {
	bitmap        uint16 // as it means
	dsInstruction uint16
	table         *codepoint.Domain
	recordLen     int // bytes of a record: baseline, per-hop DS metadata and complement
	perHopDS      int
	sourceOnly    int
	maxHops       int
}

// Limits of a stack, in words.
const (
	maxHopML       = 31
	maxShimLength  = 255
	maxGeneveWords = 31 // of the data of one option
)

// demand works out what ins asks for.
func (d *Domain) demand(ins *Instruction) (w demand, err error) {
	w.bitmap = ins.Bitmap & d.definedBits()
	if d.Version == inband.Version20 {
		w.dsInstruction = d.DSInstruction | ins.DSInstruction
		if err := d.demandDS(ins, &w); err != nil {
			return w, err
		}
	}
	if d.Mode == MX {
		if d.Version != inband.Version20 {
			return w, errMX
		}
		return w, d.fitsMX(ins)
	}
	w.bitmap = d.following(w.bitmap)
	w.recordLen = d.format().Widths().Bytes(w.bitmap) + w.perHopDS
	if w.recordLen > 4*maxHopML {
		return w, errHopML
	}
	room := d.stackRoom() - w.sourceOnly
	if room < w.recordLen {
		return w, errNoRoom
	}
	w.maxHops = int(ins.MaxHops)
	if w.maxHops == 0 {
		w.maxHops = int(d.MaxHops)
	}
	if w.maxHops == 0 {
		return w, errNoHops
	}
	if w.recordLen > 0 {
		w.maxHops = min(w.maxHops, room/w.recordLen)
	}
	return w, nil
}

var (
	errMX             = errors.New("mode MX: only INT 2.x has it")
	errHopML          = errors.New("a record of more than 31 words does not fit Hop ML")
	errNoRoom         = errors.New("not even one record fits the length field of the carrier")
	errNoHops         = errors.New("neither the instruction nor the domain says how many nodes may add a record")
	errDefaultDomain  = errors.New("domain 0 has no DS Instruction")
	errUnknownDomain  = errors.New("the widths of the DS Instruction bits are not known for this domain")
	errSourceOnly     = errors.New("source-only metadata are not as long as the table of the domain says")
	errSourceInserted = errors.New("source-inserted metadata are not whole words, or do not fit the length field of the carrier")
)

// demandDS works out what the DS Instruction asks for.
func (d *Domain) demandDS(ins *Instruction, w *demand) error {
	if d.DomainID == 0 {
		if w.dsInstruction != 0 {
			return errDefaultDomain
		}
		if len(ins.SourceOnly) != 0 {
			return errSourceOnly
		}
		return nil
	}
	if w.dsInstruction == 0 || d.Mode == MX {
		return nil
	}
	w.table = d.Points.Domains[d.DomainID]
	if w.table == nil {
		return errUnknownDomain
	}
	w.perHopDS, w.sourceOnly = w.table.PerHopBytes(w.dsInstruction), w.table.SourceOnlyBytes(w.dsInstruction)
	if ins.SourceOnly != nil && len(ins.SourceOnly) != w.sourceOnly {
		return errSourceOnly
	}
	return nil
}

// following returns the instructions that a source of the domain writes for bitmap: those that nodes then follow.
func (d *Domain) following(bitmap uint16) uint16 {
	if d.Version != inband.Version20 && d.has(codepoint.QuirkNibble3) {
		return inband.GEANTInstructions(bitmap)
	}
	return bitmap
}

// written returns how the instructions stand in the header.
func (d *Domain) written(bitmap uint16) uint16 {
	if d.Version != inband.Version20 && d.has(codepoint.QuirkBitmapLow) {
		return bitmap >> 8
	}
	return bitmap
}

// stackRoom returns the bytes that a stack can have before the length field of the carrier overflows.
func (d *Domain) stackRoom() int {
	words := maxShimLength
	switch {
	case d.Carrier == Geneve:
		words = maxGeneveWords
	case d.Version != inband.Version20 || d.has(codepoint.QuirkShimCountsItself):
		words-- // the shim
	}
	if d.Version == inband.Version05 && d.Carrier != Geneve && d.Carrier != VXLANGPE {
		words-- // the tail
	}
	return 4*words - d.headerLen()
}

func (d *Domain) fitsMX(ins *Instruction) error {
	if len(ins.SourceInserted)%4 != 0 || len(ins.SourceInserted) > d.stackRoom() {
		return errSourceInserted
	}
	return nil
}
