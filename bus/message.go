package bus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"
	"slices"

	"github.com/klauspost/compress/s2"
)

// A Header is what stands before the datagrams of a message.
type Header struct {
	Collector string // name, 1 to 64 bytes
	// Run tells the lives of a collector apart that know nothing of each other: when the first began, nanoseconds since
	// 1970.
	Run       uint64
	Partition uint16
	Number    uint64 // of the message in its run and partition, from 1
	Before    uint64 // datagrams in the messages before it
	Datagrams uint32 // in it
	// WholeNs says that all that arrived at the collector before it, in any partition, is in this message or was sent
	// before it; nanoseconds since 1970.
	WholeNs int64
	// Numbers are, by partition, those of the last messages that were sent before it and are not confirmed, or 0:
	// WholeNs holds for who has all of them. Only messages with WholeNs have any.
	Numbers  []uint64
	Counters Counters
}

// Counters are those of a collector, since its run began.
type Counters struct {
	Received    uint64 // datagrams that were taken from sockets
	KernelDrops uint64 // datagrams for which the receive buffer had no room
	Refused     uint64 // datagrams of sources that the allow-list does not have
	Spooled     uint64 // bytes that wait to be confirmed, now
}

// A Key names what numbers of messages belong to.
type Key struct {
	Collector string
	Run       uint64
	Partition uint16
}

// Key returns what the number of the message belongs to.
func (h *Header) Key() Key { return Key{h.Collector, h.Run, h.Partition} }

// A Datagram is one datagram of a message.
type Datagram struct {
	Collector string         // where it arrived; set by the Consumer
	ArrivedNs int64          // at the collector, nanoseconds since 1970
	Port      uint16         // on which it arrived
	Source    netip.AddrPort // who sent it
	Payload   []byte         // a view into the message
	Truncated bool           // it was longer than Payload
	// Kept says that it is somewhere else, and Payload what is said of it there: At of Kept.Message, at Kept.Holder.
	Kept Kept
}

// A Kept is a datagram that a Holder of messages keeps.
type Kept struct {
	Is      bool
	Holder  int    // its number
	Message uint64 // as the holder numbers them
	At      int    // place in the message, from 0
}

