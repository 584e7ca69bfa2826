package filter

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Value is one value of a field. It is made by the function that Kind names for the kind of its field; it does not
// know its kind itself.
type Value struct {
	hi, lo uint64 // hi: of an address
	text   string
}

// FromUint returns the value of a number, a size in bytes, a rate in bits per second, a choice by its number or a node.
func FromUint(n uint64) Value { return Value{lo: n} }

// FromFloat returns the value of a decimal number or of a ratio, of which 1 is 100 %. It must not be NaN: what is not a
// number is absent.
func FromFloat(f float64) Value { return Value{lo: math.Float64bits(f + 0)} } // -0 + 0 is 0

// FromDuration returns the value of a duration.
func FromDuration(d time.Duration) Value { return Value{lo: uint64(d)} }

// FromTime returns the value of a time between the years 1678 and 2262.
func FromTime(t time.Time) Value { return Value{lo: uint64(t.UnixNano())} }

// FromAddr returns the value of an address.
func FromAddr(a telemetry.Addr) Value { return Value{hi: a.Hi, lo: a.Lo} }

// FromMAC returns the value of a MAC address.
func FromMAC(m [6]byte) Value {
	var n uint64
	for _, b := range m {
		n = n<<8 | uint64(b)
	}
	return Value{lo: n}
}

// FromText returns the value of a text, which is UTF-8.
func FromText(s string) Value { return Value{text: s} }

// FromBool returns the value of a boolean.
func FromBool(b bool) Value {
	if b {
		return Value{lo: 1}
	}
	return Value{}
}

// compare orders two values of kind k.
func (k Kind) compare(a, b Value) int {
	switch k {
	case Float, Ratio:
		return cmp.Compare(math.Float64frombits(a.lo), math.Float64frombits(b.lo))
	case Duration, Time:
		return cmp.Compare(int64(a.lo), int64(b.lo))
	case Text:
		return strings.Compare(a.text, b.text)
	}
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}

// A Row gives the values of a record to a Matcher.
type Row interface {
	// Value returns the i-th value of a field, from 0, and whether there is one; field is Field.Index. It is asked for
	// i > 0 only if the field has Many, and never for a field with Any. It should not allocate.
	Value(field, i int) (Value, bool)
}
