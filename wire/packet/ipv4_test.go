package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var ipv4Header = header{
	name:  "IPv4",
	fresh: func() wiretest.Codec { return new(IPv4) },
	examples: []example{{
		name: "no options", // vector int21_md_tcp_dscp
		hex: `
			45       // version 4, IHL 5
			5c       // DSCP 0x17, ECN 0
			004c     // TotalLength: more than is here, and no error
			0000     // ID
			4000     // DF, FragmentOffset 0
			40 06    // TTL, Protocol
			234e     // Checksum
			0a000101 // Src
			0a000202 // Dst
		`,
		want: &IPv4{
			IHL: 5, DSCP: 0x17, TotalLength: 76, DF: true, TTL: 64, Protocol: ProtoTCP, Checksum: 0x234e,
			Src: [4]byte{10, 0, 1, 1}, Dst: [4]byte{10, 0, 2, 2},
		},
	}, {
		name: "options of a fragment",
		hex: `
			47       // version 4, IHL 7
			03       // DSCP 0, ECN 3
			0054     // TotalLength
			abcd     // ID
			20b9     // MF, FragmentOffset 185
			01 11    // TTL, Protocol
			d106     // Checksum
			c0000201 // Src
			c0000202 // Dst
			94040000 // Options: router alert
			01010100 //          no operation, end
		`,
		want: &IPv4{
			IHL: 7, ECN: 3, TotalLength: 84, ID: 0xabcd, MF: true, FragmentOffset: 185, TTL: 1, Protocol: ProtoUDP,
			Checksum: 0xd106, Src: [4]byte{192, 0, 2, 1}, Dst: [4]byte{192, 0, 2, 2},
			Options: []byte{0x94, 4, 0, 0, 1, 1, 1, 0},
		},
	}},
}

func TestIPv4(t *testing.T) { ipv4Header.check(t) }

func TestIPv4Errors(t *testing.T) {
	readable := IPv4{
		IHL: 6, TotalLength: 24, TTL: 64, Protocol: ProtoUDP, Src: [4]byte{10, 0, 1, 1}, Dst: [4]byte{10, 0, 2, 2},
	}
	const rest = `00 0018 0000 0000 40 11 0000 0a000101 0a000202`
	t.Run("shorter than 20", func(t *testing.T) {
		ipv4Header.refused(t, `45 00 0014`, 0, wire.ErrTruncatedIPv4, &IPv4{})
	})
	t.Run("version", func(t *testing.T) {
		ipv4Header.refused(t, `65`+rest, 0, wire.ErrIPv4Version, &IPv4{})
	})
	t.Run("options cut", func(t *testing.T) {
		ipv4Header.refused(t, `46`+rest+`940400`, 0, wire.ErrTruncatedIPv4, &readable)
	})
	t.Run("IHL 4", func(t *testing.T) {
		kept := readable
		kept.IHL = 4
		ipv4Header.refused(t, `44`+rest+`94040000`, 0, wire.ErrIPv4HeaderLength, &kept)
	})
}

func TestIPv4Fragments(t *testing.T) {
	for _, test := range []struct {
		name, flagsAndOffset        string
		isFragment, isLaterFragment bool
	}{
		{"whole", `0000`, false, false},
		{"whole, DF", `4000`, false, false},
		{"whole, reserved bit", `8000`, false, false},
		{"first", `2000`, true, false},
		{"middle", `2001`, true, true},
		{"last", `0001`, true, true},
		{"last possible", `1fff`, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var h IPv4
			b := wiretest.Hex(t, `45 00 0014 0000`+test.flagsAndOffset+`40 11 0000 0a000101 0a000202`)
			if _, err := h.Decode(b); err != nil {
				t.Fatal(err)
			}
			if h.IsFragment() != test.isFragment || h.IsLaterFragment() != test.isLaterFragment {
				t.Errorf("IsFragment, IsLaterFragment: got %v, %v; want %v, %v",
					h.IsFragment(), h.IsLaterFragment(), test.isFragment, test.isLaterFragment)
			}
		})
	}
}

func TestIPv4WideValues(t *testing.T) {
	h := IPv4{IHL: 0xf5, DSCP: 0xff, ECN: 0xfc, FragmentOffset: 0xffff}
	want := wiretest.Hex(t, `45 fc 0000 0000 1fff 00 00 0000 00000000 00000000`)
	if got := h.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}

func TestIPv4HeaderChecksum(t *testing.T) {
	for _, e := range ipv4Header.examples {
		h := *e.want.(*IPv4)
		if got := h.HeaderChecksum(); got != h.Checksum {
			t.Errorf("%s: got %#04x, want %#04x", e.name, got, h.Checksum)
		}
		if allocs := testing.AllocsPerRun(100, func() { h.HeaderChecksum() }); allocs != 0 {
			t.Errorf("%s: got %v allocations, want 0", e.name, allocs)
		}
	}
}

func BenchmarkIPv4Decode(b *testing.B) {
	for _, e := range ipv4Header.examples {
		b.Run(e.name, func(b *testing.B) {
			packet := wiretest.Hex(b, e.hex)
			b.ReportAllocs()
			b.SetBytes(int64(len(packet)))
			var h IPv4
			for b.Loop() {
				if _, err := h.Decode(packet); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
