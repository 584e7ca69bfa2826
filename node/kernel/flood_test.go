//go:build linux

package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/packets"
)

// TestFloods floods three nodes with ICMP and with fragments, of IPv4 and IPv6, also such that look like INT by their
// DSCP: none of them gets INT, s1 counts each for that reason, what comes through is as it was, and the kernel has
// nothing to say. Half a second each; a minute with TEST_SEED=all.
func TestFloods(t *testing.T) {
	lasts := time.Second / 2
	if _, all := test.Seed(t); all {
		lasts = time.Minute
	}
	n := newNetwork(t)
	nobody, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	log := kernelLog(t)
	const watched = "  watch: [{report_all: true, src: 10.0.1.0/24}, {report_all: true, src: \"2001:db8::/32\"}]\n"
	nodes, stop := n.start(watched, nobody.LocalAddr().String())
	n.udp(host4, 6001, 1) // neighbours know each other
	n.udp(host6, 6001, 1)
	for _, row := range []struct {
		name, counter string
		shape         packets.Shape
	}{
		{"ICMP", "why_no_carrier", packets.Shape{Kind: packets.ICMP}},
		{"fragments", "why_is_fragment", packets.Shape{Kind: packets.UDP, Fragment: true}},
		{"fragments of TCP", "why_is_fragment", packets.Shape{Kind: packets.TCP, Fragment: true}},
	} {
		n.flood(nodes[0], row.name, row.counter, row.shape, lasts)
	}
	stop()
	for i, node := range nodes {
		all := counters(t, node)
		if all["inserted"]+all["pushed"]+all["stripped"]+all["kernel_not_edited"] != 0 {
			t.Errorf("s%d: %v", i+1, all)
		}
	}
	if said := log(); len(said) > 0 {
		t.Errorf("the kernel said %q", said)
	}
}

// flood sends packets of a shape from hostA to hostB, and compares what comes and what s1 counts.
func (n *network) flood(s1 *Node, name, counter string, shape packets.Shape, lasts time.Duration) {
	t := n.t
	t.Helper()
	from, to := n.raw(hostA, "r"), n.raw(hostB, "l")
	if err := unix.SetsockoptInt(to.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 256<<20); err != nil {
		t.Fatal(err)
	}
	var macs []byte
	n.in(1, func() error {
		l, err := net.InterfaceByName("l")
		macs = append(macs, l.HardwareAddr...)
		return err
	})
	r := rand.New(rand.NewPCG(5, 6))
	frames := make([][]byte, 64)
	known := map[string]bool{} // what is behind the part of a header that routers change
	for i := range frames {
		shape.Payload, shape.IPv6, shape.DSCP = 40+r.IntN(1200), i%3 == 0, uint8(r.IntN(64))
		f := shape.Frame(r)
		copy(f, macs)
		if shape.IPv6 {
			copy(f[38:], netip.MustParseAddr(host6).AsSlice())
			f[21] = 64
		} else {
			copy(f[30:], netip.MustParseAddr(host4).AsSlice())
			f[22] = 64
			if shape.Fragment { // of any place in a packet
				binary.BigEndian.PutUint16(f[20:], uint16(r.IntN(2))<<13|uint16(1+r.IntN(100)))
			}
			fixHeader(f[14:])
		}
		frames[i] = f
		known[string(f[26:])] = true
	}
	count := func() map[string]uint64 {
		s, err := s1.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Counters
	}
	before, sent := count(), 0
	for start := time.Now(); time.Since(start) < lasts; {
		_, err := unix.Write(from.fd, frames[sent%len(frames)])
		if err == nil {
			sent++
		} else if !errors.Is(err, unix.ENOBUFS) {
			t.Fatal(err)
		}
	}
	n.udp(host6, 6001, 1) // behind all that
	came, b := 0, make([]byte, 4096)
	for {
		size, _, err := unix.Recvfrom(to.fd, b, unix.MSG_DONTWAIT)
		if err != nil {
			break
		}
		v6 := bytes.HasPrefix(b[12:], []byte{0x86, 0xDD}) && bytes.HasPrefix(b[22:], []byte{0x20, 1, 0xd, 0xb8})
		v4 := bytes.HasPrefix(b[12:], []byte{8, 0, 0x45}) && bytes.HasPrefix(b[26:], []byte{10, 0, 1}) && b[29] > 2
		if !v4 && !v6 { // others than these
			continue
		}
		dscp := b[15] >> 2
		if v6 {
			dscp = b[14]&15<<2 | b[15]>>6
		}
		if came++; !known[string(b[26:size])] || dscp == 0x17 {
			t.Fatalf("a packet has become\n%x", b[:size])
		}
	}
	after := count()
	t.Logf("%s: %d packets sent, %d came", name, sent, came)
	if came == 0 || came > sent {
		t.Errorf("%s: of %d packets %d came", name, sent, came)
	}
	counted, refused := int(after[counter]-before[counter]), int(after["not_inserted"]-before["not_inserted"])
	if counted != sent || refused != sent {
		t.Errorf("%s: s1 counted %d of %d packets as %s: %v", name, counted, sent, counter, after)
	}
}
