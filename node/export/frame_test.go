package export

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

const frameHex = `
	020000000102 020000000101 0800          // Ethernet
	45 b8 0048 0000 4000 40 11 4db7         // IPv4: DSCP 46, 72 bytes, DF, TTL 64, UDP
	c0000201 c6336401
	0000 7ffe 0034 b856                     // UDP: from 0 to 32766, 52 bytes
	20000000 01020304                       // group header: version 2, sequence 0, node id
	14 08 01 a0                             // INT, IPv4; 8 words behind this, 1 of metadata; D, F
	0001 0000 0000 0000                     // drop reason
	07 37 0000                              // queue 7, reason 55
	45000014 00000000 40fd0000 0a000001 0a000002 // the packet`

func frameReport() Report {
	return Report{
		Flags:    telemetry.Dropped | telemetry.Tracked,
		Metadata: report.Metadata{Bits: report.MDDrop, DropQueueID: 7, DropReason: 55},
		Kind:     report.InIPv4,
		Fragment: []byte{0x45, 0, 0, 20, 0, 0, 0, 0, 64, 253, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2},
	}
}

func TestFrame(t *testing.T) {
	c := config(TR20)
	c.Frame.DSCP = 46
	r := newRig(t, c)
	got := r.AppendFrame([]byte("before"), new(r.one(frameReport())))
	if want := append([]byte("before"), wiretest.Hex(t, frameHex)...); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func TestFrameChecksums(t *testing.T) {
	for _, tc := range []struct {
		source, destination string
		checksum, want      bool
	}{
		{"192.0.2.1", "198.51.100.1:32766", true, true},
		{"192.0.2.1", "198.51.100.1:32766", false, false},
		{"2001:db8::1", "[2001:db8::2]:32766", true, true},
		{"2001:db8::1", "[2001:db8::2]:32766", false, true}, // without is not allowed over IPv6
	} {
		c := config(TR20)
		c.Source, c.Destinations[0], c.Frame.Checksum = netip.MustParseAddr(tc.source),
			netip.MustParseAddrPort(tc.destination), tc.checksum
		c.DontFragment = false
		r := newRig(t, c)
		for payload := range 30 { // also odd lengths: report length 255 has no padding
			p := newPacket(1, false, 0, payload+1000)
			d := r.one(p.report(report.InEthernet))
			s := parseFrame(t, r.AppendFrame(nil, &d))
			if (s.udp.Checksum != 0) != tc.want || !bytes.Equal(s.payload, d.Payload) || s.src.Addr() != c.Source ||
				s.dst != c.Destinations[0] || s.id != d.IPID {
				t.Errorf("%+v: got %+v", tc, s)
			}
		}
	}
}

// The protocol analyser finds nothing wrong with a frame.
func TestFrameDissects(t *testing.T) {
	for _, f := range formats {
		c := config(f)
		r := newRig(t, c)
		p := newPacket(1, true, 4, 33)
		about := p.report(report.InEthernet)
		about.Metadata = report.Metadata{Bits: report.MDHopLatency, HopLatency: 5}
		layers := dissect.Packet(r.AppendFrame(nil, new(r.one(about))), dissect.Ethernet, points(t))
		for err := range dissect.Errors(layers) {
			if f != TransparentSecurity { // it cuts the packet
				t.Errorf("%s: %v", f, err)
			}
		}
		l := dissect.Report(layers)
		if l == nil || len(dissect.Fragments(layers)) != 1 {
			t.Errorf("%s: got no report with a fragment in\n%s", f, dissect.AppendJSON(nil, layers))
		}
	}
}

// A sent is a frame as a collector's network card gets it.
type sent struct {
	src, dst netip.AddrPort
	udp      packet.UDP
	df       bool
	id       uint16
	payload  []byte
}

// parseFrame reads a frame and verifies its checksums.
func parseFrame(t *testing.T, b []byte) (s sent) {
	t.Helper()
	var eth packet.Ethernet
	n, err := eth.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	b = b[n:]
	var src, dst netip.Addr
	var pseudo uint32
	if eth.EtherType == packet.EtherTypeIPv4 {
		var ip packet.IPv4
		if n, err = ip.Decode(b); err != nil || int(ip.TotalLength) != len(b) {
			t.Fatalf("got %+v of %d bytes: %v", ip, len(b), err)
		}
		if packet.Fold(packet.Sum(b[:n], 0)) != 0xFFFF {
			t.Error("the IPv4 header checksum is wrong")
		}
		src, dst, s.df, s.id = netip.AddrFrom4(ip.Src), netip.AddrFrom4(ip.Dst), ip.DF, ip.ID
		pseudo = packet.PseudoIPv4(ip.Src, ip.Dst, packet.ProtoUDP, len(b)-n)
	} else {
		var ip packet.IPv6
		if n, err = ip.Decode(b); err != nil || int(ip.PayloadLength) != len(b)-n {
			t.Fatalf("got %+v of %d bytes: %v", ip, len(b), err)
		}
		src, dst = netip.AddrFrom16(ip.Src), netip.AddrFrom16(ip.Dst)
		pseudo = packet.PseudoIPv6(ip.Src, ip.Dst, packet.ProtoUDP, len(b)-n)
	}
	b = b[n:]
	if n, err = s.udp.Decode(b); err != nil || int(s.udp.Length) != len(b) {
		t.Fatalf("got %+v of %d bytes: %v", s.udp, len(b), err)
	}
	if s.udp.Checksum != 0 && packet.Fold(packet.Sum(b, pseudo)) != 0xFFFF {
		t.Error("the UDP checksum is wrong")
	}
	s.src, s.dst = netip.AddrPortFrom(src, s.udp.SrcPort), netip.AddrPortFrom(dst, s.udp.DstPort)
	s.payload = b[n:]
	return s
}
