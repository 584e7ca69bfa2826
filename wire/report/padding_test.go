package report

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestFragmentPadding(t *testing.T) {
	const (
		eth    = "020000000202 020000000101"
		ipv4   = "4500 0017 0000 4000 4011 0000 0a000101 0a000202 010203" // 23 bytes
		ipv6   = "60000000 0003 11 40 20010db8000100000000000000000001 20010db8000200000000000000000002 010203"
		large4 = "4500 0100 0000 4000 4011 0000 0a000101 0a000202 010203" // cut
	)
	for _, tc := range []struct {
		name   string
		inType uint8
		hex    string
		want   int
	}{
		{"nothing", InIPv4, "", 0},
		{"IPv4", InIPv4, ipv4, 0},
		{"IPv4, 1 byte", InIPv4, ipv4 + "00", 1},
		{"IPv4, 3 bytes", InIPv4, ipv4 + "000000", 3},
		{"IPv4, 4 bytes are more than padding", InIPv4, ipv4 + "00000000", 0},
		{"IPv4, cut", InIPv4, large4, 0},
		{"IPv4, cut in the header", InIPv4, "450000", 0},
		{"IPv4, length below its header", InIPv4, "4500 0013 0000 4000 4011 0000 0a000101 0a000202", 0},
		{"IPv4 that is IPv6", InIPv4, ipv6 + "00", 0},
		{"IPv6, 1 byte", InIPv6, ipv6 + "00", 1},
		{"IPv6, cut", InIPv6, "60000000 0003", 0},
		{"IPv6, cut before its length", InIPv6, "60000000 00", 0},
		{"IPv6 that is IPv4", InIPv6, ipv4 + "00", 0},
		{"Ethernet and IPv4", InEthernet, eth + "0800" + ipv4 + "00", 1},
		{"Ethernet and IPv6", InEthernet, eth + "86dd" + ipv6 + "0000", 2},
		{"one VLAN", InEthernet, eth + "8100 0001 0800" + ipv4 + "00", 1},
		{"two VLANs", InEthernet, eth + "88a8 0001 8100 0002 0800" + ipv4 + "000000", 3},
		{"VLAN, cut", InEthernet, eth + "8100 00", 0},
		{"Ethernet, cut", InEthernet, eth + "08", 0},
		{"Ethernet and ARP", InEthernet, eth + "0806 0001", 0},
		{"Ethernet and nothing", InEthernet, eth + "0800", 0},
		{"DS extension data", InDSExtension, ipv4 + "00", 0},
		{"3 bytes of nothing", InNone, "000000", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := FragmentPadding(wiretest.Hex(t, tc.hex), tc.inType); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
