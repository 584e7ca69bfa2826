package packet

import (
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func decode(t *testing.T, h wiretest.Codec, b []byte) int {
	t.Helper()
	n, err := h.Decode(b)
	if err != nil {
		t.Fatalf("%T: %v", h, err)
	}
	return n
}

// walk names the headers of a frame from the outside in, as far as they can be read. "later" stands for what a fragment
// other than the first carries.
func walk(frame []byte) (names []string, err error) {
	rest := frame
	step := func(name string, h wiretest.Codec) bool {
		var n int
		if n, err = h.Decode(rest); err != nil {
			return false
		}
		names, rest = append(names, name), rest[n:]
		return true
	}

	var ethernet Ethernet
	if !step("ethernet", &ethernet) {
		return
	}
	etherType := ethernet.EtherType
	for IsVLAN(etherType) {
		var vlan VLAN
		if !step("vlan", &vlan) {
			return
		}
		etherType = vlan.EtherType
	}
	for etherType == EtherTypeMPLS {
		var mpls MPLS
		if !step("mpls", &mpls) {
			return
		}
		if mpls.Bottom && len(rest) > 0 {
			etherType = map[byte]uint16{4: EtherTypeIPv4, 6: EtherTypeIPv6}[rest[0]>>4]
		}
	}

	var proto uint8
	later := false
	switch etherType {
	case EtherTypeIPv4:
		var ip IPv4
		if !step("ipv4", &ip) {
			return
		}
		proto, later = ip.Protocol, ip.IsLaterFragment()
	case EtherTypeIPv6:
		var ip IPv6
		if !step("ipv6", &ip) {
			return
		}
		proto = ip.NextHeader
	default:
		return
	}

	for {
		if later {
			return append(names, "later"), nil
		}
		var options IPv6Options
		var routing IPv6Routing
		var fragment IPv6Fragment
		var auth IPv6Auth
		switch proto {
		case ProtoHopByHop, ProtoDestOptions:
			if !step("options", &options) {
				return
			}
			proto = options.NextHeader
		case ProtoRouting:
			if !step("routing", &routing) {
				return
			}
			proto = routing.NextHeader
		case ProtoFragment:
			if !step("fragment", &fragment) {
				return
			}
			proto, later = fragment.NextHeader, fragment.IsLater()
		case ProtoAH:
			if !step("auth", &auth) {
				return
			}
			proto = auth.NextHeader
		case ProtoUDP:
			step("udp", new(UDP))
			return
		case ProtoTCP:
			step("tcp", new(TCP))
			return
		default:
			return
		}
	}
}

const (
	chainMACs = `020000000202 020000000101`
	chainIPv4 = `45 00 002c 0000 0000 40 11 0000 0a000101 0a000202`
	chainIPv6 = `20010db8000100000000000000000001 20010db8000200000000000000000002`
	chainUDP  = `9c40 0035 000c 0000`
)

func TestChains(t *testing.T) {
	for _, test := range []struct {
		name, hex, want string
	}{
		{
			"plain", chainMACs + `0800` + chainIPv4 + chainUDP,
			"ethernet ipv4 udp",
		},
		{
			"QinQ", chainMACs + `88a8 0064 8100 00c8 0800` + chainIPv4 + chainUDP,
			"ethernet vlan vlan ipv4 udp",
		},
		{
			"QinQ before 802.1ad, three tags", chainMACs + `9100 0064 9100 00c8 8100 012c 0800` + chainIPv4 + chainUDP,
			"ethernet vlan vlan vlan ipv4 udp",
		},
		{
			"MPLS, one label", chainMACs + `8847 00064140` + chainIPv4 + chainUDP,
			"ethernet mpls ipv4 udp",
		},
		{
			"MPLS, three labels over VLAN", chainMACs + `8100 0064 8847 00064040 000c8040 00002140` +
				`60000000 0008 11 40` + chainIPv6 + chainUDP,
			"ethernet vlan mpls mpls mpls ipv6 udp",
		},
		{
			"IPv4 with options", chainMACs + `0800 46 00 0030 0000 0000 40 11 0000 0a000101 0a000202 94040000` +
				chainUDP,
			"ethernet ipv4 udp",
		},
		{
			"IPv4 first fragment", chainMACs + `0800 45 00 002c 0001 2000 40 11 0000 0a000101 0a000202` + chainUDP,
			"ethernet ipv4 udp",
		},
		{
			"IPv4 later fragment", chainMACs + `0800 45 00 002c 0001 0010 40 11 0000 0a000101 0a000202` + chainUDP,
			"ethernet ipv4 later",
		},
		{
			"IPv4 with AH", chainMACs + `0800 45 00 0040 0000 0000 40 33 0000 0a000101 0a000202` +
				`11 02 0000 00000100 00000001 01020304` + chainUDP,
			"ethernet ipv4 auth udp",
		},
		{
			"every IPv6 extension header", chainMACs + `86dd 60000000 0060 00 40` + chainIPv6 +
				`3c 00 05020000 0100` + // hop-by-hop options: router alert, PadN
				`2b 01 0104 00000000 0106 000000000000` + // destination options of 16 bytes
				`2c 02 04 01 00000000 20010db8000200000000000000000002` + // routing
				`33 00 0001 00000001` + // fragment, the first
				`3c 04 0000 00000100 00000001 000000000000000000000000` + // AH
				`11 00 0000 0000 0000` + // destination options: six times Pad1
				chainUDP,
			"ethernet ipv6 options options routing fragment auth options udp",
		},
		{
			"IPv6 later fragment", chainMACs + `86dd 60000000 0010 2c 40` + chainIPv6 + `11 00 0008 00000001` +
				chainUDP,
			"ethernet ipv6 fragment later",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			frame := wiretest.Hex(t, test.hex)
			names, err := walk(frame)
			if got := strings.Join(names, " "); got != test.want || err != nil {
				t.Fatalf("got %s, error %v; want %s, none", got, err, test.want)
			}
			for i := range frame {
				names, _ := walk(frame[:i])
				if got := strings.Join(names, " "); !strings.HasPrefix(test.want, got) {
					t.Errorf("the first %d bytes: got %s, want the beginning of %s", i, got, test.want)
				}
			}
		})
	}
}

