package main

import (
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// TestClusterClocks: by how much ever the clocks of collectors are wrong, and while the analyzer is killed, every
// report counts once, in the ledger and in the store. The collectors are of this process, since a kernel has one clock.
// Servers with tables have no use for one: the analyzer says what time it is.
func TestClusterClocks(t *testing.T) {
	seed, _ := test.Seed(t)
	g := mathrand.New(mathrand.NewPCG(seed, 0))
	data, address, web := t.TempDir(), test.FreePort(t, "tcp"), test.FreePort(t, "tcp")
	server, tables := tablesConfig(t, "nats://"+address)
	startRoleAt(t, tables)
	config := fmt.Sprintf("role: analyze\nhttp: %s\ndata: %s\nbus: {embedded: %q}\ntables: {servers: [%s]}\n", web,
		data, address, server)
	analyzer := startRole(t, web, config)

	sent := map[string]uint32{}
	var publishers []*bus.Publisher
	skews := []time.Duration{0, 2 * time.Second, -2 * time.Second, time.Minute, -time.Minute, time.Hour, -time.Hour}
	g.Shuffle(len(skews), func(i, j int) { skews[i], skews[j] = skews[j], skews[i] })
	skews = skews[:3]
	t.Logf("clocks are wrong by %v", skews)
	for i, skew := range skews {
		p, err := bus.OpenPublisher(bus.PublisherConfig{
			Bus: bus.Config{
				URLs: []string{"nats://" + address}, Name: "test",
				Stream: bus.StreamConfig{Replicas: 1, MaxBytes: 64 << 20},
			},
			Collector: fmt.Sprint("c", i), Partitions: 4, SpoolBytes: 64 << 20, Log: slog.New(slog.DiscardHandler),
			Counters: func() bus.Counters { return bus.Counters{} },
			Whole:    func(nowNs int64) int64 { return nowNs + int64(skew) },
		})
		if err != nil {
			t.Fatal(err)
		}
		publishing := make(chan struct{})
		go func() { defer close(publishing); p.Run(t.Context()) }()
		t.Cleanup(func() { <-publishing })
		publishers = append(publishers, p)
	}
	send := func(n int) {
		for range n {
			for i, p := range publishers {
				source := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 5000)
				err := p.Add(t.Context(), g.IntN(p.Partitions()), &bus.Datagram{
					ArrivedNs: time.Now().Add(skews[i]).UnixNano(), Port: 8555, Source: source,
					Payload: test.Report(test.Form20MD, uint32(1+i), sent[source.Addr().String()], 3),
				})
				if err != nil {
					t.Fatal(err)
				}
				sent[source.Addr().String()]++
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
	check := func(what string) (all uint64) {
		t.Helper()
		test.Eventually(t, what, func() bool {
			all = 0
			var l struct{ Loss []telemetry.Loss }
			if analyzer.ask("/api/v1/loss", &l) != nil {
				return false
			}
			for _, x := range l.Loss {
				if x.Sent == nil || *x.Sent != uint64(sent[x.Source.String()]) {
					return false
				}
				if x.Received != *x.Sent || *x.Lost != 0 || *x.Duplicate != 0 || *x.Reordered != 0 {
					t.Errorf("%s: of %d sent by %v: %d received, %d lost, %d twice, %d out of order", what, *x.Sent,
						x.Source, x.Received, *x.Lost, *x.Duplicate, *x.Reordered)
				}
				all += x.Received
			}
			return len(l.Loss) == len(publishers)
		})
		return all
	}
	send(500)
	check("everything that was sent")
	send(300)
	analyzer.kill()
	send(300)
	analyzer = startRole(t, web, config)
	send(300)
	all := check("everything, after the analyzer was killed")
	// What comes by the bus is waited for, for as long as the analyzer waits for the collector that is behind the most.
	time.Sleep(8 * time.Second)
	analyzer.terminate(t)
	statement := "SELECT 'all', sum(packets), sum(reports) FROM flows_10s"
	kept := openLast(t, data, all, func() *process { return startRole(t, web, config) })
	equalSums(t, statement, map[string]string{"all": fmt.Sprint(all, all)}, sums(t, kept, statement))
}
