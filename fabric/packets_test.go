package fabric

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shapes has all kinds of packets.
var shapes = []struct {
	name   string
	header int
	shape  shape
	v6     bool
}{
	{"tcp4", 40, shape{port: 80}, false},
	{"tcp6", 60, shape{port: 80}, true},
	{"udp4", 28, shape{udp: true, port: 53, dscp: 46}, false},
	{"udp6", 48, shape{udp: true, port: 53}, true},
	{"vxlan tcp4", 90, shape{port: 80, tunnel: vxlan, vni: 0xabcdef}, false},
	{"vxlan udp6", 118, shape{udp: true, port: 80, tunnel: vxlan, vni: 1}, true},
	{"vxlan-gpe tcp4", 90, shape{port: 80, tunnel: vxlanGPE, vni: 0xabcdef}, false},
	{"vxlan-gpe udp6", 118, shape{udp: true, port: 80, tunnel: vxlanGPE, vni: 1}, true},
	{"geneve udp4", 78, shape{udp: true, port: 80, tunnel: geneve, vni: 2}, false},
	{"geneve tcp6", 130, shape{port: 80, tunnel: geneve, vni: 3}, true},
}

// flowOf returns a flow of a shape between the two hosts of line.
func flowOf(t testing.TB, s shape, v6 bool) *flow {
	f := newFabric(t, line, Options{})
	return &f.begin(&s, f.hosts[0], f.hosts[1], v6, 1e6, true).forth
}

// delivered is a frame as the last switch sends it.
func delivered(fl *flow, frame []byte) []byte {
	rewrite(frame, fl.dst.out().peer)
	return frame
}

// A host can open what another has built, and finds in it what was put there.
func TestBuildOpen(t *testing.T) {
	for _, test := range shapes {
		fl := flowOf(t, test.shape, test.v6)
		if got := fl.headerLen(); got != test.header {
			t.Errorf("%s: headers of %d bytes, want %d", test.name, got, test.header)
		}
		for _, length := range []int{0, 1, 3, 4, 5, 12, 13, 100, 1370} {
			sent := segment{flags: flagACK | flagPSH, seq: 0xfffffff0, ack: 77, window: 99, length: length}
			frame := delivered(fl, fl.build(make([]byte, 0, 2000), &sent, 1234567))
			if len(frame) != 14+test.header+length {
				t.Errorf("%s: %d bytes for %d of payload", test.name, len(frame), length)
			}
			var got segment
			if !fl.open(frame, &got) || len(got.payload) != length {
				t.Fatalf("%s: %d bytes of payload: cannot open %x", test.name, length, frame)
			}
			if !test.shape.udp &&
				(got.seq != sent.seq || got.ack != sent.ack || got.flags != sent.flags || got.window != sent.window) {
				t.Errorf("%s: sent %+v, got %+v", test.name, sent, got)
			}
			if length > 12 &&
				(binary.BigEndian.Uint64(got.payload[4:]) != 1234567 ||
					bytes.Count(got.payload[12:], []byte{0}) != length-12) {
				t.Errorf("%s: payload %x", test.name, got.payload)
			}
		}
	}
}

// A host refuses a frame of which any bit is wrong, but for those that routers change or that nobody checks.
func TestOpenDamaged(t *testing.T) {
	for _, test := range shapes {
		fl := flowOf(t, test.shape, test.v6)
		frame := delivered(fl, fl.build(make([]byte, 0, 2000), &segment{flags: flagACK, length: 20}, 1))
		var s segment
		for bit := range len(frame) * 8 {
			frame[bit/8] ^= 0x80 >> (bit % 8)
			if fl.open(frame, &s) && !unchecked(test.v6, fl.tunnel, bit/8) {
				t.Errorf("%s: accepted with bit %d of byte %d wrong", test.name, bit%8, bit/8)
			}
			frame[bit/8] ^= 0x80 >> (bit % 8)
		}
		for n := range len(frame) {
			if fl.open(frame[:n], &s) {
				t.Errorf("%s: accepted %d of %d bytes", test.name, n, len(frame))
			}
		}
	}
}

// unchecked says that no checksum covers byte i and no host compares all of it.
func unchecked(v6 bool, tunnel tunnel, i int) bool {
	if v6 { // traffic class, flow label and hop limit; the outer checksum covers what is in a tunnel
		return i >= 14 && i < 18 || i == 21
	}
	return tunnel != noTunnel && i >= 40 && i < 50 // the outer checksum of 0, and reserved bits of the tunnel
}

