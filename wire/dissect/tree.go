package dissect

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/wire"
)

// A Style holds the terminal sequences before each kind of text in a tree, and Reset, which ends them. The zero Style
// writes plain text.
type Style struct{ Layer, Name, Meaning, Mark, Error, Reset string }

// maxDump is how many bytes of a payload a tree shows.
const maxDump = 256

// AppendTree appends layers to dst as an indented tree: a line for each layer and for each field, "name: value unit
// (meaning)".
func AppendTree(dst []byte, layers []Layer, style *Style) []byte {
	t := tree{dst: dst, style: style}
	t.layers(layers, 1)
	return t.dst
}

type tree struct {
	dst   []byte
	style *Style
}

func (t *tree) indent(depth int) {
	for range depth {
		t.dst = append(t.dst, "  "...)
	}
}

func (t *tree) paint(sequence, text string) {
	if sequence == "" {
		t.dst = append(t.dst, text...)
		return
	}
	t.dst = append(t.dst, sequence...)
	t.dst = append(t.dst, text...)
	t.dst = append(t.dst, t.style.Reset...)
}

func (t *tree) layers(layers []Layer, depth int) {
	for i := range layers {
		l := &layers[i]
		if l.Name == "" {
			t.fields(l.Fields, depth)
			continue
		}
		t.indent(depth)
		t.paint(t.style.Layer, l.Name)
		t.paint(t.style.Meaning, "  "+layerNames[l.Name].title)
		t.dst = append(t.dst, '\n')
		t.fields(l.Fields, depth+1)
	}
}

func (t *tree) fields(fields []Field, depth int) {
	for i := range fields {
		t.indent(depth)
		t.field(&fields[i], depth)
	}
}

// field writes one field, whose line is indented already.
func (t *tree) field(f *Field, depth int) {
	if e, ok := f.Value.(wire.Error); ok {
		t.paint(t.style.Error, "error: "+ErrorText(e)+" ["+e.Error()+"]")
		t.dst = append(t.dst, '\n')
		return
	}
	style := t.style.Name
	if f.Name == quirkField {
		style = t.style.Mark
	}
	t.paint(style, f.Name+":")
	switch v := f.Value.(type) {
	case Object:
		if len(v) == 0 {
			t.dst = append(t.dst, " none"...)
		}
		t.end()
		t.fields(v, depth+1)
	case []Object:
		if len(v) == 0 {
			t.dst = append(t.dst, " none"...)
		}
		t.end()
		for i, o := range v {
			t.record(i, o, depth+1)
		}
	case []Layer:
		t.end()
		t.layers(v, depth+1)
	case string:
		t.text(f, v, depth)
	default:
		t.dst = append(t.dst, ' ')
		t.dst = AppendValue(t.dst, f)
		t.explain(f)
		t.end()
	}
}

func (t *tree) end() { t.dst = append(t.dst, '\n') }

// record writes one element of a list: its fields, the first behind the index.
func (t *tree) record(i int, o Object, depth int) {
	t.indent(depth)
	t.dst = append(t.dst, '[')
	t.dst = strconv.AppendInt(t.dst, int64(i), 10)
	t.dst = append(t.dst, "] "...)
	if len(o) == 0 {
		t.end()
	}
	for j := range o {
		if j > 0 {
			t.indent(depth + 2)
		}
		t.field(&o[j], depth+2)
	}
}

// text writes addresses as they are and bytes with what they spell.
func (t *tree) text(f *Field, v string, depth int) {
	const short = 16
	b, err := hex.DecodeString(v)
	switch {
	case v == "":
		t.dst = append(t.dst, " empty\n"...)
		return
	case err != nil || f.Width != 8*len(b): // an address or a name
		t.dst = append(t.dst, ' ')
		t.dst = append(t.dst, v...)
		t.explain(f)
	case len(b) <= short:
		t.dst = append(t.dst, ' ')
		t.dst = append(t.dst, v...)
		t.paint(t.style.Meaning, "  "+printable(b))
	default:
		t.dst = append(t.dst, ' ')
		t.dst = strconv.AppendInt(t.dst, int64(len(b)), 10)
		t.dst = append(t.dst, " bytes"...)
		t.end()
		t.dump(b, depth+1)
		return
	}
	t.end()
}

// dump writes bytes in lines of 16, with their position and what they spell.
func (t *tree) dump(b []byte, depth int) {
	const line = 16
	shown := b[:min(len(b), maxDump)]
	for at := 0; at < len(shown); at += line {
		part := shown[at:min(at+line, len(shown))]
		t.indent(depth)
		t.dst = append(t.dst, offset(at)...)
		for _, octet := range part {
			t.dst = append(t.dst, ' ')
			t.dst = hex.AppendEncode(t.dst, []byte{octet})
		}
		for range line - len(part) {
			t.dst = append(t.dst, "   "...)
		}
		t.paint(t.style.Meaning, "  "+printable(part))
		t.end()
	}
	if more := len(b) - len(shown); more > 0 {
		t.indent(depth)
		t.dst = strconv.AppendInt(t.dst, int64(more), 10)
		t.dst = append(t.dst, " more bytes\n"...)
	}
}

func offset(at int) string {
	return hex.EncodeToString([]byte{byte(at >> 8), byte(at)})
}

// printable replaces everything but printable ASCII by a dot.
func printable(b []byte) string {
	text := make([]byte, len(b))
	for i, octet := range b {
		text[i] = '.'
		if octet >= 0x20 && octet < 0x7f {
			text[i] = octet
		}
	}
	return string(text)
}

// inHex are the numbers that people read in hex too: codes and sets of bits.
var inHex = map[string]bool{
	"instruction_bitmap": true, "rep_md_bits": true, "trace_type": true, "e2e_type": true, "extension_flags": true,
	"domain_specific_id": true, "ds_instruction": true, "ds_flags": true, "ds_md_bits": true, "ds_md_status": true,
	"ethertype": true, "checksum": true, "flags": true, "class": true, "ns_data": true, "checksum_complement": true,
}

// explain writes what stands in brackets behind a value.
func (t *tree) explain(f *Field) {
	if text := Explanation(f); text != "" {
		t.paint(t.style.Meaning, " ("+text+")")
	}
}

// Explanation returns what a tree shows in brackets behind the value of a field: the number in hex, its meaning, the
// time in a larger unit; empty if there is nothing to explain.
func Explanation(f *Field) string {
	if f.Meaning == NotAvailable {
		return "" // which the value says already
	}
	parts := make([]string, 0, 3)
	if v, ok := f.Value.(uint64); ok && v > 9 && inHex[f.Name] {
		parts = append(parts, string(AppendWide(nil, v, f.Width)))
	}
	if f.Meaning != "" {
		parts = append(parts, f.Meaning)
	}
	if human := humanTime(f); human != "" {
		parts = append(parts, human)
	}
	return strings.Join(parts, ": ")
}
