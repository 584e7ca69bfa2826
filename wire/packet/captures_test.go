package packet

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
)

// frames returns the frames of a capture.
func frames(t *testing.T, file string) [][]byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for {
		frame, _, err := r.ReadPacketData()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, frame)
	}
}

// The first link of every capture holds packets as the Linux kernel, or a program that knows its checksums, sent them:
// IPv4 and IPv6, UDP, TCP with options, ICMPv6, with and without extension headers. All their checksums are right.
func TestCaptureChecksums(t *testing.T) {
	files, err := filepath.Glob("../../testdata/captures/*_h1.pcap")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	verified := make(map[uint8]int)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for i, frame := range frames(t, file) {
				proto, sum, segment := l4(t, frame)
				if got := Fold(Sum(segment, sum)); got != 0xffff {
					t.Errorf("frame %d, protocol %d: the sum is %#04x, want 0xffff", i+1, proto, got)
				}
				verifyField(t, i+1, proto, sum, segment)
				verified[proto]++
			}
		})
	}
	for _, proto := range []uint8{ProtoUDP, ProtoTCP, ProtoICMPv6} {
		if verified[proto] == 0 {
			t.Errorf("no packet of protocol %d in any capture", proto)
		}
	}
	t.Logf("packets by protocol: %v", verified)
}

// l4 steps over the headers in front of L4 and returns the protocol, the sum of the pseudo header, and the segment: the
// L4 header and payload without Ethernet padding. It verifies the IPv4 header checksum on the way.
func l4(t *testing.T, frame []byte) (proto uint8, sum uint32, segment []byte) {
	t.Helper()
	var ethernet Ethernet
	n := decode(t, &ethernet, frame)
	rest := frame[n:]
	switch ethernet.EtherType {
	case EtherTypeIPv4:
		var ip IPv4
		n := decode(t, &ip, rest)
		if got := ip.HeaderChecksum(); got != ip.Checksum {
			t.Errorf("IPv4 checksum: got %#04x, want %#04x", got, ip.Checksum)
		}
		segment = rest[n:ip.TotalLength]
		return ip.Protocol, PseudoIPv4(ip.Src, ip.Dst, ip.Protocol, len(segment)), segment
	case EtherTypeIPv6:
		var ip IPv6
		n := decode(t, &ip, rest)
		segment = rest[n : n+int(ip.PayloadLength)]
		proto = ip.NextHeader
		for proto == ProtoHopByHop || proto == ProtoDestOptions {
			var options IPv6Options
			n := decode(t, &options, segment)
			proto, segment = options.NextHeader, segment[n:]
		}
		return proto, PseudoIPv6(ip.Src, ip.Dst, proto, len(segment)), segment
	}
	t.Fatalf("EtherType %#04x", ethernet.EtherType)
	return 0, 0, nil
}

// verifyField computes the checksum field anew, with zero in its place, and compares.
func verifyField(t *testing.T, frame int, proto uint8, sum uint32, segment []byte) {
	t.Helper()
	zeroed := bytes.Clone(segment)
	var got, want uint16
	switch proto {
	case ProtoUDP:
		var h UDP
		decode(t, &h, segment)
		want = h.Checksum
		h.Checksum = 0
		h.Append(zeroed[:0])
		got = UDPChecksum(^Fold(Sum(zeroed, sum)))
	case ProtoTCP:
		var h TCP
		decode(t, &h, segment)
		want = h.Checksum
		h.Checksum = 0
		h.Append(zeroed[:0])
		got = ^Fold(Sum(zeroed, sum))
	case ProtoICMPv6:
		var h ICMP
		decode(t, &h, segment)
		want = h.Checksum
		h.Checksum = 0
		h.Append(zeroed[:0])
		got = ^Fold(Sum(zeroed, sum))
	default:
		t.Fatalf("frame %d: protocol %d", frame, proto)
	}
	if got != want {
		t.Errorf("frame %d, protocol %d: checksum %#04x, want %#04x", frame, proto, got, want)
	}
}
