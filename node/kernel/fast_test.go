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

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node"
)

// TestFast sends frames to s2, whose ports are fast: what it forwards is byte for byte what package node and a router
// make of it, whether it goes past the kernel's stack or not, and what the kernel has to do something about goes to the
// kernel. Ports whose drivers do not take frames are not fast.
func TestFast(t *testing.T) {
	n := newNetwork(t)
	const text = "  instructions: [node_id, l1_interfaces, queue]\n" // no times: what leaves is known
	config := n.config(2, text, "127.0.0.1:9")
	for i := range config.Ports {
		config.Ports[i].Fast = true
	}
	nodes, _ := n.startAll([]*Config{nil, config, nil})
	source, err := n.config(1, text+"  watch: [{}]\n", "127.0.0.1:9").newNode()
	if err != nil {
		t.Fatal(err)
	}
	transit, err := config.newNode()
	if err != nil {
		t.Fatal(err)
	}
	mac := func(machine int, name string) (a []byte) {
		n.in(machine, func() error {
			i, err := net.InterfaceByName(name)
			a = i.HardwareAddr
			return err
		})
		return a
	}
	from, to := n.raw(1, "r"), n.raw(3, "l")
	macs := append(append([]byte{}, mac(2, "l")...), mac(1, "r")...)
	leave := append(append([]byte{}, mac(3, "l")...), mac(2, "r")...)
	count := func(name string) int {
		s, err := nodes[0].Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return int(s.Counters[name])
	}
	r := rand.New(rand.NewPCG(3, 4))
	process := func(n *node.Node, frame []byte) []byte {
		var state node.State
		var out node.Output
		n.Process(frame, node.Ingress{Port: 1, TimeNs: 1}, func(*node.State) node.Egress {
			return node.Egress{Port: 2, EnqueuedNs: 2, DepartedNs: 2}
		}, &state, &out)
		return bytes.Clone(out.Frame)
	}
	// build returns a frame as it comes to s2.
	build := func(s packets.Shape, to string, ttl byte, with bool) []byte {
		frame := s.Frame(r)
		copy(frame, macs)
		at := netip.MustParseAddr(to)
		if s.IPv6 {
			copy(frame[38:], at.AsSlice())
			frame[21] = 64
		} else {
			copy(frame[30:], at.AsSlice())
			frame[22] = 64
			fixHeader(frame[14:])
		}
		if with {
			before := len(frame)
			if frame = process(source, frame); len(frame) <= before {
				t.Fatalf("%+v got no INT", s)
			}
		}
		if s.IPv6 {
			frame[21] = ttl
		} else {
			frame[22] = ttl
			fixHeader(frame[14:])
		}
		return frame
	}
	// expect sends a frame and expects what leaves.
	expect := func(name string, frame []byte, leaves, fast bool) {
		t.Helper()
		want := process(transit, bytes.Clone(frame))
		copy(want, leave)
		if binary.BigEndian.Uint16(want[12:]) == 0x86DD {
			want[21]--
		} else {
			want[22]--
			fixHeader(want[14:])
		}
		before := count("kernel_fast")
		to.drain()
		from.send(t, frame)
		marker := build(packets.Shape{Kind: packets.UDP, Payload: 7}, host4, 9, false) // by one way or the other
		from.send(t, marker)
		found, tail := false, frame[len(frame)-6:]
		for {
			got := to.next(t)
			if bytes.HasSuffix(got, marker[42:]) {
				break
			}
			if bytes.Equal(got, want) {
				found = true
			} else if bytes.HasSuffix(got, tail) {
				t.Errorf("%s: got\n%x, want\n%x", name, got, want)
			}
		}
		if found != leaves {
			t.Errorf("%s: left as it should: %v, want %v\n%x", name, found, leaves, want)
		}
		sent := count("kernel_fast") - before
		if markers := map[bool]int{true: 1}[count("kernel_fast") > 0]; sent-markers != map[bool]int{true: 1}[fast] {
			t.Errorf("%s: %d packets went past the kernel, with a marker, want %v", name, sent, fast)
		}
	}
	udp := packets.Shape{Kind: packets.UDP, Payload: 100}
	fragment := packets.Shape{Kind: packets.UDP, Payload: 80, Fragment: true}
	options := packets.Shape{Kind: packets.UDP, IPOptions: true, Payload: 9}
	options6 := packets.Shape{Kind: packets.UDP, IPOptions: true, IPv6: true}
	tcp := packets.Shape{Kind: packets.TCP, TCPOptions: 12, Payload: 900}
	udp6 := packets.Shape{Kind: packets.UDP, Payload: 100, IPv6: true}
	n.udp(host4, 6001, 1) // neighbours know each other
	n.udp(host6, 6001, 1)
	expect("with no driver that takes frames", build(udp, host4, 64, true), true, false)
	n.run(1, "ethtool -K r gro on")
	n.run(3, "ethtool -K l gro on")
	n.await(func() bool { n.udp(host4, 6001, 1); return count("kernel_fast") > 0 })

	first := count("pushed")
	for _, row := range []struct {
		name         string
		frame        []byte
		leaves, fast bool
	}{
		{"UDP with INT", build(udp, host4, 64, true), true, true},
		{"UDP over IPv6 with INT", build(udp6, host6, 64, true), true, true},
		{"TCP with INT", build(tcp, host4, 2, true), true, true},
		{"without INT", build(udp, host4, 64, false), true, true},
		{"IPv6 without INT", build(udp6, host6, 64, false), true, true},
		{"ICMP", build(packets.Shape{Kind: packets.ICMP, Payload: 30}, host4, 64, false), true, true},
		{"a fragment", build(fragment, host4, 64, false), true, true},
		{"with IP options", build(options, host4, 64, true), true, false},
		{"with IPv6 options", build(options6, host6, 64, true), true, false},
		{"last hop", build(udp, host4, 1, true), false, false},
		{"last hop of IPv6", build(udp6, host6, 1, false), false, false},
		{"to s2", build(udp, "10.0.2.1", 64, false), false, false},
		{"back to where it came from", build(udp, "10.0.0.1", 64, false), false, false},
		{"no route", build(udp, "192.0.2.1", 64, false), false, false},
		{"multicast", build(udp, "224.0.0.5", 64, false), false, false},
		{"with a VLAN tag", build(packets.Shape{Kind: packets.UDP, Tags: 1}, host4, 64, false), false, false},
		{"for another machine", append([]byte{2, 9, 9, 9, 9, 9}, build(udp, host4, 64, false)[6:]...), false, false},
	} {
		expect(row.name, row.frame, row.leaves, row.fast)
	}
	if got := count("pushed") - first; got != 5 {
		t.Errorf("%d packets got a record, want 5", got)
	}
	n.run(2, "ip link set dev r mtu 1400")
	expect("too long", build(packets.Shape{Kind: packets.UDP, Payload: 1390}, host4, 64, false), false, false)
	n.run(2, "ip link set dev r mtu 2000")
	wrong := func() (sum int) { // checksums, as hosts see them; those of frames above may be
		for _, host := range []int{hostA, hostB} {
			sum += n.counter(host, "Tcp", "InCsumErrors") + n.counter(host, "Udp", "InCsumErrors")
		}
		return sum
	}
	already := wrong()
	n.run(2, "ip neigh flush dev r")
	n.udp(host4, 6001, 20) // the kernel asks for the neighbour, and no packet is lost
	for port := 7000; port < 7004; port++ {
		n.tcp(host4, port, 1<<20)
		n.tcp(host6, port, 1<<20)
	}
	if got := wrong(); got != already {
		t.Errorf("hosts saw %d wrong checksums", got-already)
	}
	if got := count("kernel_fast_dropped"); got > 0 {
		t.Errorf("%d packets were dropped", got)
	}
	n.run(3, "ethtool -K l gro off") // from now on its driver takes none, of which the first that is lost tells
	client, server := n.dial(host4, 6002)
	wrote, came := 0, 0
	n.await(func() bool {
		before := count("kernel_fast")
		if _, err := client.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		wrote++
		return count("kernel_fast") == before
	})
	for _ = server.SetReadDeadline(time.Now().Add(time.Second)); ; came++ {
		if _, err := server.Read(make([]byte, 9)); err != nil {
			break
		}
	}
	if lost := count("kernel_fast_dropped"); came != wrote-lost || lost > 10 {
		t.Errorf("%d of %d packets came, and %d were counted as dropped", came, wrote, lost)
	}
	_, _ = client.Close(), server.Close()
	n.udp(host4, 6001, 100)
	n.tcp(host4, 7005, 1<<20)
}

// A rawSocket sends and gets frames at an interface.
type rawSocket struct{ fd int }

func (n *network) raw(machine int, name string) *rawSocket {
	n.t.Helper()
	s := &rawSocket{}
	n.in(machine, func() error {
		own, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		all := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
		if s.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(all)); err != nil {
			return err
		}
		return errors.Join(unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
			unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10}),
			unix.Bind(s.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: own.Index}))
	})
	n.t.Cleanup(func() { _ = unix.Close(s.fd) })
	return s
}

func (s *rawSocket) send(t testing.TB, frame []byte) {
	t.Helper()
	if _, err := unix.Write(s.fd, frame); err != nil {
		t.Fatal(err)
	}
}

// next returns the next frame that comes.
func (s *rawSocket) next(t testing.TB) []byte {
	t.Helper()
	b := make([]byte, 4096)
	size, _, err := unix.Recvfrom(s.fd, b, 0)
	if err != nil {
		t.Fatalf("no frame comes: %v", err)
	}
	return b[:size]
}

// drain takes what has come.
func (s *rawSocket) drain() {
	b := make([]byte, 4096)
	for {
		if _, _, err := unix.Recvfrom(s.fd, b, unix.MSG_DONTWAIT); err != nil {
			return
		}
	}
}
