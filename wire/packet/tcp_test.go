package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var tcpHeader = header{
	name:  "TCP",
	fresh: func() wiretest.Codec { return new(TCP) },
	examples: []example{{
		name: "no options", // vector int21_md_tcp_dscp
		hex: `
			c000 0050 // SrcPort, DstPort
			01020304  // Seq
			0a0b0c0d  // Ack
			50 18     // DataOffset 5, Flags ACK PSH
			1000      // Window
			0000 0000 // Checksum, Urgent
		`,
		want: &TCP{
			SrcPort: 49152, DstPort: 80, Seq: 0x01020304, Ack: 0x0a0b0c0d, DataOffset: 5, Flags: 0x18, Window: 4096,
		},
	}, {
		name: "options", // capture onos_v10_tcp_h1, frame 3
		hex: `
			b9c8 1f40                   // SrcPort, DstPort
			28ad2b4b                    // Seq
			b307c070                    // Ack
			80 10                       // DataOffset 8, Flags ACK
			0040                        // Window
			cd46 0000                   // Checksum, Urgent
			01 01 080a b510008a67b4d46b // Options: no operation twice, timestamps
		`,
		want: &TCP{
			SrcPort: 47560, DstPort: 8000, Seq: 0x28ad2b4b, Ack: 0xb307c070, DataOffset: 8, Flags: 0x10, Window: 64,
			Checksum: 0xcd46, Options: []byte{1, 1, 8, 10, 0xb5, 0x10, 0, 0x8a, 0x67, 0xb4, 0xd4, 0x6b},
		},
	}},
}

func TestTCP(t *testing.T) { tcpHeader.check(t) }

func TestTCPErrors(t *testing.T) {
	readable := TCP{
		SrcPort: 49152, DstPort: 80, Seq: 0x01020304, Ack: 0x0a0b0c0d, DataOffset: 8, Flags: 0x02, Window: 4096,
		Checksum: 0xabcd, Urgent: 0xef01,
	}
	const ports, rest = `c000 0050 01020304 0a0b0c0d`, `02 1000 abcd ef01`
	t.Run("shorter than 20", func(t *testing.T) {
		tcpHeader.refused(t, ports, 0, wire.ErrTruncatedTCP, &TCP{SrcPort: 49152, DstPort: 80})
	})
	t.Run("shorter than the ports", func(t *testing.T) {
		tcpHeader.refused(t, `c000 00`, 0, wire.ErrTruncatedTCP, &TCP{})
	})
	t.Run("data offset 4", func(t *testing.T) {
		kept := readable
		kept.DataOffset = 4
		tcpHeader.refused(t, ports+`40`+rest, 0, wire.ErrTCPDataOffset, &kept)
	})
	// With INT between the fixed header and the options, what is there is not options: a caller goes on at byte 20.
	t.Run("options cut", func(t *testing.T) {
		tcpHeader.refused(t, ports+`80`+rest+`01000700`, tcpLen, wire.ErrTruncatedTCPOptions, &readable)
	})
}

func TestTCPWideValues(t *testing.T) {
	h := TCP{DataOffset: 0xf5}
	want := wiretest.Hex(t, `0000 0000 00000000 00000000 50 00 0000 0000 0000`)
	if got := h.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}

func BenchmarkTCPDecode(b *testing.B) {
	for _, e := range tcpHeader.examples {
		b.Run(e.name, func(b *testing.B) {
			packet := wiretest.Hex(b, e.hex)
			b.ReportAllocs()
			b.SetBytes(int64(len(packet)))
			var h TCP
			for b.Loop() {
				if _, err := h.Decode(packet); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
