package collect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/packet"
	"golang.org/x/sys/unix"
)

// ringListener makes the test binary listen on the address that it is, say so, and wait.
const ringListener = "WAYBILL_TEST_RING"

// inNetwork moves the goroutine into a network of its own with a pair of interfaces, wa and wb.
func inNetwork(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("networks are made by root only")
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		tb.Fatal(err)
	}
	for _, command := range []string{
		"link set lo up", "link add wa type veth peer name wb", "link set wa address 02:00:00:00:00:01",
		"link set wb address 02:00:00:00:00:02", "addr add 192.0.2.2/24 dev wb",
		"link set wa up", "link set wb up",
	} {
		ip(tb, strings.Fields(command)...)
	}
	// Until the kernel has noticed that it is up, an interface throws away what it should send.
	test.Eventually(tb, "an interface that sends", func() bool {
		return strings.Contains(ip(tb, "link", "show", "wa"), "state UP")
	})
}

func ip(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		tb.Fatalf("ip %v: %v: %s", args, err, out)
	}
	return string(out)
}

// frameSender returns a function that sends frames from an interface, as they are.
func frameSender(tb testing.TB, name string) func(frame []byte) {
	tb.Helper()
	inter, err := net.InterfaceByName(name)
	if err != nil {
		tb.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { unix.Close(fd) })
	to := &unix.SockaddrLinklayer{Ifindex: inter.Index}
	return func(frame []byte) {
		if err := unix.Sendto(fd, frame, 0, to); err != nil {
			tb.Fatal(err)
		}
	}
}

// udpFrame is a frame with a datagram from 192.0.2.1 or 2001:db8::1, port 4000, tagged with VLANs.
func udpFrame(ipv6 bool, port uint16, payload string, change func(*packet.IPv4), tags ...uint16) []byte {
	eth := packet.Ethernet{
		Dst: [6]byte{2, 0, 0, 0, 0, 2}, Src: [6]byte{2, 0, 0, 0, 0, 1}, EtherType: packet.EtherTypeIPv4,
	}
	if ipv6 {
		eth.EtherType = packet.EtherTypeIPv6
	}
	kind := eth.EtherType
	if len(tags) > 0 {
		eth.EtherType = packet.EtherTypeVLAN
	}
	b := eth.Append(nil)
	for i, tag := range tags {
		b = binary.BigEndian.AppendUint16(b, tag)
		if i < len(tags)-1 {
			b = binary.BigEndian.AppendUint16(b, packet.EtherTypeVLAN)
		} else {
			b = binary.BigEndian.AppendUint16(b, kind)
		}
	}
	udp := packet.UDP{SrcPort: 4000, DstPort: port, Length: uint16(8 + len(payload))}
	if ipv6 {
		h := packet.IPv6{PayloadLength: udp.Length, NextHeader: packet.ProtoUDP, HopLimit: 9}
		h.Src = netip.MustParseAddr("2001:db8::1").As16()
		h.Dst = netip.MustParseAddr("2001:db8::2").As16()
		return append(udp.Append(h.Append(b)), payload...)
	}
	h := packet.IPv4{
		IHL: 5, TotalLength: 20 + udp.Length, TTL: 9, Protocol: packet.ProtoUDP,
		Src: [4]byte{192, 0, 2, 1}, Dst: [4]byte{192, 0, 2, 2},
	}
	if change != nil {
		change(&h)
	}
	h.Checksum = h.HeaderChecksum()
	return append(udp.Append(h.Append(b)), payload...)
}

