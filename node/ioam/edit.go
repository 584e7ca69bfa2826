package ioam

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/waybill-int/waybill/wire/packet"
)

const (
	// An extension header is a multiple of 8 bytes long, and Hdr Ext Len does not count the first 8 (RFC 8200 §4).
	unit         = 8
	maxExtension = 256 * unit

	payloadLengthAt = 4 // in the IPv6 header
	nextHeaderAt    = 6
)

// An edit changes a copy of a packet. b is the dst of the caller with the copy behind it; the offsets of p are those of
// the copy as it is now.
type edit struct {
	b    []byte
	base int // of the copy in b
	p    Packet
}

// copied appends the packet to dst and returns it as an edit.
func copied(dst []byte, p *Packet) edit {
	return edit{b: append(dst, p.Frame...), base: len(dst), p: *p}
}

// frame is the copy as it is now.
func (e *edit) frame() []byte { return e.b[e.base:] }

// options returns the IOAM options from the offset at on.
func (e *edit) options(at int) Options {
	if e.p.HopByHop == 0 {
		return Options{}
	}
	return Options{frame: e.frame(), at: at, end: e.p.HopByHopEnd}
}

// fits says why the hop-by-hop header cannot become n bytes longer; Done: it can.
func (e *edit) fits(n, mtu int) Why {
	switch {
	case e.p.HopByHopEnd-e.p.HopByHop+n > maxExtension, e.p.TotalLength-ipv6Len+n > math.MaxUint16:
		return CarrierFull
	case mtu > 0 && n > 0 && e.p.TotalLength+n > mtu:
		return MTU
	}
	return Done
}

// replace puts n zero bytes in the place of those from at to end.
func (e *edit) replace(at, end, n int) {
	grow := n - (end - at)
	size := len(e.b)
	if grow > 0 {
		e.b = slices.Grow(e.b, grow)[:size+grow]
	}
	copy(e.b[e.base+at+n:], e.b[e.base+end:size])
	e.b = e.b[:size+grow]
	clear(e.b[e.base+at : e.base+at+n])
}

// pad puts n bytes of padding, below 8, in the place of those from at to end (RFC 8200 §4.2).
func (e *edit) pad(at, end, n int) {
	e.replace(at, end, n)
	if n >= 2 {
		f := e.frame()
		f[at], f[at+1] = packet.IPv6OptionPadN, uint8(n-2)
	}
}

// padding is how many bytes of padding begin at the offset at.
func (e *edit) padding(at int) int {
	f, start := e.frame(), at
	var o packet.IPv6Option
	for at < e.p.HopByHopEnd {
		n, err := o.Decode(f[at:e.p.HopByHopEnd])
		if err != nil || o.Type != packet.IPv6OptionPad1 && o.Type != packet.IPv6OptionPadN {
			break
		}
		at += n
	}
	return at - start
}

// paddingBefore is how many bytes of padding end at the offset end, which an option begins at.
func (e *edit) paddingBefore(end int) int {
	f, n := e.frame(), 0
	var o packet.IPv6Option
	for at := e.p.HopByHop + extensionMinLen; at < end; {
		size, err := o.Decode(f[at:end])
		if err != nil {
			return 0 // Parse has read it
		}
		at, n = at+size, n+size
		if o.Type != packet.IPv6OptionPad1 && o.Type != packet.IPv6OptionPadN {
			n = 0
		}
	}
	return n
}

// resize notes in the length fields that the hop-by-hop header is n bytes longer, a multiple of 8.
func (e *edit) resize(n int) {
	f := e.frame()
	e.p.HopByHopEnd += n
	e.p.TotalLength += n
	f[e.p.HopByHop+1] = uint8((e.p.HopByHopEnd-e.p.HopByHop)/unit - 1)
	e.payloadLength()
}

func (e *edit) payloadLength() {
	binary.BigEndian.PutUint16(e.frame()[e.p.L3+payloadLengthAt:], uint16(e.p.TotalLength-ipv6Len))
}
