package telemetry

import "encoding/hex"

// MaxDatagram is how many bytes of a datagram are kept as evidence.
const MaxDatagram = 2048

// datagramCopies are copies of datagrams in the memory of a batch. Reports of one datagram share a copy.
type datagramCopies struct {
	bytes  []byte
	latest *byte // first byte of the datagram that was copied last
	copied []byte
}

func (c *datagramCopies) reset() { c.bytes, c.latest, c.copied = c.bytes[:0], nil, nil }

// keep returns a copy of a datagram, cut to MaxDatagram bytes.
func (c *datagramCopies) keep(datagram []byte) []byte {
	if len(datagram) == 0 {
		return nil
	}
	if &datagram[0] == c.latest {
		return c.copied
	}
	n := min(len(datagram), MaxDatagram)
	if len(c.bytes)+n > cap(c.bytes) {
		// Copies made before stay where they are; the new block serves from now on.
		c.bytes = make([]byte, 0, max(2*cap(c.bytes), 16*MaxDatagram))
	}
	start := len(c.bytes)
	c.bytes = append(c.bytes, datagram[:n]...)
	c.latest, c.copied = &datagram[0], c.bytes[start:start+n:start+n]
	return c.copied
}

// Hex is bytes that JSON and text have in hex, as waybill decode --hex takes them.
type Hex []byte

// String returns the bytes in hex.
func (h Hex) String() string { return hex.EncodeToString(h) }

// MarshalText returns the bytes in hex.
func (h Hex) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads bytes in hex.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// HexOf returns a copy of the bytes of a datagram, cut to MaxDatagram; nil if there are none.
func HexOf(datagram []byte) Hex {
	if len(datagram) == 0 {
		return nil
	}
	return append(Hex(nil), datagram[:min(len(datagram), MaxDatagram)]...)
}
