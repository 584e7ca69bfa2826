package inband

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestShimL4(t *testing.T) {
	fresh := func() wiretest.Codec { return new(ShimL4) }
	t.Run("NPT0", func(t *testing.T) { // vector int21_md_tcp_dscp
		wiretest.Check(t, fresh, `
			10 // type MD, NPT 0
			07 // length 7 words, shim excluded
			00 // reserved
			b8 // DSCP 46
		`, &ShimL4{Type: TypeMD, NPT: NPTDSCP, Length: 7, DSCP: 46})
	})
	t.Run("NPT1", func(t *testing.T) { // vector int21_md_udp_npt1_ipv6
		wiretest.Check(t, fresh, `
			14   // type MD, NPT 1
			07   // length
			12b7 // UDP destination port 4791
		`, &ShimL4{Type: TypeMD, NPT: NPTDstPort, Length: 7, DstPort: 4791})
	})
	t.Run("NPT2", func(t *testing.T) { // vector int21_mx_new_udp_ipsec
		wiretest.Check(t, fresh, `
			38 // type MX, NPT 2
			03 // length
			00 // reserved
			04 // protocol: IPv4
		`, &ShimL4{Type: TypeMX, NPT: NPTProtocol, Length: 3, Protocol: 4})
	})
	t.Run("NPT3", func(t *testing.T) { // undefined: nothing is read from the last two bytes
		wiretest.Check(t, fresh, `1c 03 0000`, &ShimL4{Type: TypeMD, NPT: 3, Length: 3})
	})
}

func TestShimL4Reserved(t *testing.T) {
	tests := []struct {
		hex  string
		want ShimL4
	}{
		{"13 07 ff bb", ShimL4{Type: TypeMD, NPT: NPTDSCP, Length: 7, DSCP: 46}},
		{"1b 07 ff 06", ShimL4{Type: TypeMD, NPT: NPTProtocol, Length: 7, Protocol: 6}},
		{"1f 07 ff ff", ShimL4{Type: TypeMD, NPT: 3, Length: 7}},
	}
	for _, test := range tests {
		var s ShimL4
		if _, err := s.Decode(wiretest.Hex(t, test.hex)); err != nil || s != test.want {
			t.Errorf("Decode(%s): got %+v, %v; want %+v", test.hex, s, err, test.want)
		}
	}
}

func TestShimL4End(t *testing.T) {
	for length, want := range map[uint8]int{0: 4, 7: 32, 255: 1024} {
		if got := (&ShimL4{Length: length}).End(); got != want {
			t.Errorf("End with Length %d: got %d, want %d", length, got, want)
		}
	}
}
