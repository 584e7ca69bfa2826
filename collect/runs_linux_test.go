package collect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/test"
)

// listenCoalesced opens a socket that takes runs of datagrams as one.
func listenCoalesced(tb testing.TB, cfg Config) *Socket {
	tb.Helper()
	cfg.Coalesce = true
	s := listen(tb, cfg)[0]
	if !s.Coalesced() {
		tb.Skip("the filter that counts runs needs root or CAP_BPF, and Linux 5.7")
	}
	return s
}

// sendRun sends b as a run of datagrams of size bytes, the last one of which may be shorter.
func sendRun(conn *net.UDPConn, b []byte, size int) error {
	control := segmentControl{size: uint16(size)}
	control.header.Level, control.header.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	control.header.SetLen(unix.CmsgLen(2))
	oob := unsafe.Slice((*byte)(unsafe.Pointer(&control)), unsafe.Sizeof(control))
	_, _, err := conn.WriteMsgUDP(b, oob, nil)
	return err
}

// awaitStamps waits until the kernel says when datagrams came, and not when they are read.
func awaitStamps(t *testing.T) {
	t.Helper()
	s := listen(t, Config{Address: "127.0.0.1:0", Stamp: true})[0]
	conn, b := dialUDP(t, loopback(s, "127.0.0.1")), NewBatch(1)
	test.Eventually(t, "stamps", func() bool {
		if _, err := conn.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		sent := time.Now().UnixNano()
		time.Sleep(time.Millisecond)
		if _, err := s.ReadBatch(b); err != nil {
			t.Fatal(err)
		}
		return b.Datagram(0).ArrivedNs <= sent
	})
}

func TestReceiveRuns(t *testing.T) {
	awaitStamps(t)
	runs := []struct{ bytes, size int }{
		{1000, 100}, // all of the same length
		{1001, 100}, // the last has one byte
		{1099, 100}, // the last is one byte short
		{100, 100},  // one datagram
		{50, 100},   // one datagram
		{101, 100},  // two
		{64, 1},     // the most that every kernel takes
		{65000, 1472},
		{65000, 65000},
		{65000, 32500},
		{0, 100}, // empty
		{3, 2},
	}
	f := func(listenOn, sendTo string, batch int, oneByOne, stamp bool) {
		name := fmt.Sprintf("%s from %s/batch=%d/oneByOne=%v/stamp=%v", listenOn, sendTo, batch, oneByOne, stamp)
		t.Run(name, func(t *testing.T) {
			s := listen(t, Config{Address: listenOn, Coalesce: !oneByOne, Stamp: stamp})[0]
			conn := dialUDP(t, loopback(s, sendTo))
			var want []received
			var sent []int64 // when the run of each began to be sent
			source := conn.LocalAddr().(*net.UDPAddr).AddrPort()
			for i, run := range runs {
				b, nowNs := pattern(run.bytes, byte(i)), time.Now().UnixNano()
				if err := sendRun(conn, b, run.size); err != nil {
					t.Fatalf("%+v: %v", run, err)
				}
				if run.bytes == 0 {
					want = append(want, received{source, ""})
				}
				for datagram := range slices.Chunk(b, run.size) {
					want = append(want, received{source, string(datagram)})
				}
				for len(sent) < len(want) {
					sent = append(sent, nowNs)
				}
			}
			sent = append(sent, time.Now().UnixNano())
			var got []received
			b := NewBatch(batch)
			s.SetReadDeadline(time.Now())
			for {
				n, err := s.ReadBatch(b)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					break
				}
				if err != nil || n < 1 || n > batch {
					t.Fatalf("got %d datagrams, %v", n, err)
				}
				for i := range n {
					datagram := b.Datagram(i)
					if datagram.Truncated || cap(datagram.Payload) != len(datagram.Payload) {
						t.Errorf("datagram %d: truncated %v, capacity %d of %d", len(got), datagram.Truncated,
							cap(datagram.Payload), len(datagram.Payload))
					}
					// Later than it was sent, and earlier than the next run, unless the clock was set.
					at, from := datagram.ArrivedNs, sent[len(got)]
					next := slices.IndexFunc(sent, func(n int64) bool { return n > from })
					if stamp != (at > 0) || stamp && (at < from || at > sent[next]) {
						t.Errorf("datagram %d came at %d, and was sent from %d on", len(got), at, from)
					}
					got = append(got, received{datagram.Source, string(datagram.Payload)})
				}
			}
			if len(got) != len(want) {
				t.Fatalf("got %d datagrams, want %d", len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("datagram %d: got %d bytes from %v, want these %d from %v", i, len(got[i].payload),
						got[i].source, len(want[i].payload), want[i].source)
				}
			}
			if n := drops(t, s); n != 0 {
				t.Errorf("%d drops, want none", n)
			}
		})
	}
	for _, batch := range []int{1, 7, 64, 500} {
		f("127.0.0.1:0", "127.0.0.1", batch, false, batch == 7)
	}
	f("[::1]:0", "::1", 100, false, true)
	f("udp://:0", "127.0.0.1", 100, false, false)
	f("udp://:0", "::1", 100, false, false)
	f("udp://:0", "127.0.0.1", 100, true, true)
}

