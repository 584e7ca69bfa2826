package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
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
	if _, got := listen(t, Config{Address: "127.0.0.1:0", ReceiveBuffer: asked})[0].ReceiveBuffer(); got != asked {
		t.Errorf("got %d bytes, want %d", got, asked)
	}
	_, got := listen(t, Config{Address: "127.0.0.1:0"})[0].ReceiveBuffer()
	if os.Getuid() == 0 && got != DefaultReceiveBuffer || got <= 0 || got > DefaultReceiveBuffer {
		t.Errorf("default: got %d bytes, want %d or, without root, less", got, DefaultReceiveBuffer)
	}
	runs := listen(t, Config{Address: "127.0.0.1:0", Coalesce: true})[0]
	want := DefaultReceiveBuffer
	if runs.Coalesced() {
		want = runsBuffer(1)
	}
	if wanted, got := runs.ReceiveBuffer(); wanted != want || os.Getuid() == 0 && got != want || got <= 0 ||
		got > want {
		t.Errorf("default with runs %v: wanted %d, got %d bytes, want %d or, without root, less", runs.Coalesced(),
			wanted, got, want)
	}
}

// Whatever the sizes, with a sender that hands runs of datagrams to the kernel as one, and whether or not the receiver
// takes them as one: received + drops = sent.
func TestDropsAreExact(t *testing.T) {
	small := [][]byte{make([]byte, reportSize)}
	var mixed, mixedRuns [][]byte
	for i := range 300 {
		mixed = append(mixed, make([]byte, i%7*50)) // runs of one; one in seven is empty
		mixedRuns = append(mixedRuns, make([]byte, i/20%7*50))
	}
	f := func(name string, payloads [][]byte, loops int, host string, rate float64, oneByOne bool) {
		t.Run(fmt.Sprintf("%s/oneByOne=%v", name, oneByOne), func(t *testing.T) {
			s := listen(t, Config{Address: net.JoinHostPort(host, "0"), ReceiveBuffer: 50_000, Coalesce: !oneByOne})[0]
			var sent, received uint64
			for range 5 {
				replay := Replay{Address: s.Addr().String(), Payloads: Payloads(payloads), Loops: loops, Rate: rate}
				summary, err := replay.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				sent += summary.Sent
				before := drops(t, s)
				queued := uint64(len(drain(t, s)))
				after := drops(t, s)
				received += queued
				if after == 0 || queued == 0 {
					t.Errorf("%d received and %d drops: want an overload", queued, after)
				}
				if received+after != sent {
					t.Errorf("%d received + %d drops, want %d sent", received, after, sent)
				}
				if before > after || before != after && !s.Coalesced() {
					t.Errorf("%d drops before anything was read, %d after", before, after)
				}
			}
			s.Close()
			if got := drops(t, s); got != sent-received {
				t.Errorf("after Close: %d received + %d drops, want %d sent", received, got, sent)
			}
		})
	}
	for _, oneByOne := range []bool{false, true} {
		f("runs", small, 20_000, "127.0.0.1", 0, oneByOne)
		f("runs IPv6", small, 20_000, "::1", 0, oneByOne)
		f("mixed sizes", mixed, 50, "127.0.0.1", 0, oneByOne)
		f("mixed runs", mixedRuns, 50, "127.0.0.1", 0, oneByOne)
		f("no runs", small, 5000, "127.0.0.1", 1e6, oneByOne)
	}
}

// drops returns the drops of s.
func drops(tb testing.TB, s *Socket) uint64 {
	tb.Helper()
	n, err := s.Drops()
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// The same while one goroutine reads and others ask. What Drops says never falls: had it ever been too high, because of
// datagrams that wait or are on their way, it would be too high in the end.
func TestDropsAreExactWhileReading(t *testing.T) {
	f := func(receiveBuffer int, oneByOne bool) {
		t.Run(fmt.Sprintf("buffer=%d/oneByOne=%v", receiveBuffer, oneByOne), func(t *testing.T) {
			s := listen(t, Config{Address: "127.0.0.1:0", ReceiveBuffer: receiveBuffer, Coalesce: !oneByOne})[0]
			var reading, asking sync.WaitGroup
			var received uint64
			reading.Go(func() {
				for b := NewBatch(DefaultBatchSize); ; {
					n, err := s.ReadBatch(b)
					if err != nil {
						return
					}
					received += uint64(n)
				}
			})
			ctx, stop := context.WithCancel(t.Context())
			for range 2 {
				asking.Go(func() {
					for last := uint64(0); ctx.Err() == nil; {
						now, err := s.Drops()
						if err != nil || now < last {
							t.Errorf("%d drops, %v after %d", now, err, last)
							return
						}
						last = now
					}
				})
			}
			var sent uint64
			for i := range 20 {
				payloads := Payloads([][]byte{make([]byte, reportSize+i)})
				replay := Replay{Address: s.Addr().String(), Payloads: payloads, Loops: 20_000}
				summary, err := replay.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				sent += summary.Sent
				time.Sleep(time.Duration(i%3) * time.Millisecond)
			}
			s.SetReadDeadline(time.Now())
			reading.Wait()
			stop()
			asking.Wait()
			if got := drops(t, s); received+got != sent {
				t.Errorf("%d received + %d drops, want %d sent", received, got, sent)
			}
		})
	}
	for _, oneByOne := range []bool{false, true} {
		f(50_000, oneByOne)
		f(1_000_000, oneByOne)
	}
}

func TestReadBatchNoAllocs(t *testing.T) {
	const run = 10
	f := func(oneByOne, segment bool) {
		t.Run(fmt.Sprintf("oneByOne=%v/segment=%v", oneByOne, segment), func(t *testing.T) {
			s := listen(t, Config{Address: "udp://:0", Coalesce: !oneByOne})[0]
			out, err := dial(t.Context(), loopback(s, "127.0.0.1").String(), segment)
			if err != nil {
				t.Fatal(err)
			}
			defer out.close()
			payload := make([]byte, reportSize)
			b := NewBatch(run - 1)
			allocs := testing.AllocsPerRun(200, func() {
				for range run {
					out.queue(payload)
				}
				if err := out.flush(); err != nil {
					t.Fatal(err)
				}
				for got := 0; got < run; {
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
		})
	}
	f(false, true)
	f(false, false)
	f(true, true)
}
