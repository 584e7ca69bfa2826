package embed

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// A layout is a record without its checksum complement, which the packet around it decides.
type layout struct {
	baseline   inband.Layout
	complement bool
}

func (d *Domain) layout(bitmap uint16) layout {
	complement := bitmap&bitLast != 0 && d.Version >= inband.Version10
	if complement {
		bitmap &^= bitLast
	}
	return layout{inband.NewLayout(d.format(), bitmap), complement}
}

// appendComplement ends a record: the complement says that it is not used (INT 2.1 §5.6).
func (l *layout) appendComplement(b []byte) []byte {
	if l.complement {
		b = binary.BigEndian.AppendUint32(b, inband.ComplementUnused)
	}
	return b
}

// appendOnes appends n bytes of all ones: not available.
func appendOnes(b []byte, n int) []byte {
	for range n {
		b = append(b, 0xFF)
	}
	return b
}

// appendPushed appends the record of a transit node. ds is its per-hop DS metadata; if it has not the length that the
// header asks for, all ones stand there (INT 2.1 §5.8).
func (d *Domain) appendPushed(b []byte, t *INT, own *inband.Metadata, ds []byte) []byte {
	l := d.layout(t.Bitmap)
	start := len(b)
	b = l.baseline.Append(b, own)
	if t.perHopDS > 0 {
		if len(ds) == t.perHopDS {
			b = append(b, ds...)
		} else {
			b = appendOnes(b, t.perHopDS)
		}
	}
	b = l.appendComplement(b)
	if d.Version == inband.Version2016 && t.Total == 0 && len(b) > start {
		b[len(b)-4] |= 0x80 // bottom of stack
	}
	return b
}

// appendSource appends the record of the source, or if own is nil only its source-only metadata.
func (d *Domain) appendSource(b []byte, w *demand, ins *Instruction, own *inband.Metadata) []byte {
	l := d.layout(w.bitmap)
	start := len(b)
	if own != nil {
		b = l.baseline.Append(b, own)
	}
	b = appendDS(b, w, ins, own != nil)
	if own != nil {
		b = l.appendComplement(b)
		if d.Version == inband.Version2016 && len(b) > start {
			b[len(b)-4] |= 0x80 // bottom of stack
		}
	}
	return b
}

// appendDS appends source-only and, if perHop, per-hop DS metadata, in the order of the DS Instruction bits.
func appendDS(b []byte, w *demand, ins *Instruction, perHop bool) []byte {
	if w.table == nil {
		return b
	}
	so, ds := ins.SourceOnly, ins.DS
	if len(ds) != w.perHopDS {
		ds = nil
	}
	for bit, m := range w.table {
		switch {
		case w.dsInstruction&(0x8000>>bit) == 0:
		case m.SourceOnly:
			b, so = appendValue(b, so, m)
		case perHop:
			b, ds = appendValue(b, ds, m)
		}
	}
	return b
}

// appendValue appends the value of m, which is the front of values, or all ones if there are none; and returns the
// rest.
func appendValue(b, values []byte, m codepoint.DSBit) (out, rest []byte) {
	if len(values) < m.Bytes {
		return appendOnes(b, m.Bytes), nil
	}
	return append(b, values[:m.Bytes]...), values[m.Bytes:]
}
