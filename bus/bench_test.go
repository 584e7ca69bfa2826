package bus

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/internal/test"
)

// benchDatagrams are reports of 5 hops of 10,000 flows, from 100 exporters. The lowest byte of each word is random, as
// that of latencies, queues and times is.
func benchDatagrams(n int) (list []Datagram, bytes int) {
	g := rand.New(rand.NewPCG(1, 1))
	list = make([]Datagram, n)
	for i := range list {
		b := test.Report(test.Form20MD, g.Uint32N(10_000), uint32(i/100), 5)
		for at := 3; at < len(b); at += 4 {
			b[at] = byte(g.Uint32())
		}
		list[i] = Datagram{
			ArrivedNs: 1e18 + int64(i/32)*1e5, Port: 8555, Payload: b,
			Source: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(i % 100)}), 5000),
		}
		bytes += len(b)
	}
	return list, bytes
}

// BenchmarkMessage makes messages of datagrams, and reads them.
func BenchmarkMessage(b *testing.B) {
	list, payload := benchDatagrams(1000)
	per := func(b *testing.B, message []byte) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/datagram")
		b.ReportMetric(float64(len(message))/float64(len(list)), "B/datagram")
		b.ReportMetric(float64(payload)/float64(len(list)), "payload-B/datagram")
	}
	var body, message []byte
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body = body[:0]
			for i := range list {
				body = AppendDatagram(body, &list[i])
			}
			message = AppendMessage(message[:0], &Header{Collector: "c", Number: 1, Datagrams: uint32(len(list))}, body)
		}
		per(b, message)
	})
	b.Run("decode", func(b *testing.B) {
		message := messageOf(Header{Collector: "c", Number: 1}, list)
		var memory []byte
		var to []Datagram
		b.ReportAllocs()
		for b.Loop() {
			var err error
			if _, to, memory, err = Decode(message, memory, to[:0]); err != nil || len(to) != len(list) {
				b.Fatal(err)
			}
		}
		per(b, message)
	})
}

// BenchmarkBus is the way of datagrams from a collector, whose spool is on disk, by a NATS server that syncs always, to
// an analyzer that does nothing with them: the processor time of all three together.
func BenchmarkBus(b *testing.B) {
	list, _ := benchDatagrams(100_000)
	server, err := OpenServer(ServerConfig{Listen: "127.0.0.1:0", Dir: b.TempDir(), MaxBytes: 8 << 30, Log: testLog(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	config := Config{URLs: []string{server.URL()}, Stream: StreamConfig{MaxBytes: 4 << 30}}
	taken, arrived := 0, make(chan struct{}, 1)
	consumer, err := OpenConsumer(ConsumerConfig{
		Bus: config, Log: testLog(b),
		Deliver: func(datagrams []Datagram) {
			if taken += len(datagrams); taken%len(list) == 0 {
				arrived <- struct{}{}
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	publisher, err := OpenPublisher(PublisherConfig{
		Bus: config, Collector: "c", Partitions: 8, Spool: b.TempDir(), SpoolBytes: 256 << 20, Log: testLog(b),
		Counters: func() Counters { return Counters{} }, Whole: func(nowNs int64) int64 { return nowNs },
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() { consumer.Run(ctx); done <- struct{}{} }()
	go func() { publisher.Run(ctx); done <- struct{}{} }()
	confirming := time.NewTicker(500 * time.Millisecond)
	defer confirming.Stop()
	spent := processorTime(b)
	for b.Loop() {
		for i := range list {
			if err := publisher.Add(ctx, i%8, &list[i]); err != nil {
				b.Fatal(err)
			}
		}
		for waiting := true; waiting; {
			select {
			case <-arrived:
				waiting = false
			case <-confirming.C:
				var at *Positions
				consumer.Hold(func(now *Positions) { at = now })
				consumer.Confirm(at)
			}
		}
	}
	all := float64(b.N) * float64(len(list))
	b.ReportMetric(float64(processorTime(b)-spent)/all, "cpu-ns/datagram")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/all, "ns/datagram")
	cancel()
	<-done
	<-done
}

func processorTime(b *testing.B) int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Skip("this system does not tell the time that a process took of the processors")
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

// BenchmarkSave saves a checkpoint, and a journal that grows by so much each time until it is begun anew.
func BenchmarkSave(b *testing.B) {
	server := openTestServer(b, test.FreePort(b, "tcp"), b.TempDir())
	defer server.Close()
	e := openTestElection(b, server.URL(), "a")
	e.win(b)
	checkpoint, more := make([]byte, 300_000), make([]byte, 1_000_000)
	g := rand.NewChaCha8([32]byte{})
	var written int64
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		_, _ = g.Read(checkpoint)
		_, _ = g.Read(more)
		name := filepath.Join(e.dir, "grow")
		flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY
		if i%10 == 0 {
			flags |= os.O_TRUNC
		}
		to, err := os.OpenFile(name, flags, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		_, err = to.Write(more)
		err = errors.Join(err, to.Close(), datadir.Replace(filepath.Join(e.dir, "checkpoint"), checkpoint))
		if err != nil {
			b.Fatal(err)
		}
		written += int64(len(checkpoint) + len(more))
		b.StartTimer()
		if err := e.Save(b.Context(), e.dir, []string{"checkpoint", "grow"}, grows); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(written / int64(b.N))
}
