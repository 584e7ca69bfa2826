package truth

import (
	"strconv"
	"unicode/utf8"
)

// An object appends the members of a JSON object to b. Records are written by the hundred thousand: encoding/json would
// take longer than the emulation.
type object struct {
	b []byte
}

// open begins a record of a type in a line of its own.
func open(b []byte, kind string) object {
	o := object{append(b, `{"type":`...)}
	o.b = appendString(o.b, kind)
	return o
}

// close ends the record and its line.
func (o *object) close() []byte { return append(o.b, '}', '\n') }

func (o *object) key(name string) {
	o.b = append(o.b, ',', '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) int(name string, v int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) uint(name string, v uint64) {
	o.key(name)
	o.b = strconv.AppendUint(o.b, v, 10)
}

func (o *object) bool(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) string(name, v string) {
	o.key(name)
	o.b = appendString(o.b, v)
}

// optional writes a string unless it is empty.
func (o *object) optional(name, v string) {
	if v != "" {
		o.string(name, v)
	}
}

// optionalUint writes a number unless it is 0.
func (o *object) optionalUint(name string, v uint64) {
	if v != 0 {
		o.uint(name, v)
	}
}

// each writes a list of n elements; element appends the i-th.
func (o *object) each(name string, n int, element func(b []byte, i int) []byte) {
	o.key(name)
	o.b = append(o.b, '[')
	for i := range n {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = element(o.b, i)
	}
	o.b = append(o.b, ']')
}

// appendString writes s as JSON. Names come from scenario files, so that anything can be in them.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
