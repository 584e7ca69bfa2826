package telemetry_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A report may hold no more of a packet than its ports: the flow is known all the same.
func TestDecodeCutPorts(t *testing.T) {
	// As int-host-reporter sends it: a drop report of 0.5 whose fragment ends 8 bytes behind the IP header.
	const drop = `01800000 00000001 00000001 00000001 00010002 00500000 010203040506 0a0b0c0d0e0f 0800`
	c := codepoint.New()
	c.Compile()
	for _, test := range []struct{ name, protocol, l4, want string }{
		{"TCP", "06", "0fa00050 00000001", "10.0.1.1:4000 > 10.0.2.2:80 tcp"},
		{"UDP", "11", "0fa00050 0008", "10.0.1.1:4000 > 10.0.2.2:80 udp"},
		{"SCTP", "84", "0fa00050", "10.0.1.1:4000 > 10.0.2.2:80 sctp"},
		{"no ports", "06", "0fa000", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ip := "4500003c 00000000 40" + test.protocol + "0000 0a000101 0a000202"
			_, reports := decode(t, c, bytesOf(t, drop+ip+test.l4))
			if len(reports) != 1 {
				t.Fatalf("got %d reports", len(reports))
			}
			got := ""
			if r := &reports[0]; r.Is(telemetry.HasFlow) {
				got = r.Flow.String()
			}
			if got != test.want {
				t.Errorf("got flow %q, want %q", got, test.want)
			}
		})
	}
}

// The flags of VXLAN-GPE before INT of June 2016 have P in one of two places, and the tests of p4lang/switch send 0x18.
func TestDecodeGPE2016Flags(t *testing.T) {
	v := test.Vectors(t, "int2016_vxlan_gpe")[0]
	at := bytes.Index(v.Bytes, bytesOf(t, "0c000005 00beef00"))
	for _, flags := range []byte{0x0c, 0x08, 0x04, 0x18} {
		frame := bytes.Clone(v.Bytes)
		frame[at] = flags
		_, reports := decode(t, v.Points(t), about(frame))
		const want = "10.0.1.1:40000 > 10.0.2.2:53 udp in vxlan-gpe 48879"
		if len(reports) != 1 || reports[0].Flow.String() != want || len(reports[0].Hops) != 3 {
			t.Errorf("flags %#02x: got %d reports", flags, len(reports))
		}
	}
}
