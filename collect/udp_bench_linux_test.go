package collect

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// BenchmarkReceive takes a burst of datagrams of 200 bytes from a sender in another process, which sends as fast as it
// can, in runs: by a plain loop over ReadFromUDPAddrPort, by ReadBatch, and by ReadBatch that takes runs as one. One
// operation is one burst. datagrams/s is what came through; if there were no drops, the sender set that rate, and
// cpu-ns/datagram, the processor time of the receiving process, says how much more the receiver could take.
func BenchmarkReceive(b *testing.B) {
	const burst = 1_000_000
	b.Run("bare", func(b *testing.B) { benchmarkReceive(b, burst, true, readOne) })
	b.Run("batch", func(b *testing.B) { benchmarkReceive(b, burst, true, readBatch) })
	b.Run("runs", func(b *testing.B) { benchmarkReceive(b, burst, false, readBatch) })
}

// readOne returns a function that reads one datagram from s.
func readOne(s *Socket) func() (int, error) {
	payload := make([]byte, 1<<16)
	return func() (int, error) {
		n, _, err := s.conn.ReadFromUDPAddrPort(payload)
		sink += n
		return 1, err
	}
}

// readBatch returns a function that reads a batch from s and looks at each datagram.
func readBatch(s *Socket) func() (int, error) {
	batch := NewBatch(DefaultBatchSize)
	return func() (int, error) {
		n, err := s.ReadBatch(batch)
		for i := range n {
			datagram := batch.Datagram(i)
			sink += len(datagram.Payload) + int(datagram.Source.Port())
		}
		return n, err
	}
}

var sink int

func benchmarkReceive(b *testing.B, burst int, oneByOne bool, reader func(*Socket) func() (int, error)) {
	var total, dropped int
	var busy time.Duration
	before := processorTime(b)
	for b.Loop() {
		received, drops, elapsed := receiveBurst(b, burst, oneByOne, reader)
		total, dropped, busy = total+received, dropped+drops, busy+elapsed
	}
	used := processorTime(b) - before
	b.ReportMetric(float64(used.Nanoseconds())/float64(total), "cpu-ns/datagram")
	b.ReportMetric(float64(total)/busy.Seconds(), "datagrams/s")
	b.ReportMetric(float64(dropped)/float64(b.N), "drops/op")
}

// receiveBurst lets a process of its own send a burst. It returns what was received and dropped, and the time from the
// first datagram to the last.
func receiveBurst(b *testing.B, burst int, oneByOne bool, reader func(*Socket) func() (int, error)) (int, int,
	time.Duration,
) {
	sockets, err := Listen(Config{Address: "127.0.0.1:0", Coalesce: !oneByOne})
	if err != nil {
		b.Fatal(err)
	}
	s := sockets[0]
	defer s.Close()
	sender := exec.Command(os.Args[0], s.Addr().String())
	sender.Env = append(os.Environ(), senderVariable+"="+strconv.Itoa(burst))
	sender.Stderr = os.Stderr
	if err := sender.Start(); err != nil {
		b.Fatal(err)
	}
	go func() {
		sender.Wait()
		s.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	}()

	read := reader(s)
	received := 0
	var first, last time.Time
	for {
		n, err := read()
		if err != nil {
			break // the deadline
		}
		if received == 0 {
			first = time.Now()
		}
		received += n
		last = time.Now()
	}
	drops, err := s.Drops()
	if err != nil || received+int(drops) != burst {
		b.Fatalf("%d received + %d drops, %v, want %d sent", received, drops, err, burst)
	}
	return received, int(drops), last.Sub(first)
}

// processorTime returns the processor time that this process has used, in user and system mode.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkReadBatch reads full batches that wait in the receive buffer.
func BenchmarkReadBatch(b *testing.B) {
	for _, size := range []int{64, reportSize, 1472} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			sockets, err := Listen(Config{Address: "127.0.0.1:0"})
			if err != nil {
				b.Fatal(err)
			}
			s := sockets[0]
			defer s.Close()
			replay := Replay{
				Address:  s.Addr().String(),
				Payloads: Payloads([][]byte{make([]byte, size)}),
				Loops:    DefaultBatchSize,
			}
			batch := NewBatch(DefaultBatchSize)
			b.SetBytes(int64(size * DefaultBatchSize))
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				if _, err := replay.Run(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				for got := 0; got < DefaultBatchSize; {
					n, err := s.ReadBatch(batch)
					if err != nil {
						b.Fatal(err)
					}
					got += n
				}
			}
		})
	}
}
