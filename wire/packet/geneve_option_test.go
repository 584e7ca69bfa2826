package packet

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var geneveOptionHeader = header{
	name:  "GeneveOption",
	fresh: func() wiretest.Codec { return new(GeneveOption) },
	examples: []example{{
		name: "critical", // vector int21_mx_geneve_second_option, first option
		hex: `
			0102     // Class
			80       // Type
			01       // Length
			00010002 // Data
		`,
		want: &GeneveOption{Class: 0x0102, Type: 0x80, Length: 1, Data: []byte{0, 1, 0, 2}},
	}, {
		name: "no data",
		hex: `
			ffff // Class
			01   // Type
			00   // Length
		`,
		want: &GeneveOption{Class: 0xffff, Type: 1},
	}},
}

func TestGeneveOption(t *testing.T) { geneveOptionHeader.check(t) }

func TestGeneveOptionOverrun(t *testing.T) {
	t.Run("shorter than 4", func(t *testing.T) {
		geneveOptionHeader.refused(t, `0102 80`, 0, wire.ErrGeneveOptionOverrun, &GeneveOption{})
	})
	t.Run("data cut", func(t *testing.T) {
		geneveOptionHeader.refused(t, `0102 80 1f 00010002`, 0, wire.ErrGeneveOptionOverrun,
			&GeneveOption{Class: 0x0102, Type: 0x80, Length: 31})
	})
}

func TestGeneveOptionIgnoresReserved(t *testing.T) {
	var o GeneveOption
	if n, err := o.Decode(wiretest.Hex(t, `0102 80 e1 00010002`)); n != 8 || err != nil || o.Length != 1 {
		t.Fatalf("Decode: got %d, error %v, Length %d; want 8, none, 1", n, err, o.Length)
	}
	if got, want := o.Append(nil), wiretest.Hex(t, `0102 80 01 00010002`); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}

func TestGeneveOptionIteration(t *testing.T) {
	rest := wiretest.Hex(t, `
		0102 80 01 00010002
		0102 01 00
		0103 03 03 200000009000000000000000
	`)
	var lengths []int
	for len(rest) > 0 {
		var o GeneveOption
		n, err := o.Decode(rest)
		if err != nil {
			t.Fatal(err)
		}
		lengths = append(lengths, n)
		rest = rest[n:]
	}
	if want := []int{8, 4, 16}; !reflect.DeepEqual(lengths, want) {
		t.Errorf("lengths: got %d, want %d", lengths, want)
	}
}
