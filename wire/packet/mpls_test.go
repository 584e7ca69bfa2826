package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var mplsHeader = header{
	name:  "MPLS",
	fresh: func() wiretest.Codec { return new(MPLS) },
	examples: []example{{
		name: "bottom of stack",
		hex: `
			abcde b 40 // Label 0xABCDE; TC 5 and Bottom; TTL 64
		`,
		want: &MPLS{Label: 0xabcde, TC: 5, Bottom: true, TTL: 64},
	}, {
		name: "not the bottom",
		hex: `
			00010 e ff // Label 16; TC 7; TTL 255
		`,
		want: &MPLS{Label: 16, TC: 7, TTL: 255},
	}},
}

func TestMPLS(t *testing.T) { mplsHeader.check(t) }

func TestMPLSTruncated(t *testing.T) {
	mplsHeader.refused(t, `abcdeb`, 0, wire.ErrTruncatedMPLS, &MPLS{})
}

func TestMPLSWideValues(t *testing.T) {
	h := MPLS{Label: 0xffffffff, TC: 0xf8, TTL: 1}
	if got, want := h.Append(nil), wiretest.Hex(t, `fffff0 01`); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}
