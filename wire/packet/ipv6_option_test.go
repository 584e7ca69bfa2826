package packet

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var ipv6OptionHeader = header{
	name:  "IPv6Option",
	fresh: func() wiretest.Codec { return new(IPv6Option) },
	examples: []example{{
		name: "Pad1",
		hex: `
			00 // Type
		`,
		want: &IPv6Option{},
	}, {
		name: "PadN without data",
		hex: `
			01 // Type
			00 // length
		`,
		want: &IPv6Option{Type: IPv6OptionPadN},
	}, {
		name: "router alert",
		hex: `
			05   // Type
			02   // length
			0000 // Data
		`,
		want: &IPv6Option{Type: 5, Data: []byte{0, 0}},
	}},
}

func TestIPv6Option(t *testing.T) { ipv6OptionHeader.check(t) }

func TestIPv6OptionOverrun(t *testing.T) {
	t.Run("nothing", func(t *testing.T) {
		ipv6OptionHeader.refused(t, ``, 0, wire.ErrIPv6OptionOverrun, &IPv6Option{})
	})
	t.Run("no length", func(t *testing.T) {
		ipv6OptionHeader.refused(t, `31`, 0, wire.ErrIPv6OptionOverrun, &IPv6Option{Type: 0x31})
	})
	t.Run("data cut", func(t *testing.T) {
		ipv6OptionHeader.refused(t, `31 ff 000000`, 0, wire.ErrIPv6OptionOverrun, &IPv6Option{Type: 0x31})
	})
}

func TestIPv6OptionPad1HasNoData(t *testing.T) {
	o := IPv6Option{Type: IPv6OptionPad1, Data: []byte{1, 2}}
	if got := o.Append(nil); !bytes.Equal(got, []byte{0}) || o.Len() != 1 {
		t.Errorf("Append: got %x, Len %d; want 00, 1", got, o.Len())
	}
}

func TestIPv6OptionIteration(t *testing.T) {
	rest := wiretest.Hex(t, `
		00         // Pad1
		00         // Pad1
		05 02 0000 // router alert
		01 01 00   // PadN
		00         // Pad1
		11 00      // IOAM type without data
	`)
	var types []uint8
	for len(rest) > 0 {
		var o IPv6Option
		n, err := o.Decode(rest)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, o.Type)
		rest = rest[n:]
	}
	if want := []uint8{0, 0, 5, 1, 0, 0x11}; !reflect.DeepEqual(types, want) {
		t.Errorf("types: got %x, want %x", types, want)
	}
}