// The layout of a message: magic, CRC-32C of all that follows, a header of fixed length with the length of the name at
// its end, the name, how many numbers there are and the numbers, as varints, and the datagrams, compressed with S2.
// Messages of version 1, which are read, have no numbers and not how many there are.
const (
	magic      = "WBM\x02" // the last byte is the version
	magic1     = "WBM\x01"
	magicHead  = "WBH\x02" // of what a Holder says of a message: some of its datagrams are kept
	fixedBytes = 4 + 4 + 2 + 8 + 8 + 8 + 4 + 8 + 4*8 + 1
	maxName    = 64
	// MaxPartitions is how many partitions a collector may have.
	MaxPartitions = 256
	// MaxMessageBytes bounds a message; JetStream takes 1 MiB by default.
	MaxMessageBytes = 1 << 20
	// maxBodyBytes bounds the datagrams of a message before they are compressed.
	maxBodyBytes = 4 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors of Decode.
var (
	ErrNotAMessage = errors.New("not a message of Waybill, or one of a newer version")
	ErrDamaged     = errors.New("damaged: the checksum is wrong")
	ErrMalformed   = errors.New("malformed: a length does not fit")
)

// AppendMessage appends a message to buf. body is what AppendDatagram wrote.
func AppendMessage(buf []byte, h *Header, body []byte) []byte {
	return appendMessage(buf, magic, h, body)
}

// AppendHead appends what a Holder says of a message with the header h to buf. body is what AppendDatagram wrote, for
// each datagram in the message.
func AppendHead(buf []byte, h *Header, body []byte) []byte {
	return appendMessage(buf, magicHead, h, body)
}

func appendMessage(buf []byte, magic string, h *Header, body []byte) []byte {
	start := len(buf)
	buf = append(buf, magic...)
	buf = append(buf, 0, 0, 0, 0)
	buf = binary.BigEndian.AppendUint16(buf, h.Partition)
	for _, n := range []uint64{h.Run, h.Number, h.Before} {
		buf = binary.BigEndian.AppendUint64(buf, n)
	}
	buf = binary.BigEndian.AppendUint32(buf, h.Datagrams)
	buf = binary.BigEndian.AppendUint64(buf, uint64(h.WholeNs))
	c := &h.Counters
	for _, n := range []uint64{c.Received, c.KernelDrops, c.Refused, c.Spooled} {
		buf = binary.BigEndian.AppendUint64(buf, n)
	}
	buf = append(buf, uint8(len(h.Collector)))
	buf = append(buf, h.Collector...)
	buf = binary.AppendUvarint(buf, uint64(len(h.Numbers)))
	for _, n := range h.Numbers {
		buf = binary.AppendUvarint(buf, n)
	}
	head := len(buf)
	buf = slices.Grow(buf, s2.MaxEncodedLen(len(body)))
	buf = buf[:head+len(s2.Encode(buf[head:cap(buf)], body))]
	putSum(buf[start:])
	return buf
}

// putSum writes the sum of a message into it.
func putSum(message []byte) {
	binary.BigEndian.PutUint32(message[4:], crc32.Checksum(message[8:], castagnoli))
}

// DecodeHeader reads the header of a message, without the datagrams, and checks the sum over all of it.
func DecodeHeader(message []byte) (h Header, body []byte, err error) {
	if len(message) < fixedBytes || !isHead(message) && string(message[:4]) != magic && string(message[:4]) != magic1 {
		return h, nil, ErrNotAMessage
	}
	if binary.BigEndian.Uint32(message[4:]) != crc32.Checksum(message[8:], castagnoli) {
		return h, nil, ErrDamaged
	}
	rest := message[8:]
	next := func() uint64 {
		n := binary.BigEndian.Uint64(rest)
		rest = rest[8:]
		return n
	}
	h.Partition = binary.BigEndian.Uint16(rest)
	rest = rest[2:]
	h.Run, h.Number, h.Before = next(), next(), next()
	h.Datagrams = binary.BigEndian.Uint32(rest)
	rest = rest[4:]
	h.WholeNs = int64(next())
	h.Counters = Counters{next(), next(), next(), next()}
	length := int(rest[0])
	if rest = rest[1:]; length == 0 || length > maxName || length > len(rest) || h.Number == 0 {
		return h, nil, ErrMalformed
	}
	h.Collector, rest = string(rest[:length]), rest[length:]
	if string(message[:4]) == magic1 {
		return h, rest, nil
	}
	if h.Numbers, rest, err = readNumbers(rest); err != nil {
		return h, nil, err
	}
	return h, rest, nil
}

// isHead reports whether a message is what a Holder says of one.
func isHead(message []byte) bool { return len(message) >= 4 && string(message[:4]) == magicHead }

// readNumbers reads the numbers of a header, and returns what is behind them.
func readNumbers(b []byte) (list []uint64, rest []byte, err error) {
	count, length := binary.Uvarint(b)
	if length <= 0 || count > MaxPartitions || count > uint64(len(b)-length) {
		return nil, nil, ErrMalformed
	}
	rest = b[length:]
	for range count {
		n, length := binary.Uvarint(rest)
		if length <= 0 {
			return nil, nil, ErrMalformed
		}
		list, rest = append(list, n), rest[length:]
	}
	return list, rest, nil
}

// AppendDatagram appends a datagram to the body of a message.
func AppendDatagram(body []byte, d *Datagram) []byte {
	flags := byte(0)
	if d.Truncated {
		flags |= flagTruncated
	}
	source := d.Source.Addr()
	if source.Is4() {
		flags |= flagIPv4
	}
	if d.Kept.Is {
		flags |= flagKept
	}
	body = append(body, flags)
	body = binary.BigEndian.AppendUint64(body, uint64(d.ArrivedNs))
	body = binary.BigEndian.AppendUint16(body, d.Port)
	if source.Is4() {
		a := source.As4()
		body = append(body, a[:]...)
	} else {
		a := source.As16()
		body = append(body, a[:]...)
	}
	body = binary.BigEndian.AppendUint16(body, d.Source.Port())
	body = binary.BigEndian.AppendUint16(body, uint16(len(d.Payload)))
	return append(body, d.Payload...)
}

const (
	flagTruncated = 1 << iota
	flagIPv4
	flagKept
)

// datagramBytes is the most that a datagram takes in a body besides its payload.
const datagramBytes = 1 + 8 + 2 + 16 + 2 + 2

// Decode reads a message. The datagrams are appended to list; their payloads are views into memory, which is grown and
// returned for the next call, and end with that.
func Decode(message, memory []byte, list []Datagram) (Header, []Datagram, []byte, error) {
	h, compressed, err := DecodeHeader(message)
	if err != nil {
		return h, list, memory, err
	}
	length, err := s2.DecodedLen(compressed)
	if err != nil || length > maxBodyBytes {
		return h, list, memory, ErrMalformed
	}
	body, err := s2.Decode(memory[:cap(memory)], compressed)
	if err != nil {
		return h, list, memory, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	first := len(list)
	rest := body
	for len(rest) > 0 {
		d, n := readDatagram(rest)
		if n == 0 || d.Kept.Is && !isHead(message) {
			return h, list[:first], body, ErrMalformed
		}
		list, rest = append(list, d), rest[n:]
	}
	if uint32(len(list)-first) != h.Datagrams {
		return h, list[:first], body, ErrMalformed
	}
	return h, list, body, nil
}

// readDatagram reads the first datagram of b, and returns its length; 0: it is cut.
func readDatagram(b []byte) (d Datagram, n int) {
	if len(b) < 1 || b[0]&^(flagTruncated|flagIPv4|flagKept) != 0 {
		return d, 0
	}
	address := 16
	if b[0]&flagIPv4 != 0 {
		address = 4
	}
	head := datagramBytes - 16 + address
	if len(b) < head {
		return d, 0
	}
	d.Truncated, d.Kept.Is = b[0]&flagTruncated != 0, b[0]&flagKept != 0
	d.ArrivedNs = int64(binary.BigEndian.Uint64(b[1:]))
	d.Port = binary.BigEndian.Uint16(b[9:])
	source, _ := netip.AddrFromSlice(b[11:][:address])
	d.Source = netip.AddrPortFrom(source, binary.BigEndian.Uint16(b[11+address:]))
	length := int(binary.BigEndian.Uint16(b[head-2:]))
	if len(b) < head+length {
		return d, 0
	}
	d.Payload = b[head:][:length:length]
	return d, head + length
}
