package report

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
)

// TSDropKey returns the drop key with which Transparent Security names a drop rule (TSDrop.DropKey): the first 8 bytes
// of the SHA-256 of "<mac>|<port>|<ipv4>|<ipv6>". mac is the source MAC address, port the destination port. v4 and v6
// are the address of the rule; the family it does not use, and an invalid Addr, stand as 0.0.0.0 and :: in the text.
func TSDropKey(mac [6]byte, port uint16, v4, v6 netip.Addr) uint64 {
	text := make([]byte, 0, 96)
	for i := range mac {
		if i > 0 {
			text = append(text, ':')
		}
		text = hex.AppendEncode(text, mac[i:i+1])
	}
	text = append(text, '|')
	text = strconv.AppendUint(text, uint64(port), 10)
	text = append(text, '|')
	text = appendAddr(text, v4, netip.IPv4Unspecified())
	text = append(text, '|')
	text = appendAddr(text, v6, netip.IPv6Unspecified())
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:])
}

// appendAddr appends addr, or unspecified if addr is the zero Addr.
func appendAddr(b []byte, addr, unspecified netip.Addr) []byte {
	if !addr.IsValid() {
		addr = unspecified
	}
	return addr.AppendTo(b)
}
