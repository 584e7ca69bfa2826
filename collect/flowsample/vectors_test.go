package flowsample

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
)

// Datagrams of agents that others have published: the tests of github.com/netsampler/goflow2, decoders/sflow (BSD-3).
const (
	// an ICMP echo request with VLAN tag 32, 1 in 2048 of what leaves by interface 1043; it came in by 1194
	flowSample = `
	0000000500000001ac10001100000001000001aa67eeaa01000000010000000100000088000000060000041300000800
	0000300000000000000004aa000004130000000100000001000000600000000100000052000000040000004e00ff1234
	351bffabcdefab648100002008004500003c5c0700007c0148a0ac1020feac1020f108009761a9480cb2616263646566
	6768696a6b6c6d6e6f70717273747576776162636465666768690000`
	// the first of five expanded samples: TCP with VLAN tag 30, 1 in 16383, from interface 1000100 to 1000018
	expandedSample = `
	000000050000000101020304000000000fa772c20f7673480000000100000003000000dc2090932600000000000f42a4
	00003fff0438ecda0000000000000000000f42a400000000000f425200000002000003e9000000100000001e00000000
	0000001e00000000000000010000009000000001000005ea000000040000008008ecf52a8fbe7483ef3065b78100001e
	0800450005d43bba40003f06bd99b93bdc9358ee4e1301bbcfd645b71bc0d5b8ff2480100004015500000101080ac8c8
	56950034f60fe81dbd4145924cc271e0eb2e35177c2fb9a805920e031b50530ce57d8675328acce226a8902178bfce7a
	f8b58d48e4aafe2634e0adb9ec7974d8`
)

// Datagrams with counters that others have published: the tests of github.com/gopacket/gopacket, layers (BSD-3), which
// has what is in them in words.
const (
	// of a switch: generic counters of interface 522, then those of Ethernet; it was the fourth of seven samples
	switchCounters = `
	00000005000000010a01f8160000001100009dfb4049c6cd0000000100000002000000a8000020f20000020a00000002
	00000001000000580000020a0000000600000002540be4000000000100000003000129826db06c0bcb0ddd960006a8c6
	0000007b0000000000000000000000000000340235587c9e5664257100705ac4000908f1000000000000000000000000
	000000020000003400000000000000000000000000000000000000000000000000000000000000000000000000000000
	000000000000000000000000`
	// of Open vSwitch: counters of Ethernet, OpenFlow port, name, and last the generic ones of interface 14, some of
	// which it does not have
	ovsCounters = `
	00000005000000017f000001000000000001b36d0e04d2480000000100000002000000d800005be00000000e00000004
	00000002000000340000000000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
	ffffffffffffffffffffffff000003ec0000000c000062d33ce76e4900000003000003ed000000140000000e74617064
	393831353466322d3030000000000001000000580000000e0000000600000002540be400000000010000000300000000
	00004749000000b500000000ffffffff0000000000000000ffffffff0000000000008a0b000001d2ffffffffffffffff
	000000000000000000000000`
)

// expandedCounters is built from sFlow version 5: a counters_sample_expanded whose generic counters are behind those of
// something else at the same port, as SR OS sends them.
const expandedCounters = `
	00000005 00000001 0a000003 00000000 00000007 0001d4c0 00000001  version, IPv4, agent 10.0.0.3, sub-agent 0,
	                                                                sequence 7, up 120,000 ms, 1 sample
	00000004 000000d0                                               counters_sample_expanded, 208 bytes
	00000009 00000000 64000001 00000002                             number 9, ifIndex 1,677,721,601, 2 records
	00000001 00000058                                               if_counters, 88 bytes
	00000064 00000001 0000000b64000001 00000001 00000003            "ifIndex" 100: a service
	0000000000000001 00000001 00000001 00000001 00000001 00000001 00000001
	0000000000000001 00000001 00000001 00000001 00000001 00000001 00000000
	00000001 00000058                                               if_counters, 88 bytes
	64000001 00000006 000000174876e800 00000001 00000001            ifIndex, ifType, ifSpeed 100 Gbit/s, full duplex,
	                                                                ifStatus: admin up, oper down
	0000000100000002 00000003 00000004 00000005 00000006 00000007 00000008
	                                                                in: octets, unicast, multicast, broadcast packets,
	                                                                discards, errors, unknown protocols
	0000000900000010 00000011 00000012 00000013 00000014 00000015 00000000
	                                                                out, without unknown protocols; promiscuous mode`

// unhex reads groups of hex digits; what stands behind two spaces says what they are.
func unhex(t testing.TB, text string) []byte {
	text = regexp.MustCompile(`(?m)  .*$`).ReplaceAllString(text, "")
	b, err := hex.DecodeString(strings.NewReplacer("\n", "", "\t", "", " ", "").Replace(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
