package dissect

import (
	"encoding/binary"
	"slices"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// A part is one value in the metadata of an instruction bit.
type part struct {
	name  string // empty: padding
	width int    // bits
	unit  quantity
}

// A quantity is what a value measures, as far as its unit is known.
type quantity uint8

const (
	plain     quantity = iota
	timestamp          // in units of the dialect's TimeUnit
	latency            // in units of its LatencyUnit
	dropCause          // a drop reason of its table
	port               // an interface
)

// An instruction is what one bit of a bitmap adds to a record: parts of 4 or 8 bytes together.
type instruction struct {
	group string // name in the list of values that are not available; empty: never in it
	parts []part
}

// instructions are those of a format, by bit; bit 0 is the top bit of the bitmap.
type instructions [16]instruction

func single(name string, unit quantity) instruction {
	return instruction{name, []part{{name, 32, unit}}}
}

// single31 is single below the bottom of stack bit of INT of June 2016.
func single31(name string, unit quantity) instruction {
	return instruction{name, []part{{"", 1, plain}, {name, 31, unit}}}
}

func wide(name string, unit quantity) instruction {
	return instruction{name, []part{{name, 64, unit}}}
}

func pair(group, first, second string, width int) instruction {
	return instruction{group, []part{{first, width, plain}, {second, width, plain}}}
}

func ports(group, first, second string) instruction {
	return instruction{group, []part{{first, 16, port}, {second, 16, port}}}
}

func idAnd(group, id, value string) instruction {
	return instruction{group, []part{{id, 8, plain}, {value, 24, plain}}}
}

func reserved(bit string) instruction {
	return instruction{"", []part{{"reserved_bit" + bit, 32, plain}}}
}

var (
	dropInstruction = instruction{"drop", []part{
		{"drop_queue_id", 8, plain}, {"drop_reason", 8, dropCause}, {"", 16, plain},
	}}
	complementInstruction = instruction{"", []part{{"checksum_complement", 32, plain}}}
)

// The formats of inband.
var (
	instructions2016 = &instructions{
		single31("switch_id", plain),
		single31("ingress_port_id", plain),
		single31("hop_latency", latency),
		single31("queue_occupancy", plain),
		single31("ingress_ts", timestamp),
		single31("egress_port_id", plain),
		single31("queue_congestion", plain),
		single31("egress_tx_util", plain),
		reserved("8"), reserved("9"), reserved("10"), reserved("11"), reserved("12"), reserved("13"), reserved("14"),
		reserved("15"),
	}
	instructions05 = &instructions{
		single("node_id", plain),
		ports("l1_interfaces", "l1_ingress", "l1_egress"),
		single("hop_latency", latency),
		idAnd("queue", "queue_id", "queue_occupancy"),
		single("ingress_ts", timestamp),
		single("egress_ts", timestamp),
		idAnd("queue_congestion", "queue_congestion_id", "queue_congestion"),
		single("egress_tx_util", plain),
		reserved("8"), reserved("9"), reserved("10"), reserved("11"), reserved("12"), reserved("13"), reserved("14"),
		reserved("15"),
	}
	instructions05Long = instructions05.with(4, wide("ingress_ts", timestamp)).with(5, wide("egress_ts", timestamp))

	instructions10 = instructions05.with(6, pair("l2_interfaces", "l2_ingress", "l2_egress", 32)).
			with(15, complementInstruction)
	instructions10Long = instructions05Long.with(6, pair("l2_interfaces", "l2_ingress", "l2_egress", 16)).
				with(15, complementInstruction)
	instructions10Short = instructions10.with(6, pair("l2_interfaces", "l2_ingress", "l2_egress", 16))
	instructions20      = instructions10.with(4, wide("ingress_ts", timestamp)).with(5, wide("egress_ts", timestamp)).
				with(8, idAnd("buffer", "buffer_id", "buffer_occupancy"))

	// instructionsTR20 are RepMdBits of TR 2.0 §3.3.1, where the node stands in the group header and bit 15 is a drop.
	instructionsTR20 = instructions20.with(0, reserved("0")).with(15, dropInstruction)
	// instructionsTR10 are RepMdBits of TR 1.0 §3.2, as the upper 6 bits of a bitmap.
	instructionsTR10 = &instructions{
		ports("interfaces", "ingress_port", "egress_port"),
		single("hop_latency", latency),
		idAnd("queue", "queue_id", "queue_occupancy"),
		single("egress_ts", timestamp),
		dropInstruction,
		single("egress_tx_util", plain),
	}
	// instructionsJanuary2018 are those of the proposal of January 2018, in the same bits.
	instructionsJanuary2018 = &instructions{
		ports("interfaces", "ingress_port", "egress_port"),
		idAnd("queue", "queue_id", "queue_occupancy"),
		single("egress_ts", timestamp),
		dropInstruction,
		reserved("4"), reserved("5"),
	}
)

// with returns a copy of t with another instruction at bit.
func (t *instructions) with(bit int, i instruction) *instructions {
	c := *t
	c[bit] = i
	return &c
}

func instructionsOf(f inband.Format) *instructions {
	switch f {
	case inband.Format2016:
		return instructions2016
	case inband.Format05:
		return instructions05
	case inband.Format05Long:
		return instructions05Long
	case inband.Format10:
		return instructions10
	case inband.Format10Long:
		return instructions10Long
	case inband.Format10Short:
		return instructions10Short
	}
	return instructions20
}

func (i *instruction) width() int {
	n := 0
	for _, p := range i.parts {
		n += p.width
	}
	return n
}

// A record is the metadata of one hop or report.
type record struct {
	w       *walk
	b       builder
	data    []byte   // from the start of the record
	at      int      // bits read
	invalid []string // groups whose value is not available
	mask    uint64   // of a word: without the bottom of stack bit in INT of June 2016
}

// newRecord starts at the bytes of data, which are at position at of the packet.
func (w *walk) newRecord(data []byte, at int) record {
	return record{w: w, data: data, b: builder{start: 8 * at, fields: make(Object, 0, 14)}, mask: 1<<32 - 1}
}

// read adds what the bits from first to last of bitmap ask for, and reports whether all of it was there.
func (r *record) read(t *instructions, bitmap uint16, first, last int) bool {
	for bit := first; bit <= last; bit++ {
		if bitmap&(0x8000>>bit) == 0 {
			continue
		}
		if !r.value(&t[bit]) {
			return false
		}
	}
	return true
}

// value adds the values of one instruction.
func (r *record) value(i *instruction) bool {
	width := i.width()
	if 8*len(r.data) < r.at+width {
		return false
	}
	b := r.data[r.at/8:]
	word, ones := uint64(binary.BigEndian.Uint32(b))&r.mask, r.mask
	if width == 64 {
		word, ones = binary.BigEndian.Uint64(b), 1<<64-1
	}
	none := word == ones && i.group != ""
	if none {
		r.invalid = append(r.invalid, i.group)
	}
	rest := width
	for _, p := range i.parts {
		rest -= p.width
		if p.name == "" {
			continue
		}
		f := number(&r.b, p.name, word>>rest&(1<<p.width-1), r.at+width-rest-p.width, p.width)
		r.w.describe(f, p.unit)
		if none {
			f.Meaning = NotAvailable
		}
	}
	r.at += width
	return true
}

// describe gives f its unit and meaning.
func (w *walk) describe(f *Field, q quantity) {
	switch q {
	case timestamp:
		f.Unit = timeUnit(w.profile.Dialect.TimeUnit)
	case latency:
		f.Unit = timeUnit(w.profile.Dialect.LatencyUnit)
	case port:
		if f.Number() == 511 && w.profile.Dialect.Has(codepoint.QuirkNoPort511) {
			f.Meaning = NotAvailable
		}
	case dropCause:
		f.Meaning = w.dropReason(uint8(f.Number()))
	}
}

// invalidList adds the groups that are not available, in alphabetical order.
func (r *record) invalidList() {
	slices.Sort(r.invalid)
	r.b.fields = append(r.b.fields, Field{Name: "invalid", Value: r.invalid})
}