// What a collector does with each datagram of a capture, on frames that differ so that no load can be saved.
func BenchmarkDecodeChain(b *testing.B) {
	for _, test := range []struct{ name, hex string }{
		{"ethernet-ipv4-udp", chainMACs + `0800` + chainIPv4 + chainUDP},
		{"ethernet-ipv6-udp", chainMACs + `86dd 60000000 0008 11 40` + chainIPv6 + chainUDP},
		{"ethernet-ipv4-tcp", chainMACs + `0800 45 00 0028 0000 0000 40 06 0000 0a000101 0a000202` +
			`c000 0050 01020304 0a0b0c0d 50 18 1000 0000 0000`},
	} {
		b.Run(test.name, func(b *testing.B) {
			var frames [64][]byte
			for i := range frames {
				frames[i] = wiretest.Hex(b, test.hex)
				frames[i][11] = byte(i) // the last byte of the source MAC
			}
			var d struct {
				Ethernet
				IPv4
				IPv6
				UDP
				TCP
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(frames[0])))
			for i := 0; b.Loop(); i++ {
				frame := frames[i%len(frames)]
				n, _ := d.Ethernet.Decode(frame)
				rest := frame[n:]
				proto := uint8(0)
				if d.EtherType == EtherTypeIPv4 {
					n, _ = d.IPv4.Decode(rest)
					proto = d.IPv4.Protocol
				} else {
					n, _ = d.IPv6.Decode(rest)
					proto = d.IPv6.NextHeader
				}
				var err error
				if proto == ProtoUDP {
					_, err = d.UDP.Decode(rest[n:])
				} else {
					_, err = d.TCP.Decode(rest[n:])
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
