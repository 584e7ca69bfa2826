package collect

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestSocketsShareAPort(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "udp://:0"} {
		t.Run(address, func(t *testing.T) {
			sockets := listen(t, Config{Address: address, Sockets: 4})
			if len(sockets) != 4 {
				t.Fatalf("got %d sockets, want 4", len(sockets))
			}
			host := "127.0.0.1"
			if address == "[::1]:0" {
				host = "::1"
			}
			const senders, each = 64, 5
			sources := map[string]int{} // what each sender sent has to arrive on one socket, in order
			for range senders {
				conn := dialUDP(t, loopback(sockets[0], host))
				sources[conn.LocalAddr().String()] = 0
				for i := range each {
					conn.Write([]byte{byte(i)})
				}
			}
			total := 0
			for i, s := range sockets {
				if s.Addr() != sockets[0].Addr() {
					t.Errorf("socket %d has %v, socket 0 has %v", i, s.Addr(), sockets[0].Addr())
				}
				for _, datagram := range drain(t, s) {
					source := datagram.source.String()
					if next, known := sources[source]; !known || datagram.payload != string([]byte{byte(next)}) {
						t.Fatalf("datagram %q from %s, want number %d", datagram.payload, source, next)
					}
					sources[source]++
					total++
				}
			}
			if total != senders*each {
				t.Errorf("got %d datagrams, want %d", total, senders*each)
			}
		})
	}
}

// A group of sockets keeps its port to itself as one socket does.
func TestSharedPortIsInUse(t *testing.T) {
	used := listen(t, Config{Address: "127.0.0.1:0", Sockets: 2})[0].Addr().String()
	for _, sockets := range []int{1, 2} {
		more, err := Listen(Config{Address: used, Sockets: sockets})
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("%d sockets: got %v, want EADDRINUSE", sockets, err)
		}
		for _, s := range more {
			s.Close()
		}
	}
}

// drain returns what is in the receive buffer.
func drain(tb testing.TB, s *Socket) []received {
	tb.Helper()
	if err := s.SetReadDeadline(time.Now()); err != nil {
		tb.Fatal(err)
	}
	defer s.SetReadDeadline(time.Time{})
	var all []received
	b := NewBatch(16)
	for {
		n, err := s.ReadBatch(b)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return all
		}
		if err != nil {
			tb.Fatal(err)
		}
		for i := range n {
			all = append(all, received{b.Datagram(i).Source, string(b.Datagram(i).Payload)})
		}
	}
}

func TestReadDeadlineDrains(t *testing.T) {
	s := listen(t, Config{Address: "127.0.0.1:0"})[0]
	conn := dialUDP(t, s.Addr())
	for i := range 40 {
		conn.Write([]byte{byte(i)})
	}
	got := drain(t, s)
	if len(got) != 40 {
		t.Fatalf("got %d datagrams, want 40", len(got))
	}
	for i, datagram := range got {
		if datagram.payload != string([]byte{byte(i)}) {
			t.Errorf("datagram %d: got %q", i, datagram.payload)
		}
	}
}

func TestReceiveBuffer(t *testing.T) {
	const asked = 100_000
	if got := listen(t, Config{Address: "127.0.0.1:0", ReceiveBuffer: asked})[0].ReceiveBuffer(); got != asked {
		t.Errorf("got %d bytes, want %d", got, asked)
	}
	got := listen(t, Config{Address: "127.0.0.1:0"})[0].ReceiveBuffer()
	if os.Getuid() == 0 && got != DefaultReceiveBuffer || got <= 0 || got > DefaultReceiveBuffer {
		t.Errorf("default: got %d bytes, want %d or, without root, less", got, DefaultReceiveBuffer)
	}
}

// Whatever the sizes, and with a sender that hands runs of datagrams to the kernel as one: received + drops = sent.
func TestDropsAreExact(t *testing.T) {
	small, mixed := [][]byte{make([]byte, reportSize)}, [][]byte(nil)
	for i := range 300 {
		mixed = append(mixed, make([]byte, i%7*50)) // runs of one; one in seven is empty
	}
	f := func(name string, payloads [][]byte, loops int, host string, rate float64) {
		t.Run(name, func(t *testing.T) {
			s := listen(t, Config{Address: net.JoinHostPort(host, "0"), ReceiveBuffer: 50_000})[0]
			var sent, received uint64
			for range 3 {
				replay := Replay{Address: s.Addr().String(), Payloads: Payloads(payloads), Loops: loops, Rate: rate}
				summary, err := replay.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				sent += summary.Sent
				drops, err := s.Drops() // before anything is read
				if err != nil {
					t.Fatal(err)
				}
				queued := uint64(len(drain(t, s)))
				received += queued
				if drops == 0 || queued == 0 {
					t.Errorf("%d received and %d drops: want an overload", queued, drops)
				}
				if received+drops != sent {
					t.Errorf("%d received + %d drops, want %d sent", received, drops, sent)
				}
			}
			s.Close()
			if drops, err := s.Drops(); err != nil || drops == 0 || drops >= sent {
				t.Errorf("after Close: got %d drops, %v", drops, err)
			}
		})
	}
	f("runs", small, 20_000, "127.0.0.1", 0)
	f("runs IPv6", small, 20_000, "::1", 0)
	f("mixed sizes", mixed, 50, "127.0.0.1", 0)
	f("one by one", small, 5000, "127.0.0.1", 1e6)
}

// The same while a reader reads.
func TestDropsAreExactWhileReading(t *testing.T) {
	s := listen(t, Config{Address: "127.0.0.1:0", ReceiveBuffer: 50_000})[0]
	counted := make(chan uint64)
	go func() {
		var n uint64
		b := NewBatch(DefaultBatchSize)
		for {
			got, err := s.ReadBatch(b)
			n += uint64(got)
			if err != nil {
				counted <- n
				return
			}
			s.Drops()
		}
	}()
	replay := Replay{Address: s.Addr().String(), Payloads: Payloads([][]byte{make([]byte, reportSize)}), Loops: 200_000}
	summary, err := replay.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s.SetReadDeadline(time.Now())
	received := <-counted
	drops, err := s.Drops()
	if err != nil || received+drops != summary.Sent {
		t.Errorf("%d received + %d drops, %v, want %d sent", received, drops, err, summary.Sent)
	}
}

func TestReadBatchNoAllocs(t *testing.T) {
	s := listen(t, Config{Address: "udp://:0"})[0]
	conn := dialUDP(t, loopback(s, "127.0.0.1"))
	payload := make([]byte, reportSize)
	b := NewBatch(DefaultBatchSize)
	allocs := testing.AllocsPerRun(200, func() {
		for range 10 {
			conn.Write(payload)
		}
		for got := 0; got < 10; {
			n, err := s.ReadBatch(b)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if !b.Datagram(i).Source.IsValid() {
					t.Fatal("no source")
				}
			}
			got += n
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations per run, want 0", allocs)
	}
}