// What the kernel handed over is returned, whatever becomes of the socket, and also if the batch moves to another one.
func TestRestOfRunOutlivesSocket(t *testing.T) {
	s := listenCoalesced(t, Config{Address: "127.0.0.1:0"})
	other := listen(t, Config{Address: "127.0.0.1:0"})[0]
	if err := sendRun(dialUDP(t, s.Addr()), []byte("abcdefgh"), 1); err != nil {
		t.Fatal(err)
	}
	b := NewBatch(3)
	next := func(from *Socket, want string) {
		t.Helper()
		n, err := from.ReadBatch(b)
		var got string
		for i := range n {
			got += string(b.Datagram(i).Payload)
		}
		if got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	next(s, "abc")
	s.Close()
	next(s, "def")
	next(other, "gh")
	if n, err := s.ReadBatch(b); n != 0 || err != net.ErrClosed {
		t.Errorf("got %d datagrams, %v, want net.ErrClosed", n, err)
	}
}

// While the receive buffer never gets empty, Drops stays behind, but not by much.
func TestDropsDuringOverload(t *testing.T) {
	s := listenCoalesced(t, Config{Address: "127.0.0.1:0", ReceiveBuffer: 100_000})
	payloads := Payloads([][]byte{make([]byte, reportSize)})
	var sent, got, last uint64
	b := NewBatch(DefaultBatchSize)
	for range 30 {
		replay := Replay{Address: s.Addr().String(), Payloads: payloads, Loops: 5000}
		summary, err := replay.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sent += summary.Sent
		for range 3 {
			n, err := s.ReadBatch(b)
			if err != nil {
				t.Fatal(err)
			}
			got += uint64(n)
		}
		now := drops(t, s)
		if now < last {
			t.Errorf("%d drops after %d", now, last)
		}
		last = now
	}
	if truth := sent - got; last < truth/2 || last > truth {
		t.Errorf("during the overload: %d drops of about %d", last, truth)
	}
	got += uint64(len(drain(t, s)))
	if n := drops(t, s); got+n != sent {
		t.Errorf("%d received + %d drops, want %d sent", got, n, sent)
	}
}

// Runs go to the socket that their source belongs to, and each socket counts its own drops.
func TestSocketsShareRuns(t *testing.T) {
	sockets := listen(t, Config{Address: "0.0.0.0:0", Sockets: 3, ReceiveBuffer: 50_000})
	const senders, runs = 16, 200
	sent := 0
	for i := range senders {
		from := net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 1, byte(i)}), 0))
		conn, err := net.DialUDP("udp", from, net.UDPAddrFromAddrPort(loopback(sockets[0], "127.0.0.1")))
		if err != nil {
			t.Fatal(err)
		}
		for run := range runs {
			b := make([]byte, 0, 40*8)
			for datagram := range 40 {
				b = binary.BigEndian.AppendUint64(b, uint64(run*40+datagram))
			}
			if err := sendRun(conn, b, 8); err != nil {
				t.Fatal(err)
			}
			sent += 40
		}
		conn.Close()
	}
	owner, last := map[netip.Addr]int{}, map[netip.Addr]uint64{}
	total := 0
	used := map[int]bool{}
	for i, s := range sockets {
		datagrams := drain(t, s)
		for _, datagram := range datagrams {
			source, number := datagram.source.Addr(), binary.BigEndian.Uint64([]byte(datagram.payload))
			if of, known := owner[source]; known && of != i {
				t.Fatalf("%v came to sockets %d and %d", source, of, i)
			} else if known && number <= last[source] {
				t.Fatalf("%v: %d after %d", source, number, last[source])
			}
			owner[source], last[source], used[i] = i, number, true
		}
		total += len(datagrams) + int(drops(t, s))
	}
	if total != sent || len(used) != len(sockets) {
		t.Errorf("%d datagrams received or dropped by %d sockets, want %d by %d", total, len(used), sent, len(sockets))
	}
}

