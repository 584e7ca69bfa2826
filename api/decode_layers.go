package api

import (
	"strconv"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/dissect"
)

// A DecodedLayer is one header of a packet, and where it stands in its bytes.
type DecodedLayer struct {
	// Name is that of `waybill decode -o json`, such as "ipv4"; empty for a rule that is broken where the next header would be.
	Name   string         `json:"name"`
	Title  string         `json:"title,omitempty"` // what people call it
	Offset int            `json:"offset"`          // of its first byte
	Length int            `json:"length"`          // bytes
	Fields []DecodedField `json:"fields"`
}

// A DecodedField is one value of a header, a group of them, or a list: the elements of a list are fields [0], [1], ...
type DecodedField struct {
	Name string `json:"name"`
	// Value is a number, a boolean, a text or a list of texts; a group has none. Numbers of 54 bits and more are hexadecimal texts.
	Value   any    `json:"value,omitempty"`
	Text    string `json:"text"`              // the value with its unit, as people read it
	Meaning string `json:"meaning,omitempty"` // what it stands for
	Error   bool   `json:"error,omitempty"`   // a rule is broken here: the value is its code, the text what it says
	// Offset and Length are the bytes that the value is in, all or in part; Length is 0 where it was derived from others.
	Offset int          `json:"offset"`
	Length int          `json:"length"`
	Bits   *DecodedBits `json:"bits,omitempty"` // of a value that has a part of its bytes only
	// Fields are those of a group or list, Layers those of a packet inside this one.
	Fields []DecodedField `json:"fields,omitempty"`
	Layers []DecodedLayer `json:"layers,omitempty"`
}

// DecodedBits say which bits of the bytes of a field are its value.
type DecodedBits struct {
	First int `json:"first"` // from the most significant bit of the byte at its offset, which is 0
	Count int `json:"count"`
}

// maxWhole is how many bits a number may have that every reader of JSON keeps exactly.
const maxWhole = 53

func decodedLayers(layers []dissect.Layer) []DecodedLayer {
	list := make([]DecodedLayer, len(layers))
	for i := range layers {
		l := &layers[i]
		list[i] = DecodedLayer{
			Name: l.Name, Title: dissect.Title(l.Name), Offset: l.Bit / 8, Length: (l.Width + 7) / 8, Fields: decodedFields(l.Fields),
		}
	}
	return list
}

func decodedFields(fields []dissect.Field) []DecodedField {
	list := make([]DecodedField, len(fields))
	for i := range fields {
		list[i] = decodedField(&fields[i])
	}
	return list
}

func decodedField(f *dissect.Field) DecodedField {
	d := DecodedField{Name: f.Name, Text: string(dissect.AppendValue(nil, f)), Meaning: dissect.Explanation(f)}
	d.place(f.Bit, f.Width)
	switch v := f.Value.(type) {
	case uint64:
		d.Value = v
		if f.Width > maxWhole {
			d.Value = string(dissect.AppendWide(nil, v, f.Width))
		}
	case wire.Error:
		d.Value, d.Text, d.Error = v.Error(), dissect.ErrorText(v), true
	case dissect.Object:
		d.Fields = decodedFields(v)
	case []dissect.Object:
		d.Fields = make([]DecodedField, len(v))
		for i, record := range v {
			d.Fields[i] = decodedRecord(i, record)
		}
	case []dissect.Layer:
		d.Layers = decodedLayers(v)
	case []string:
		if v == nil {
			v = []string{} // null would be no list
		}
		d.Value = v
	default:
		d.Value = v
	}
	return d
}

// decodedRecord returns an element of a list, which is where its fields are.
func decodedRecord(i int, record dissect.Object) DecodedField {
	d := DecodedField{Name: "[" + strconv.Itoa(i) + "]", Fields: decodedFields(record)}
	first, end := 0, 0
	for j := range record {
		f := &record[j]
		if f.Width == 0 {
			continue
		}
		if end == 0 {
			first = f.Bit
		}
		first, end = min(first, f.Bit), max(end, f.Bit+f.Width)
	}
	d.place(first, end-first)
	return d
}

// place says which bytes a value of width bits from bit on is in.
func (d *DecodedField) place(bit, width int) {
	d.Offset = bit / 8
	if width == 0 {
		return
	}
	d.Length = (bit+width+7)/8 - d.Offset
	if bit%8 != 0 || width%8 != 0 {
		d.Bits = &DecodedBits{First: bit % 8, Count: width}
	}
}
