package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const tcpLen = 20 // without options

// A TCP is a TCP header, DataOffset*4 bytes (RFC 9293 §3.1).
//
//	+-------------------------------+-------------------------------+
//	|            SrcPort            |            DstPort            |
//	+-------------------------------+-------------------------------+
//	|                              Seq                              |
//	+---------------------------------------------------------------+
//	|                              Ack                              |
//	+-------+-------+---------------+-------------------------------+
//	|DataOff| Rsrvd |     Flags     |            Window             |
//	+-------+-------+---------------+-------------------------------+
//	|           Checksum            |            Urgent             |
//	+-------------------------------+-------------------------------+
//	|                  Options (0 to 40 bytes) ...                  |
//	+---------------------------------------------------------------+
type TCP struct {
	SrcPort, DstPort uint16
	Seq, Ack         uint32
	DataOffset       uint8 // 4 bits, length of the header in words, at least 5
	Flags            uint8 // from the top: CWR ECE URG ACK PSH RST SYN FIN
	Window           uint16
	Checksum         uint16
	Urgent           uint16
	Options          []byte // view; a multiple of 4 bytes; a sequence of TCPOption
}

// Decode reads h from the front of b and returns DataOffset*4. Errors:
//   - ErrTruncatedTCP: fewer than 20 bytes. The ports are filled if they are there, in the first 4: a report may hold
//     no more of the packet.
//   - ErrTCPDataOffset: DataOffset below 5; the other fields are filled.
//   - ErrTruncatedTCPOptions: the options are cut. It comes with 20, not 0, and the other fields are filled: some
//     senders put INT between the fixed 20 bytes and the options, so that a caller may want to go on there.
func (h *TCP) Decode(b []byte) (int, error) {
	if len(b) < tcpLen {
		*h = TCP{}
		h.SrcPort, h.DstPort, _ = Ports(b)
		return 0, wire.ErrTruncatedTCP
	}
	h.SrcPort = binary.BigEndian.Uint16(b)
	h.DstPort = binary.BigEndian.Uint16(b[2:])
	h.Seq = binary.BigEndian.Uint32(b[4:])
	h.Ack = binary.BigEndian.Uint32(b[8:])
	h.DataOffset = b[12] >> 4
	h.Flags = b[13]
	h.Window = binary.BigEndian.Uint16(b[14:])
	h.Checksum = binary.BigEndian.Uint16(b[16:])
	h.Urgent = binary.BigEndian.Uint16(b[18:])
	h.Options = nil
	n := int(h.DataOffset) * 4
	if n < tcpLen {
		return 0, wire.ErrTCPDataOffset
	}
	if len(b) < n {
		return tcpLen, wire.ErrTruncatedTCPOptions
	}
	if n > tcpLen {
		h.Options = b[tcpLen:n:n]
	}
	return n, nil
}

// Append appends h to b. It writes DataOffset and Checksum as they are.
func (h *TCP) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, h.SrcPort)
	b = binary.BigEndian.AppendUint16(b, h.DstPort)
	b = binary.BigEndian.AppendUint32(b, h.Seq)
	b = binary.BigEndian.AppendUint32(b, h.Ack)
	b = append(b, h.DataOffset<<4, h.Flags)
	b = binary.BigEndian.AppendUint16(b, h.Window)
	b = binary.BigEndian.AppendUint16(b, h.Checksum)
	b = binary.BigEndian.AppendUint16(b, h.Urgent)
	return append(b, h.Options...)
}

// Len returns 20 plus the length of Options, in bytes.
func (h *TCP) Len() int { return tcpLen + len(h.Options) }
