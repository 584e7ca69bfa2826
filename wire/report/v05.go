package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const v05FixedLen = 12

// A V05 is the header of a telemetry report of version 0.5: the fixed header (TR 0.5 §3.2.1) and the second header that
// NProto announces. Behind it stands the fragment, which always begins with Ethernet and runs to the end of the UDP
// payload.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |NProto |D|Q|F|          Reserved           |   hw_id   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Sequence Number                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       Ingress Timestamp                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|    Drop header (NProto 1) or switch local header (NProto 2)   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type V05 struct {
	NProto uint8 // 4 bits, one of NProtoEthernet, NProtoDrop, NProtoSwitchLocal
	D      bool  // a packet that matches a drop watchlist was dropped
	Q      bool  // congestion on a monitored queue
	F      bool  // tracked flow; without it the fragment holds no embedded telemetry

	HWID      uint8       // 6 bits, the reporting subsystem, unique within the source
	Sequence  uint32      // counts the reports of one HWID to one destination
	IngressTS uint32      // the low 32 bits of the device's nanosecond clock; wraps every 4.29 s
	Drop      DropHeader  // with NProtoDrop
	Local     SwitchLocal // with NProtoSwitchLocal
}

// Decode reads h from the front of b, the UDP payload, and returns where the fragment begins: 12, 24 or 28. It does not
// look at the version nibble (see Version). It fails with ErrTruncatedFixedHeader, ErrTruncatedDropHeader,
// ErrTruncatedLocalHeader, and with ErrUnknownNProto for an NProto above 2; then the fixed header is good and 12 is
// returned, but what stands behind it is unknown.
func (h *V05) Decode(b []byte) (int, error) {
	*h = V05{}
	if len(b) < v05FixedLen {
		return 0, wire.ErrTruncatedFixedHeader
	}
	h.NProto = b[0] & 0x0F
	h.D = b[1]&0x80 != 0
	h.Q = b[1]&0x40 != 0
	h.F = b[1]&0x20 != 0
	h.HWID = b[3] & 0x3F
	h.Sequence = binary.BigEndian.Uint32(b[4:])
	h.IngressTS = binary.BigEndian.Uint32(b[8:])

	switch h.NProto {
	case NProtoEthernet:
		return v05FixedLen, nil
	case NProtoDrop:
		if _, err := h.Drop.Decode(b[v05FixedLen:]); err != nil {
			return 0, err
		}
		return v05FixedLen + dropHeaderLen, nil
	case NProtoSwitchLocal:
		if _, err := h.Local.Decode(b[v05FixedLen:]); err != nil {
			return 0, err
		}
		return v05FixedLen + switchLocalLen, nil
	}
	return v05FixedLen, wire.ErrUnknownNProto
}

// Append appends h to b, with version 0 and the second header that NProto announces.
func (h *V05) Append(b []byte) []byte {
	b = append(b, h.NProto&0x0F, bit(h.D, 0x80)|bit(h.Q, 0x40)|bit(h.F, 0x20), 0, h.HWID&0x3F)
	b = binary.BigEndian.AppendUint32(b, h.Sequence)
	b = binary.BigEndian.AppendUint32(b, h.IngressTS)
	switch h.NProto & 0x0F {
	case NProtoDrop:
		return h.Drop.Append(b)
	case NProtoSwitchLocal:
		return h.Local.Append(b)
	}
	return b
}

// Len returns 12, 24 or 28, as NProto says.
func (h *V05) Len() int {
	switch h.NProto & 0x0F {
	case NProtoDrop:
		return v05FixedLen + dropHeaderLen
	case NProtoSwitchLocal:
		return v05FixedLen + switchLocalLen
	}
	return v05FixedLen
}
