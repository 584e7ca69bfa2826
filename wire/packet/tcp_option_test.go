package packet

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var tcpOptionHeader = header{
	name:  "TCPOption",
	fresh: func() wiretest.Codec { return new(TCPOption) },
	examples: []example{{
		name: "no operation",
		hex: `
			01 // Kind
		`,
		want: &TCPOption{Kind: TCPOptionNOP},
	}, {
		name: "SACK permitted",
		hex: `
			04 // Kind
			02 // length
		`,
		want: &TCPOption{Kind: 4},
	}, {
		name: "maximum segment size", // capture onos_v10_tcp_h1, frame 1
		hex: `
			02   // Kind
			04   // length
			0550 // Data
		`,
		want: &TCPOption{Kind: 2, Data: []byte{5, 0x50}},
	}},
}

func TestTCPOption(t *testing.T) { tcpOptionHeader.check(t) }

func TestTCPOptionTruncated(t *testing.T) {
	for _, test := range []struct {
		name, hex string
		kept      TCPOption
	}{
		{"nothing", ``, TCPOption{}},
		{"no length", `02`, TCPOption{Kind: 2}},
		{"length 0", `02 00 0550`, TCPOption{Kind: 2}},
		{"length 1", `02 01 0550`, TCPOption{Kind: 2}},
		{"data cut", `02 04 05`, TCPOption{Kind: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tcpOptionHeader.refused(t, test.hex, 0, wire.ErrTruncatedTCPOptions, &test.kept)
		})
	}
}

func TestTCPOptionEndHasNoData(t *testing.T) {
	o := TCPOption{Kind: TCPOptionEnd, Data: []byte{1, 2}}
	if got := o.Append(nil); !bytes.Equal(got, []byte{0}) || o.Len() != 1 {
		t.Errorf("Append: got %x, Len %d; want 00, 1", got, o.Len())
	}
}

func TestTCPOptionIteration(t *testing.T) {
	rest := wiretest.Hex(t, `
		02 04 0550             // maximum segment size
		04 02                  // SACK permitted
		08 0a b510008800000000 // timestamps
		01                     // no operation
		03 03 0a               // window scale
		00 ff                  // end, then padding that is no option
	`)
	var kinds []uint8
	for len(rest) > 0 {
		var o TCPOption
		n, err := o.Decode(rest)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, o.Kind)
		if o.Kind == TCPOptionEnd {
			break
		}
		rest = rest[n:]
	}
	if want := []uint8{2, 4, 8, 1, 3, 0}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("kinds: got %d, want %d", kinds, want)
	}
}
