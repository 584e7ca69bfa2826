package api

import (
	"strconv"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/dissect"
)

// maxWhole is how many bits a number may have that every reader of JSON keeps exactly.
const maxWhole = 53

func decodedLayers(layers []dissect.Layer) []types.DecodedLayer {
	list := make([]types.DecodedLayer, len(layers))
	for i := range layers {
		l := &layers[i]
		list[i] = types.DecodedLayer{
			Name: l.Name, Title: dissect.Title(l.Name), Offset: l.Bit / 8, Length: (l.Width + 7) / 8,
			Fields: decodedFields(l.Fields),
		}
	}
	return list
}

func decodedFields(fields []dissect.Field) []types.DecodedField {
	list := make([]types.DecodedField, len(fields))
	for i := range fields {
		list[i] = decodedField(&fields[i])
	}
	return list
}

func decodedField(f *dissect.Field) types.DecodedField {
	d := types.DecodedField{Name: f.Name, Text: string(dissect.AppendValue(nil, f)), Meaning: dissect.Explanation(f)}
	placeField(&d, f.Bit, f.Width)
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
		d.Fields = make([]types.DecodedField, len(v))
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
func decodedRecord(i int, record dissect.Object) types.DecodedField {
	d := types.DecodedField{Name: "[" + strconv.Itoa(i) + "]", Fields: decodedFields(record)}
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
	placeField(&d, first, end-first)
	return d
}

// placeField says which bytes the value of d of width bits from bit on is in.
func placeField(d *types.DecodedField, bit, width int) {
	d.Offset = bit / 8
	if width == 0 {
		return
	}
	d.Length = (bit+width+7)/8 - d.Offset
	if bit%8 != 0 || width%8 != 0 {
		d.Bits = &types.DecodedBits{First: bit % 8, Count: width}
	}
}
