package report

import "github.com/waybill-int/waybill/wire"

// Version returns the version nibble of a telemetry report: 0 for TR 0.5, 1 for TR 1.0, 2 for TR 2.0. b is the UDP
// payload. Another nibble is returned with ErrUnknownVersion, no bytes are ErrTruncatedFixedHeader.
//
// TR 0.5 does not state its value. Senders write 0, but one that writes another nibble exists: a collector that is
// configured to expect TR 0.5 from a source decodes V05 without asking.
func Version(b []byte) (uint8, error) {
	if len(b) == 0 {
		return 0, wire.ErrTruncatedFixedHeader
	}
	v := b[0] >> 4
	if v > 2 {
		return v, wire.ErrUnknownVersion
	}
	return v, nil
}
