package telemetry_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A UDP checksum that other programs call right is right, and with any bit that it covers turned it is not. Of eight packets with
// different checksums one is looked at; one that is not there, or of a packet that is cut off, never.
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
