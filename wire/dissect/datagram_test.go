package dissect

import (
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// TestDatagram: the payload of a report reads as it does in the packet that carried it, also where its source needs a
// dialect.
func TestDatagram(t *testing.T) {
	cfg := test.Dialect(t, "onos-int10-ver0")
	compared := 0
	for _, frame := range test.Packets(t, "onos_v10_udp_reports.pcap") {
		d, ok := test.UDP(frame)
		if !ok {
			continue
		}
		whole := Packet(frame, Ethernet, cfg)
		for i := range whole {
			if whole[i].Name == "telemetry_report_v1_0" {
				got, want := AppendJSON(nil, Datagram(d.Payload, d.Src, d.DstPort, cfg)), AppendJSON(nil, whole[i:])
				if string(got) != string(want) {
					t.Fatalf("got  %s\nwant %s", got, want)
				}
				compared++
			}
		}
	}
	if compared == 0 {
		t.Error("no report in the capture")
	}
	// The same bytes of a source that no rule names are read as the specification says.
	plain := codepoint.New()
	r, _ := codepoint.ParseRule("192.0.2.1", "onos-int10-ver0")
	plain.Rules = []codepoint.Rule{r}
	plain.Compile()
	d, _ := test.UDP(test.Packets(t, "onos_v10_udp_reports.pcap")[0])
	quirks := func(src string) string {
		layers := Datagram(d.Payload, netip.MustParseAddrPort(src), d.DstPort, plain)
		return layers[0].Find("quirk").Text()
	}
	if got := quirks("192.0.2.1:7"); got != "flags_first" {
		t.Errorf("its source: quirk %q", got)
	}
	if got := quirks("192.0.2.2:7"); got != "" {
		t.Errorf("another source: quirk %q", got)
	}
}
