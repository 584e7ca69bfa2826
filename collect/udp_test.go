package collect

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// dialUDP opens a sending socket that the test closes.
func dialUDP(tb testing.TB, address netip.AddrPort) *net.UDPConn {
	tb.Helper()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(address))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return conn
}

// loopback returns the loopback address of the family, with the port of s.
func loopback(s *Socket, family string) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(family), s.Addr().Port())
}

// pattern returns n bytes that differ from those of another seed.
func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>8) ^ byte(i) ^ seed
	}
	return b
}

func TestReceive(t *testing.T) {
	sizes := []int{0, 1, 200, 1472, 9000, 65507, 3, 0}
	f := func(listenOn, sendTo string) {
		t.Run(listenOn+" from "+sendTo, func(t *testing.T) {
			s := listen(t, Config{Address: listenOn})[0]
			conn := dialUDP(t, loopback(s, sendTo))
			for i, size := range sizes {
				if _, err := conn.Write(pattern(size, byte(i))); err != nil {
					t.Fatal(err)
				}
			}
			source := conn.LocalAddr().(*net.UDPAddr).AddrPort()
			for i, datagram := range receive(t, s, len(sizes)) {
				if want := pattern(sizes[i], byte(i)); datagram.payload != string(want) {
					t.Errorf("datagram %d: got %d bytes, want these %d", i, len(datagram.payload), len(want))
				}
				if datagram.source != source {
					t.Errorf("datagram %d: source %v, want %v", i, datagram.source, source)
				}
			}
		})
	}
	f("udp://127.0.0.1:0", "127.0.0.1")
	f("udp://0.0.0.0:0", "127.0.0.1")
	f("[::1]:0", "::1")
	f("udp://:0", "127.0.0.1") // the source is not ::ffff:127.0.0.1
	f("udp://:0", "::1")
	f("[::]:0", "127.0.0.1")
}

// A batch used on an IPv6 socket after an IPv4 one keeps nothing from before.
func TestReceiveBatchReused(t *testing.T) {
	b := NewBatch(4)
	for _, host := range []string{"127.0.0.1", "::1", "127.0.0.1"} {
		s := listen(t, Config{Address: net.JoinHostPort(host, "0")})[0]
		conn := dialUDP(t, s.Addr())
		conn.Write([]byte(host))
		n, err := s.ReadBatch(b)
		if err != nil || n != 1 {
			t.Fatalf("got %d %v, want 1 datagram", n, err)
		}
		want := conn.LocalAddr().(*net.UDPAddr).AddrPort()
		if got := b.Datagram(0); string(got.Payload) != host || got.Source != want {
			t.Errorf("got %q from %v, want %q from %v", got.Payload, got.Source, host, want)
		}
	}
}

func TestCloseEndsReadBatch(t *testing.T) {
	s := listen(t, Config{Address: "127.0.0.1:0"})[0]
	ended := make(chan error)
	go func() {
		_, err := s.ReadBatch(NewBatch(1))
		ended <- err
	}()
	time.Sleep(10 * time.Millisecond) // likely, not surely, ReadBatch waits by now; both orders must work
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != net.ErrClosed {
		t.Errorf("the waiting ReadBatch: got %v, want net.ErrClosed", err)
	}
	if _, err := s.ReadBatch(NewBatch(1)); err != net.ErrClosed {
		t.Errorf("ReadBatch after Close: got %v, want net.ErrClosed", err)
	}
}

// Neither sockets nor replays leave a goroutine behind.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		s := listen(t, Config{Address: "127.0.0.1:0"})[0]
		var reader sync.WaitGroup
		reader.Go(func() {
			for b := NewBatch(1); ; {
				if _, err := s.ReadBatch(b); err != nil {
					return
				}
			}
		})
		replay := Replay{Address: s.Addr().String(), Payloads: Payloads([][]byte{{1}}), Loops: 10}
		if _, err := replay.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Close()
		reader.Wait()
	}
	// A goroutine that has called Done may take a moment to go.
	for i := 0; i < 100 && runtime.NumGoroutine() > before; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestReadDeadline(t *testing.T) {
	s := listen(t, Config{Address: "127.0.0.1:0"})[0]
	if err := s.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadBatch(NewBatch(1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want os.ErrDeadlineExceeded", err)
	}
}

func TestListenErrors(t *testing.T) {
	f := func(cfg Config, cause error, text string) {
		t.Helper()
		sockets, err := Listen(cfg)
		if err == nil {
			sockets[0].Close()
		}
		if err == nil || !errors.Is(err, cause) && cause != nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: got %v, want %v and %q", cfg, err, cause, text)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: more than one line: %v", cfg, err)
		}
	}
	used := listen(t, Config{Address: "127.0.0.1:0"})[0].Addr().String()
	f(Config{Address: used}, syscall.EADDRINUSE, "choose another port")
	f(Config{Address: used, Sockets: 4}, syscall.EADDRINUSE, "choose another port")
	f(Config{Address: "192.0.2.1:0"}, syscall.EADDRNOTAVAIL, "no interface")
	f(Config{Address: "8555"}, nil, "want HOST:PORT")
	f(Config{Address: "127.0.0.1:0", Sockets: -1}, nil, "negative")
	f(Config{Address: "127.0.0.1:0", ReceiveBuffer: -1}, nil, "negative")

	if got, want := listenError("udp://:514", syscall.EACCES).Error(),
		"listen on udp://:514: permission denied: a port "+
			"below 1024 needs root or CAP_NET_BIND_SERVICE; choose a higher one"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
