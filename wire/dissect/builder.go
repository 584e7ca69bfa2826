package dissect

import (
	"encoding/hex"
	"net/netip"

	"github.com/waybill-int/waybill/wire"
)

// A builder collects the fields of one header or record. Positions given to its methods are in bits from start.
type builder struct {
	fields Object
	start  int // of the header or record, in bits from the start of the packet
}

// number adds a number of width bits.
func number[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int](b *builder, name string, v T, bit, width int) *Field {
	return b.add(name, uint64(v), bit, width)
}

// derived adds a number that stands nowhere in the packet.
func derived(b *builder, name string, v int) *Field {
	b.fields = append(b.fields, Field{Name: name, Value: uint64(v)})
	return &b.fields[len(b.fields)-1]
}

func (b *builder) add(name string, v any, bit, width int) *Field {
	b.fields = append(b.fields, Field{Name: name, Value: v, Bit: b.start + bit, Width: width})
	return &b.fields[len(b.fields)-1]
}

func (b *builder) flag(name string, v bool, bit int) *Field { return b.add(name, v, bit, 1) }

func (b *builder) bytes(name string, v []byte, bit int) *Field {
	return b.add(name, hex.EncodeToString(v), bit, 8*len(v))
}

func (b *builder) addr(name string, a netip.Addr, bit int) *Field {
	return b.add(name, a.String(), bit, a.BitLen())
}

// mac adds an Ethernet address in the usual notation.
func (b *builder) mac(name string, v [6]byte, bit int) *Field {
	text := make([]byte, 0, 17)
	for i, octet := range v {
		if i > 0 {
			text = append(text, ':')
		}
		text = hex.AppendEncode(text, []byte{octet})
	}
	return b.add(name, string(text), bit, 48)
}

// quirk adds a mark that the header was read as a dialect asks, not as the specification says. Marks add up.
func (b *builder) quirk(name string) {
	if f := find(b.fields, quirkField); f != nil {
		f.Value = f.Text() + "," + name
		return
	}
	b.fields = append(b.fields, Field{Name: quirkField, Value: name})
}

// fail adds the rule that the header breaks. Only the first counts: what comes after it may be a consequence.
func (b *builder) fail(err error) {
	if find(b.fields, errorField) == nil {
		b.fields = append(b.fields, errorAt(err, b.start))
	}
}

func errorAt(err error, bit int) Field {
	return Field{Name: errorField, Value: reason(err), Bit: bit}
}

// reason returns err as what every decoder of package wire returns.
func reason(err error) wire.Error {
	e, _ := err.(wire.Error)
	return e
}
