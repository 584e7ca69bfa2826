package report

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func newV05() wiretest.Codec { return new(V05) }

// From the vector tr05_drop.
const v05DropHex = `
	01 80 003f // Ver 0, NProto 1; D; reserved; hw_id 63
	ffffffff   // sequence number, about to wrap
	00000000   // ingress timestamp
	0a0b0c0d   // switch id
	0011 0000  // ingress port 17, egress port 0
	00 50 0000 // queue id 0, drop reason 80, pad`

// From the vector tr05_switch_local.
const v05LocalHex = `
	02 60 0002 // Ver 0, NProto 2; Q and F; reserved; hw_id 2
	000003e9   // sequence number
	5f5e1000   // ingress timestamp
	0a0b0c0d   // switch id
	0011 0104  // ingress port 17, egress port 260
	05 0102f0  // queue id 5, queue occupancy
	5f5e1010   // egress timestamp`

// From the first frame of the capture onos_fabric_v04_udp_reports.
const v05FixedHex = `
	00 20 0001 // Ver 0, NProto 0; F; reserved; hw_id 1
	00000000   // sequence number
	006c8de7   // ingress timestamp`

func TestV05Drop(t *testing.T) {
	wiretest.Check(t, newV05, v05DropHex, &V05{
		NProto: NProtoDrop, D: true, HWID: 63, Sequence: 0xFFFFFFFF,
		Drop: DropHeader{SwitchID: 0x0A0B0C0D, IngressPort: 17, Reason: 80},
	})
}

func TestV05SwitchLocal(t *testing.T) {
	wiretest.Check(t, newV05, v05LocalHex, &V05{
		NProto: NProtoSwitchLocal, Q: true, F: true, HWID: 2, Sequence: 1001, IngressTS: 1600000000,
		Local: SwitchLocal{
			SwitchID: 0x0A0B0C0D, IngressPort: 17, EgressPort: 260,
			QueueID: 5, QueueOccupancy: 66288, EgressTS: 1600000016,
		},
	})
}

func TestV05Ethernet(t *testing.T) {
	wiretest.Check(t, newV05, v05FixedHex, &V05{F: true, HWID: 1, IngressTS: 0x6C8DE7})
}

func TestV05Errors(t *testing.T) {
	for _, tc := range []struct {
		name string
		hex  string
		used int
		want error
	}{
		{"no bytes", "", 0, wire.ErrTruncatedFixedHeader},
		{"fixed header cut", "002000010000000000 6c8d", 0, wire.ErrTruncatedFixedHeader},
		{"drop header cut", "0180003f ffffffff 00000000 0a0b0c0d 00110000 005000", 0, wire.ErrTruncatedDropHeader},
		{"local header cut", "02600002 000003e9 5f5e1000 0a0b0c0d", 0, wire.ErrTruncatedLocalHeader},
		{"NProto 3", "03000001 00000002 00000003 ffff", 12, wire.ErrUnknownNProto},
		{"NProto 15", "0f000001 00000002 00000003", 12, wire.ErrUnknownNProto},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var h V05
			used, err := h.Decode(wiretest.Hex(t, tc.hex))
			if err != tc.want || used != tc.used {
				t.Errorf("got %d, %v; want %d, %v", used, err, tc.used, tc.want)
			}
		})
	}
}

func TestV05KeepsTheFixedHeaderOnErrors(t *testing.T) {
	want := V05{NProto: 5, F: true, HWID: 1, Sequence: 2, IngressTS: 3}
	h := V05{D: true, Drop: DropHeader{SwitchID: 9}, Local: SwitchLocal{SwitchID: 9}}
	if _, err := h.Decode(wiretest.Hex(t, "05200001 00000002 00000003")); err == nil || h != want {
		t.Errorf("unknown NProto: got %+v, %v; want %+v and an error", h, err, want)
	}
	want.NProto = NProtoDrop
	if _, err := h.Decode(wiretest.Hex(t, "01200001 00000002 00000003")); err == nil || h != want {
		t.Errorf("truncated drop header: got %+v, %v; want %+v and an error", h, err, want)
	}
}

// A source that is configured to send TR 0.5 may write any version.
func TestV05IgnoresTheVersion(t *testing.T) {
	var h V05
	b := wiretest.Hex(t, "12200001 00000002 00000003 00000004 00010002 05000006 00000007")
	if n, err := h.Decode(b); n != 28 || err != nil {
		t.Fatalf("got %d, %v; want 28, none", n, err)
	}
	if got := h.Append(nil)[0]; got != 0x02 {
		t.Errorf("first byte after Append: got %#02x, want version 0 and NProto 2", got)
	}
}

func BenchmarkV05Decode(b *testing.B) {
	p := wiretest.Hex(b, v05LocalHex)
	var h V05
	b.ReportAllocs()
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if _, err := h.Decode(p); err != nil {
			b.Fatal(err)
		}
	}
}
