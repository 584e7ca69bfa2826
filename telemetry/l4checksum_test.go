package telemetry_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A UDP checksum that other programs call right is right, and with any bit that it covers turned it is not. Of eight
// packets with different checksums one is looked at; one that is not there, or of a packet that is cut off, never.
func TestDecodeL4Checksum(t *testing.T) {
	v := test.Vectors(t, "int21_md_checksum_complement")[0]
	checked := 0
	for i := range uint16(8) {
		frame := bytes.Clone(v.Bytes)
		udp := frame[14+20:]
		// What a port is more, its checksum is less.
		binary.BigEndian.PutUint16(udp, binary.BigEndian.Uint16(udp)+i)
		sum := binary.BigEndian.Uint16(udp[6:])
		binary.BigEndian.PutUint16(udp[6:], sum-i)
		if sum < i {
			t.Fatal("the sum carries")
		}
		if !l4Flags(t, &v, frame, telemetry.CheckedL4) {
			continue
		}
		checked++
		if l4Flags(t, &v, frame, telemetry.WrongL4Checksum) {
			t.Errorf("port +%d: the checksum is right", i)
		}
		for bit := 8 * (14 + 12); bit < 8*len(frame); bit++ {
			at := bit/8 - 14 - 20
			if at == 4 || at == 5 || at == 6 || at == 7 {
				continue // the length, and the checksum itself
			}
			frame[bit/8] ^= 0x80 >> (bit % 8)
			if !l4Flags(t, &v, frame, telemetry.WrongL4Checksum) {
				t.Errorf("bit %d of byte %d behind IP is wrong, and nobody says so", bit%8, at)
			}
			frame[bit/8] ^= 0x80 >> (bit % 8)
		}
		if l4Flags(t, &v, frame[:len(frame)-4], telemetry.CheckedL4|telemetry.WrongL4Checksum) {
			t.Error("cut off, and looked at")
		}
		binary.BigEndian.PutUint16(udp[6:], 0)
		if l4Flags(t, &v, frame, telemetry.CheckedL4|telemetry.WrongL4Checksum) {
			t.Error("no checksum, and looked at")
		}
	}
	if checked != 1 {
		t.Errorf("%d of 8 were looked at", checked)
	}
}

func l4Flags(t *testing.T, v *test.Vector, frame []byte, flags telemetry.Flags) bool {
	t.Helper()
	_, reports := decode(t, v.Points(t), about(bytes.Clone(frame)))
	return len(reports) == 1 && reports[0].Is(flags)
}

// TCP and UDP over IPv4 and IPv6, with checksums added up byte by byte as RFC 1071 says.
func TestDecodeL4ChecksumOfAll(t *testing.T) {
	v := test.Vectors(t, "int21_md_checksum_complement")[0]
	for _, c := range []struct {
		name     string
		v6       bool
		protocol byte
		field    int // of the checksum
	}{
		{"udp4", false, 17, 6}, {"udp6", true, 17, 6}, {"tcp4", false, 6, 16}, {"tcp6", true, 6, 16},
	} {
		checked := 0
		for port := range 64 {
			l4 := make([]byte, 33) // an odd length
			for i := range l4 {
				l4[i] = byte(7 * i)
			}
			l4[1] = byte(port)
			if c.protocol == 17 {
				l4[4], l4[5] = 0, 33
			} else {
				l4[12] = 5 << 4
			}
			l4[c.field], l4[c.field+1] = 0, 0
			ethernet := make([]byte, 14)
			ip := make([]byte, 20)
			addresses := ip[12:20]
			if c.v6 {
				ip = make([]byte, 40)
				addresses = ip[8:40]
				ethernet[12], ethernet[13] = 0x86, 0xdd
				ip[0], ip[5], ip[6], ip[7] = 0x60, 33, c.protocol, 64
			} else {
				ethernet[12] = 8
				ip[0], ip[3], ip[8], ip[9] = 0x45, 20+33, 64, c.protocol
			}
			for i := range addresses {
				addresses[i] = byte(0xe0 + i)
			}
			var sum int
			for i, b := range append(append(bytes.Clone(addresses), 0, c.protocol, 0, 33), l4...) {
				sum += int(b) << (8 * (1 - i%2))
			}
			for sum > 0xffff {
				sum = sum>>16 + sum&0xffff
			}
			binary.BigEndian.PutUint16(l4[c.field:], ^uint16(sum))
			frame := slices.Concat(ethernet, ip, l4)
			if !l4Flags(t, &v, frame, telemetry.CheckedL4) {
				continue
			}
			checked++
			if l4Flags(t, &v, frame, telemetry.WrongL4Checksum) {
				t.Errorf("%s: the checksum is right", c.name)
			}
			frame[len(frame)-1] ^= 1
			if !l4Flags(t, &v, frame, telemetry.WrongL4Checksum) {
				t.Errorf("%s: the checksum is wrong", c.name)
			}
		}
		if checked != 8 {
			t.Errorf("%s: %d of 64 were looked at", c.name, checked)
		}
	}
}