func TestDatagramIn(t *testing.T) {
	source4, source6 := netip.MustParseAddrPort("192.0.2.1:4000"), netip.MustParseAddrPort("[2001:db8::1]:4000")
	f := func(name string, frame []byte, source netip.AddrPort, payload string) {
		t.Helper()
		d, ok := datagramIn(frame, 8555)
		if ok != source.IsValid() || d.Source != source || string(d.Payload) != payload || d.Truncated {
			t.Errorf("%s: %v, %t", name, d, ok)
		}
		for n := range frame { // cut anywhere: no more than is there, and said so
			d, ok := datagramIn(frame[:n], 8555)
			if ok && (!d.Truncated || !strings.HasPrefix(payload, string(d.Payload))) {
				t.Errorf("%s, %d bytes: %v", name, n, d)
			}
		}
	}
	f("IPv4", udpFrame(false, 8555, "report", nil), source4, "report")
	f("IPv6", udpFrame(true, 8555, "report", nil), source6, "report")
	f("two VLANs", udpFrame(true, 8555, "report", nil, 5, 6), source6, "report")
	f("empty", udpFrame(false, 8555, "", nil), source4, "")
	f("options", udpFrame(false, 8555, "report", func(h *packet.IPv4) {
		h.IHL, h.TotalLength, h.Options = 6, h.TotalLength+4, []byte{1, 1, 1, 0}
	}), source4, "report")
	f("other port", udpFrame(false, 8556, "report", nil), netip.AddrPort{}, "")
	for name, change := range map[string]func(*packet.IPv4){
		"TCP":                  func(h *packet.IPv4) { h.Protocol = packet.ProtoTCP },
		"first fragment":       func(h *packet.IPv4) { h.MF = true },
		"later fragment":       func(h *packet.IPv4) { h.FragmentOffset = 1 },
		"IPv4 ends before UDP": func(h *packet.IPv4) { h.TotalLength-- },
	} {
		f(name, udpFrame(false, 8555, "report", change), netip.AddrPort{}, "")
	}
}

// readFrames reads what a socket has, until nothing came for a while.
func readFrames(tb testing.TB, s *Socket, into map[string]int) {
	tb.Helper()
	b := NewBatch(64)
	for {
		_ = s.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		n, err := s.ReadBatch(b)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			tb.Fatal(err)
		}
		for i := range n {
			into[b.Datagram(i).Source.String()+" "+string(b.Datagram(i).Payload)]++
		}
	}
}

// Of frames that come all at once, into a ring that is too small, every one is received or counted, once; and so it is
// for the ring of the default size. What is not for the port goes on.
func TestFramesOfInterface(t *testing.T) {
	for _, network := range []string{networkXDP, networkPacket} {
		for _, buffer := range []int{0, 1} {
			t.Run(fmt.Sprint(network, buffer), func(t *testing.T) {
				inNetwork(t)
				other, err := net.ListenPacket("udp4", "192.0.2.2:9999")
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				sockets, err := Listen(Config{Address: network + "://wb:8555", ReceiveBuffer: buffer, Sockets: 2})
				if err != nil || len(sockets) != 1 || sockets[0].Fallback() != nil {
					t.Fatal(sockets, err, sockets[0].Fallback())
				}
				s := sockets[0]
				defer s.Close()
				send := frameSender(t, "wa")
				send(udpFrame(false, 9999, "other", nil))
				const sent = 3000
				received := map[string]int{}
				var reading sync.WaitGroup
				if buffer == 0 { // a ring has so many blocks, and one that is not full waits some ms to be read
					reading.Go(func() {
						for d, err := s.Drops(); err == nil && len(received)+int(d) < sent; d, err = s.Drops() {
							readFrames(t, s, received)
						}
					})
				}
				for i := range sent {
					payload := fmt.Sprint("report ", i, strings.Repeat("!", 1024))
					if network == networkPacket { // it has blocks of 256 KiB
						payload += strings.Repeat("!", 300)
					}
					send(udpFrame(i%2 == 1, 8555, payload, nil))
				}
				reading.Wait()
				readFrames(t, s, received)
				for datagram, n := range received {
					if n != 1 || !strings.Contains(datagram, ":4000 report ") {
						t.Fatalf("%d of %.60s", n, datagram)
					}
				}
				drops, err := s.Drops()
				if err != nil || len(received)+int(drops) != sent {
					t.Errorf("received %d, dropped %d of %d (%v)", len(received), drops, sent, err)
				}
				if (drops > 0) != (buffer > 0) || len(received) == 0 {
					t.Errorf("%d dropped, %d received, with a buffer of %d", drops, len(received), buffer)
				}
				b := make([]byte, 100)
				_ = other.SetReadDeadline(time.Now().Add(5 * time.Minute))
				if n, _, err := other.ReadFrom(b); err != nil || string(b[:n]) != "other" {
					t.Errorf("other traffic: %q, %v", b[:n], err)
				}
				s.Close()
				if again, err := s.Drops(); again != drops || err != nil {
					t.Errorf("after Close: %d, %v, want %d", again, err, drops)
				}
				if link := ip(t, "-d", "link", "show", "wb"); strings.Contains(link, "xdp") {
					t.Errorf("a program stays: %s", link)
				}
			})
		}
	}
}

