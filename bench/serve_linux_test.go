package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// The sender is this test binary in another process, so that it does not share a scheduler with the receiver.
const (
	senderTo    = "WAYBILL_BENCH_SEND_TO"
	senderCount = "WAYBILL_BENCH_SEND_COUNT"
	senderRate  = "WAYBILL_BENCH_SEND_RATE"
)

func TestMain(m *testing.M) {
	if to := os.Getenv(senderTo); to != "" {
		count, _ := strconv.Atoi(os.Getenv(senderCount))
		rate, _ := strconv.Atoi(os.Getenv(senderRate))
		if err := send(to, count, rate); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// send sends count reports in runs of datagrams that the kernel cuts up (UDP GSO): in chunks of 10,000 at rate a
// second, or as fast as it can if rate is 0.
func send(to string, count, rate int) error {
	const different = 1000
	payloads := make([][]byte, different)
	for i := range payloads {
		payloads[i] = test.Report(test.Form20MD, uint32(i), uint32(i), 5)
	}
	const chunk = 10_000
	start := time.Now()
	for sent := 0; sent < count; sent += chunk {
		if rate > 0 {
			time.Sleep(time.Until(start.Add(time.Duration(sent) * time.Second / time.Duration(rate))))
		}
		replay := collect.Replay{Address: to, Payloads: collect.Payloads(payloads), Loops: chunk / different}
		if _, err := replay.Run(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

func startSender(tb testing.TB, to string, count, rate int) *exec.Cmd {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), senderTo+"="+to, senderCount+"="+strconv.Itoa(count),
		senderRate+"="+strconv.Itoa(rate))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return cmd
}

const receiveBuffer = collect.DefaultReceiveBuffer

// bare receives with the loop that every Go program starts with and returns what it got, and how long that took.
func bare(tb testing.TB, count, rate int) (received uint64, took time.Duration) {
	tb.Helper()
	sockets, err := collect.Listen(collect.Config{Address: "127.0.0.1:0", ReceiveBuffer: receiveBuffer})
	if err != nil {
		tb.Fatal(err)
	}
	address := sockets[0].Addr()
	sockets[0].Close()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(address))
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	grow(conn)
	sender := startSender(tb, address.String(), count, rate)
	b := make([]byte, 65536)
	start := time.Now()
	for {
		now := time.Now()
		conn.SetReadDeadline(now.Add(time.Second))
		for range 1000 {
			if _, _, err = conn.ReadFromUDPAddrPort(b); err != nil {
				break
			}
			received++
		}
		if err != nil {
			break
		}
		took = now.Sub(start)
	}
	if err := sender.Wait(); err != nil {
		tb.Fatal(err)
	}
	return received, took
}

// full receives as waybill serve does: decoded, accounted for, in the tables. It returns how long that took, too.
func full(tb testing.TB, count, rate int) (collect.Stats, time.Duration) {
	tb.Helper()
	points := codepoint.New()
	if err := points.Set("int_udp_port", test.INTPort); err != nil {
		tb.Fatal(err)
	}
	points.Compile()
	sockets, err := collect.Listen(collect.Config{Address: "127.0.0.1:0", Coalesce: true})
	if err != nil {
		tb.Fatal(err)
	}
	start := time.Now()
	shard, exporters := analyze.NewShard(analyze.DefaultConfig()), ledger.NewExporters(100)
	receiver := collect.NewReceiver(sockets[0], &collect.Settings{Points: points}, exporters,
		[]collect.Dispatcher{collect.Inline(shard)})
	ctx, cancel := context.WithCancel(context.Background())
	collector := analyze.Collector{Owners: []analyze.Owner{shard}, Exporters: []*ledger.Exporters{exporters}}
	var running sync.WaitGroup
	running.Go(func() {
		if err := receiver.Run(ctx); err != nil {
			tb.Error(err)
		}
	})
	running.Go(func() { lookForEvents(ctx, analyze.NewScanner(&collector, eventlog.New(1000))) })
	if err := startSender(tb, sockets[0].Addr().String(), count, rate).Wait(); err != nil {
		tb.Fatal(err)
	}
	cancel()
	running.Wait()
	took := time.Since(start)
	stats := receiver.Stats()
	accounts := ledger.New(collector.Exporters, []ledger.Socket{{Drops: sockets[0].Drops}}, nil, &collector)
	// the sender begins again and again
	if t := accounts.Loss(ledger.Query{}, time.Now().UnixNano()).Tables; t.Stored+t.Repeated != stats.Received {
		tb.Errorf("received %d reports, %d are in the tables and %d came again", stats.Received, t.Stored, t.Repeated)
	}
	return stats, took
}

// lookForEvents scans until ctx is done, as waybill serve does.
func lookForEvents(ctx context.Context, scanner *scan.Scanner) {
	ticker := time.NewTicker(time.Duration(scan.TickNs))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			scanner.Scan(now.UnixNano())
		case <-ctx.Done():
			return
		}
	}
}

// BenchmarkServe compares what a bare Go receive loop and all of Waybill keep from the same sender, one after the
// other: of all that is sent, and in a second. Whatever the kernel had no room for, it counts: received + drops = sent.
func BenchmarkServe(b *testing.B) {
	for _, load := range []struct {
		name        string
		count, rate int
	}{
		{"rate=1M", 6_000_000, 1_000_000},
		{"rate=1.5M", 6_000_000, 1_500_000},
		{"rate=max/2M", 2_000_000, 0},
		{"rate=max/20M", 20_000_000, 0},
	} {
		if os.Getenv("WAYBILL_BENCH_FULL") == "" {
			load.count = 100_000 // a short run, so that it does not rot
		}
		b.Run(load.name, func(b *testing.B) {
			for b.Loop() {
				start := processorTime()
				kept, bareTook := bare(b, load.count, load.rate)
				middle := processorTime()
				stats, took := full(b, load.count, load.rate)
				end := processorTime()
				if stats.Received+stats.KernelDrops != uint64(load.count) {
					b.Errorf("sent %d, received %d + kernel drops %d", load.count, stats.Received, stats.KernelDrops)
				}
				b.ReportMetric(float64(kept)/float64(load.count)*100, "%bare")
				b.ReportMetric(float64(stats.Received)/float64(load.count)*100, "%serve")
				b.ReportMetric(float64(stats.Received)/float64(kept), "serve/bare")
				b.ReportMetric(float64(kept)/1e6/bareTook.Seconds(), "M/s-bare")
				b.ReportMetric(float64(stats.Received)/1e6/took.Seconds(), "M/s-serve")
				b.ReportMetric(float64(middle-start)/float64(kept), "cpu-ns/bare")
				b.ReportMetric(float64(end-middle)/float64(stats.Received), "cpu-ns/serve")
			}
		})
	}
}
