package dissect

import (
	"strconv"

	"github.com/waybill-int/waybill/wire"
)

// AppendJSON appends layers to dst as a JSON list of objects, one per layer: the key "layer" holds the name and the
// other keys are the fields, in their order. Numbers wider than 53 bits are hex strings of their full width.
func AppendJSON(dst []byte, layers []Layer) []byte {
	dst = append(dst, '[')
	for i := range layers {
		if i > 0 {
			dst = append(dst, ',')
		}
		l := &layers[i]
		dst = append(dst, '{')
		if l.Name != "" {
			dst = append(dst, `"layer":`...)
			dst = appendText(dst, l.Name)
			if len(l.Fields) > 0 {
				dst = append(dst, ',')
			}
		}
		dst = appendFields(dst, l.Fields)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendFields(dst []byte, fields []Field) []byte {
	for i := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, fields[i].Name)
		dst = append(dst, ':')
		dst = appendValue(dst, &fields[i])
	}
	return dst
}

func appendValue(dst []byte, f *Field) []byte {
	switch v := f.Value.(type) {
	case uint64:
		if f.Width >= wideWidth {
			dst = append(dst, '"')
			dst = AppendWide(dst, v, f.Width)
			return append(dst, '"')
		}
		return strconv.AppendUint(dst, v, 10)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendText(dst, v)
	case wire.Error:
		return appendText(dst, v.Error())
	case []string:
		dst = append(dst, '[')
		for i, s := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, s)
		}
		return append(dst, ']')
	case Object:
		return appendObject(dst, v)
	case []Object:
		dst = append(dst, '[')
		for i, o := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendObject(dst, o)
		}
		return append(dst, ']')
	case []Layer:
		return AppendJSON(dst, v)
	}
	return append(dst, "null"...)
}

func appendObject(dst []byte, o Object) []byte {
	dst = append(dst, '{')
	dst = appendFields(dst, o)
	return append(dst, '}')
}

// appendText appends a JSON string. Every text of a Layer is made in this package, of printable ASCII without quotes
// and backslashes, so nothing needs escaping.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// AppendWide appends v in hex with 0x and all digits of a number of width bits.
func AppendWide(dst []byte, v uint64, width int) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, "0x"...)
	for shift := (width+3)/4*4 - 4; shift >= 0; shift -= 4 {
		dst = append(dst, digits[v>>shift&0xf])
	}
	return dst
}
