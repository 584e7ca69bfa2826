package dissect

import (
	"net/netip"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// Datagram reads the layers of a telemetry report, the payload of a UDP datagram that src sent to port dstPort. These
// select the dialect, as they do for a collector that received it. Otherwise it is as Packet.
func Datagram(payload []byte, src netip.AddrPort, dstPort uint16, cfg *codepoint.Config) []Layer {
	w := walk{
		packet: payload, end: len(payload), last: len(payload),
		cfg: cfg, profile: cfg.For(src.Addr(), src.Port(), dstPort), telemetry: true,
		layers: make([]Layer, 0, 12),
	}
	w.run(TelemetryReport)
	return w.layers
}
