//go:build linux

package lab

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
)

// TestParseINT has captures read packets with INT of both forms of a shim: they are the packets that they were without.
func TestParseINT(t *testing.T) {
	src, dst := netip.MustParseAddrPort("10.0.1.1:10001"), netip.MustParseAddrPort("10.0.2.1:80")
	for _, row := range []struct {
		name  string
		int   []byte
		clone bool
	}{
		{"none", nil, false},
		{"2.1, a record of two words", []byte{ // Type 1, Length 5 behind the shim; version 2, hop length 2
			0x10, 5, 0, 0, 0x20, 0, 2, 7, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 2,
		}, false},
		{"2.1, a clone", []byte{0x10, 3, 0, 0, 0x28, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0}, true},
		{"1.0, a record of two words", []byte{ // Type 1, Length 5 with the shim; version 1, hop length 2
			1, 0, 5, 0, 0x10, 2, 2, 7, 0xC0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 2,
		}, false},
	} {
		const ip, headers, length = 14, 14 + 20 + 8, 501
		frame := append(make([]byte, ip), rawPacket(src, dst, 7, 5, length, false)...)
		if row.int != nil {
			frame = slices.Insert(frame, headers, row.int...)
			frame[ip+1] = 0x17 << 2
			binary.BigEndian.PutUint16(frame[ip+2:], uint16(length+len(row.int)))
		}
		var s sighting
		if !s.parse(frame, len(frame), 0x17, 0x3F) {
			t.Errorf("%s: not read", row.name)
			continue
		}
		if s.flow != 7 || s.number != 5 || s.bytes != length-28 || s.clone != row.clone {
			t.Errorf("%s: got flow %d, packet %d, %d bytes, clone %v", row.name, s.flow, s.number, s.bytes, s.clone)
		}
	}
}
