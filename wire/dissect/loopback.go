package dissect

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire"
)

const loopbackLen = 4

// loopback reads the address family in front of captures on the loopback interface of BSD systems. LINKTYPE_LOOP has it
// in network byte order, LINKTYPE_NULL in that of the machine that captured; a family fits in 16 bits, which tells them
// apart.
func (w *walk) loopback() Start {
	b, l := w.rest(), w.begin()
	if len(b) < loopbackLen {
		return w.broken("loopback", &l, 0, wire.ErrTruncatedEthernet)
	}
	family := binary.BigEndian.Uint32(b)
	if family > 0xffff {
		family = bits.ReverseBytes32(family)
	}
	next, meaning := Payload, ""
	switch family {
	case 2:
		next, meaning = IPv4, "IPv4"
	case 10, 24, 28, 30: // Linux; NetBSD and OpenBSD; FreeBSD; macOS
		next, meaning = IPv6, "IPv6"
	}
	number(&l, "family", family, 0, 32).Meaning = meaning
	w.add("loopback", &l, loopbackLen)
	return next
}