// Several processors deliver to one socket at the same time, while others read and ask.
func TestDropsOfManySenders(t *testing.T) {
	s := listen(t, Config{Address: "127.0.0.1:0", ReceiveBuffer: 200_000})[0]
	var sending, reading, asking sync.WaitGroup
	var sent [4]uint64
	for i := range sent {
		sending.Go(func() {
			// Sizes differ, so that some runs are short and others long.
			payloads := Payloads([][]byte{pattern(100*i, 1), pattern(100*i, 2), pattern(50, 3), pattern(50, 4)})
			for range 10 {
				replay := Replay{Address: s.Addr().String(), Payloads: payloads, Loops: 2000}
				summary, err := replay.Run(t.Context())
				if err != nil {
					t.Error(err)
				}
				sent[i] += summary.Sent
			}
		})
	}
	var received [2]uint64
	for i := range received {
		reading.Go(func() {
			for b := NewBatch(16); ; {
				n, err := s.ReadBatch(b)
				if err != nil {
					return
				}
				received[i] += uint64(n)
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	asking.Go(func() {
		for ctx.Err() == nil {
			drops(t, s)
		}
	})
	sending.Wait()
	s.SetReadDeadline(time.Now())
	reading.Wait()
	stop()
	asking.Wait()
	want := sent[0] + sent[1] + sent[2] + sent[3]
	if got, dropped := received[0]+received[1], drops(t, s); got+dropped != want {
		t.Errorf("%d received + %d drops, want %d sent", got, dropped, want)
	}
}

// unprivilegedVariable tells the test binary that it runs as a user who may not attach the filter.
const unprivilegedVariable = "WAYBILL_TEST_UNPRIVILEGED"

// Where the filter is not allowed, datagrams come one by one and drops are exact all the same.
func TestWithoutPrivilege(t *testing.T) {
	if os.Getenv(unprivilegedVariable) != "" {
		if listen(t, Config{Address: "127.0.0.1:0", Coalesce: true})[0].Coalesced() {
			t.Error("the socket is coalesced")
		}
		return
	}
	if disabled, err := os.ReadFile("/proc/sys/kernel/unprivileged_bpf_disabled"); os.Getuid() != 0 || err != nil ||
		strings.TrimSpace(string(disabled)) == "0" {
		t.Skip("needs root, and a kernel that does not let everyone load programs")
	}
	binary, err := os.Open("/proc/self/exe") // its folder may be closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	cmd := exec.Command("/proc/self/fd/3", "-test.run=^(TestWithoutPrivilege|TestDropsAreExact|TestReceiveRuns)$",
		"-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), unprivilegedVariable+"=1")
	cmd.ExtraFiles = []*os.File{binary}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	output, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: TestWithoutPrivilege") {
		t.Errorf("%v\n%s", err, output)
	}
}