// What the program passes, fragments for instance, comes by way of the UDP socket beside the ring.
func TestFramesXDPPasses(t *testing.T) {
	inNetwork(t)
	s := listen(t, Config{Address: "xdp://wb:8555"})[0]
	send := frameSender(t, "wa")
	whole := udpFrame(false, 8555, "a report in two fragments", func(h *packet.IPv4) { h.ID = 7 })
	first, rest := whole[:14+20+16], whole[14+20+16:]
	h := packet.IPv4{
		IHL: 5, TotalLength: 20 + 16, ID: 7, MF: true, TTL: 9, Protocol: packet.ProtoUDP,
		Src: [4]byte{192, 0, 2, 1}, Dst: [4]byte{192, 0, 2, 2},
	}
	h.Checksum = h.HeaderChecksum()
	send(append(h.Append(first[:14:14]), first[34:]...))
	h.MF, h.FragmentOffset, h.TotalLength = false, 2, uint16(20+len(rest))
	h.Checksum = h.HeaderChecksum()
	send(append(h.Append(first[:14:14]), rest...))
	send(udpFrame(false, 8555, "a report", nil))
	received := map[string]int{}
	readFrames(t, s, received)
	if len(received) != 2 || received["192.0.2.1:4000 a report in two fragments"] != 1 ||
		received["192.0.2.1:4000 a report"] != 1 {
		t.Errorf("%v", received)
	}
}

// Where an interface has a program already, UDP takes the place of XDP, and says why.
func TestFramesFallback(t *testing.T) {
	inNetwork(t)
	listen(t, Config{Address: "xdp://wb:8555"})
	s := listen(t, Config{Address: "xdp://wb:8556"})[0]
	if err := s.Fallback(); err == nil || !errors.Is(err, unix.EBUSY) || s.String() != "[::]:8556" {
		t.Fatal(s, err)
	}
	frameSender(t, "wa")(udpFrame(false, 8556, "report", nil))
	received := map[string]int{}
	readFrames(t, s, received)
	if received["192.0.2.1:4000 report"] != 1 {
		t.Errorf("%v", received)
	}
	_, err := Listen(Config{Address: "xdp://nowhere:8555"})
	if err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("an interface that is not there: %v", err)
	}
}

// No program stays when its process is killed.
func TestFramesKilled(t *testing.T) {
	inNetwork(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), ringListener+"=xdp://wb:8555")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if link := ip(t, "-d", "link", "show", "wb"); !strings.Contains(link, "xdp") {
		t.Errorf("no program: %s", link)
	}
	_ = child.Process.Kill()
	_, _ = io.Copy(io.Discard, out)
	_ = child.Wait()
	for end := time.Now().Add(5 * time.Minute); strings.Contains(ip(t, "-d", "link", "show", "wb"), "xdp"); {
		if time.Now().After(end) {
			t.Fatal("the program stays")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func listenOnRing(address string) error {
	sockets, err := Listen(Config{Address: address})
	if err != nil {
		return err
	}
	if err := sockets[0].Fallback(); err != nil {
		return err
	}
	fmt.Println("listening")
	select {}
}

// runRing does what ringListener asks for; false if that is nothing.
func runRing() bool {
	address := os.Getenv(ringListener)
	if address == "" {
		return false
	}
	if err := listenOnRing(address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}
