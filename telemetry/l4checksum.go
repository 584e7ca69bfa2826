package telemetry

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
)

// l4Sample leaves one in eight whole packets to be looked at, by the low bits of their checksum: the sum takes up to
// 100 ns.
const l4Sample = 7

// looksAtL4 reports whether the checksum of a whole packet is one to be looked at. b is all that is behind its IP
// header. INT behind a TCP or UDP header is data to the checksum of that (INT 2.1 §5.6), so that it is no concern here.
func (d *Decoder) looksAtL4(b []byte, protocol uint8) bool {
	switch {
	case protocol == packet.ProtoUDP && len(b) >= 8:
		sum := binary.BigEndian.Uint16(b[6:])
		return sum != 0 && sum&l4Sample == 0 && int(binary.BigEndian.Uint16(b[4:])) == len(b)
	case protocol == packet.ProtoTCP && len(b) >= 20:
		// or it may be UDP
		return binary.BigEndian.Uint16(b[16:])&l4Sample == 0 && !d.dialect.Has(codepoint.QuirkProtocolRestored)
	}
	return false
}

// noteL4 notes what the sum of a whole packet with its pseudo header says.
func (d *Decoder) noteL4(sum uint32) {
	d.report.Flags |= CheckedL4
	if packet.Fold(sum) != 0xffff {
		d.report.Flags |= WrongL4Checksum
	}
}