// Another program finds no fault in the packets of each link.
func TestTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("no tshark")
	}
	dir := t.TempDir()
	tap := NewPcapTap(dir)
	f := newFabric(t, everything, Options{Tap: tap})
	run(t, f, 100*time.Millisecond)
	if err := tap.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.pcap"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	const wrong = "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0"
	protocols := ""
	for _, name := range []string{"pod1-edge1-h1.pcap", "pod1-edge1-pod1-agg1.pcap", "pod4-edge2-h16.pcap"} {
		read := func(filter string) string {
			out, err := exec.Command(tshark, "-n", "-r", filepath.Join(dir, name), "-o", "ip.check_checksum:TRUE", "-o",
				"tcp.check_checksum:TRUE",
				"-o", "udp.check_checksum:TRUE", "-Y", filter, "-T", "fields", "-e", "frame.number", "-e",
				"frame.protocols").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return string(out)
		}
		if out := read(wrong); strings.Contains(out, "eth:") {
			t.Errorf("%s: tshark complains about\n%s", name, out)
		}
		protocols += read("ip || ipv6")
	}
	for _, want := range []string{
		"ip:tcp", "ipv6:tcp", "udp:geneve:eth:ethertype:ip:udp",
		"ipv6:udp:vxlan:eth:ethertype:ipv6:tcp",
	} {
		if !strings.Contains(protocols, want) {
			t.Errorf("no packets with %s", want)
		}
	}
}

// Another program sees in the packets of each flood what a flood of that kind is made of, with right checksums.
func TestTsharkFloods(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("no tshark")
	}
	dir := t.TempDir()
	faults := "faults:\n"
	for _, send := range []string{"udp", "syn", "reflection", "icmp", "fragments"} {
		for _, ip := range []string{"4", "6"} {
			faults += fmt.Sprintf("  - {ddos: {from: [a], to: b, rate: 2M, packet: 500, send: %s, ip: %s}}\n", send, ip)
		}
	}
	tap := NewPcapTap(dir)
	run(t, newFabric(t, line+faults, Options{Tap: tap}), 100*time.Millisecond)
	if err := tap.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "s3-b.pcap"))
	if len(files) != 1 {
		t.Fatalf("got %v", files)
	}
	out, err := exec.Command(tshark, "-n", "-r", files[0], "-o", "ip.check_checksum:TRUE", "-o", "ip.defragment:FALSE", "-o",
		"ipv6.defragment:FALSE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-T", "fields",
		"-e", "frame.len", "-e", "ip.checksum.status", "-e", "tcp.checksum.status", "-e", "udp.checksum.status", "-e",
		"icmp.checksum.status", "-e", "icmpv6.checksum.status", "-e", "tcp.flags", "-e", "udp.srcport", "-e", "icmp.type",
		"-e", "icmpv6.type", "-e", "ip.frag_offset", "-e", "ipv6.fraghdr.offset", "-E", "separator=,").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, frame := range strings.Fields(string(out)) {
		got[frame]++
	}
	// A port of the hosts' own is the first that they have.
	for _, want := range []string{
		"514,1,,1,,,,32768,,,0,", "514,,,1,,,,32769,,,,", "54,1,1,,,,0x0002,,,,0,", "74,,1,,,,0x0002,,,,,",
		"514,1,,1,,,,53,,,0,", "514,,,1,,,,53,,,,", "514,1,,,1,,,,8,,0,", "514,,,,,1,,,,128,,", "514,1,,,,,,,,,185,",
		"514,,,,,,,,,,,185",
	} {
		if got[want] < 10 {
			t.Errorf("%d packets are %q", got[want], want)
		}
		delete(got, want)
	}
	if len(got) > 0 {
		t.Errorf("and others: %v", got)
	}
}

// Routers keep the header checksum right, for every TTL.
func TestRewrite(t *testing.T) {
	fl := flowOf(t, shape{udp: true, port: 9}, false)
	out := fl.dst.out().peer
	for ttl := 255; ttl > 1; ttl-- {
		fl.ttl = uint8(ttl)
		frame := fl.build(make([]byte, 0, 2000), &segment{length: 20}, uint64(ttl))
		rewrite(frame, out)
		var s segment
		if frame[22] != uint8(ttl-1) || !fl.open(frame, &s) {
			t.Fatalf("TTL %d: %x", ttl, frame[14:34])
		}
	}
}

// headers reads anything without a panic.
func FuzzHeaders(f *testing.F) {
	for _, test := range shapes {
		fl := flowOf(f, test.shape, test.v6)
		f.Add(fl.build(make([]byte, 0, 2000), &segment{length: 20}, 1))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		var h headers
		if h.parse(frame) {
			ttl := frame[14+8]
			if len(h.dst) == 16 {
				ttl = frame[14+7]
			}
			if h.ttl != ttl || h.dscp > 63 || len(h.dst) != len(h.src) {
				t.Errorf("%x: %+v", frame, h)
			}
		}
		for _, v6 := range []bool{false, true} {
			var s segment
			fl := flow{src: &host{node: &node{}}, dst: &host{node: &node{}}, v6: v6, tunnel: geneve}
			fl.dst.node.ports = []*port{{peer: &port{}}}
			fl.open(frame, &s)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	fl := flowOf(b, shape{port: 80}, false)
	buffer := make([]byte, 0, 2000)
	b.ReportAllocs()
	b.SetBytes(1514)
	for b.Loop() {
		fl.build(buffer, &segment{flags: flagACK, length: 1460}, 1)
	}
}

func BenchmarkOpen(b *testing.B) {
	fl := flowOf(b, shape{port: 80}, false)
	frame := delivered(fl, fl.build(make([]byte, 0, 2000), &segment{flags: flagACK, length: 1460}, 1))
	var s segment
	b.ReportAllocs()
	b.SetBytes(1514)
	for b.Loop() {
		fl.open(frame, &s)
	}
}
