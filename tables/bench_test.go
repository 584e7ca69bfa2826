package tables

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// benchDatagrams are reports of 5 hops of so many flows, from 100 exporters, in batches as the bus gives them.
func benchDatagrams(flows int) (batches [][]collect.Datagram, n int) {
	for i := range flows {
		if i%64 == 0 {
			batches = append(batches, nil)
		}
		to := &batches[len(batches)-1]
		*to = append(*to, collect.Datagram{
			Source:  netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(i % 100)}), 5000),
			Payload: test.Report(test.Form20MD, uint32(i), uint32(i/100), 5),
		})
	}
	return batches, flows
}

// into is a relay that does nothing with what it gets.
type into struct{}

func (into) Relay([]byte, telemetry.Origin, int64) {}

// BenchmarkReport is what a report takes of processors, of 100,000 flows, where the tables are in this process, where
// they are behind connections, and the parts of that: reading and relaying it, and reading it again beside the tables.
func BenchmarkReport(b *testing.B) {
	batches, n := benchDatagrams(100_000)
	settings := &collect.Settings{Points: somePoints()}
	config := analyze.DefaultConfig()
	run := func(b *testing.B, r *collect.Receiver, settle func()) {
		nowNs := int64(1e18)
		give := func() {
			for _, batch := range batches {
				r.Receive(batch, 8555, nowNs)
				nowNs += 1e5
			}
			settle()
		}
		give() // all flows are known
		b.ReportAllocs()
		b.ResetTimer()
		spent := processorTime(b)
		for b.Loop() {
			give()
		}
		all := float64(b.N) * float64(n)
		b.ReportMetric(float64(processorTime(b)-spent)/all, "cpu-ns/report")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/all, "ns/report")
	}
	account := func() collect.Account { return ledger.NewExporters(200) }
	nothing := func() {}
	b.Run("here", func(b *testing.B) {
		shard := analyze.NewShard(config)
		run(b, collect.NewReceiver(nil, settings, account(), []collect.Dispatcher{collect.Inline(shard)}), nothing)
	})
	b.Run("relaying", func(b *testing.B) {
		r := collect.NewReceiver(nil, settings, account(), nil)
		r.RelayTo([]collect.Relay{into{}, into{}}, 2)
		run(b, r, nothing)
	})
	b.Run("accounts of what tables take", func(b *testing.B) {
		heads, held := benchHeads(batches)
		r := collect.NewReceiver(nil, settings, account(), nil)
		r.RelayTo([]collect.Relay{into{}}, 1)
		var list []bus.Datagram
		var memory []byte
		var batch []collect.Datagram
		nowNs := int64(1e18)
		give := func() {
			for i, head := range heads {
				var err error
				if _, list, memory, err = bus.Decode(head, memory, list[:0]); err != nil {
					b.Fatal(err)
				}
				batch = batch[:0]
				for at := range list {
					d := &list[at]
					batch = append(batch, collect.Datagram{
						Source: d.Source, Payload: d.Payload,
						Kept: collect.Kept{Is: d.Kept.Is, Message: uint64(i), At: at},
					})
				}
				r.Receive(batch, 8555, nowNs)
				nowNs += 1e5
			}
		}
		give()
		bytes := 0
		for _, head := range heads {
			bytes += len(head)
		}
		b.ReportAllocs()
		b.ResetTimer()
		spent := processorTime(b)
		for b.Loop() {
			give()
		}
		all := float64(b.N) * float64(n)
		b.ReportMetric(float64(processorTime(b)-spent)/all, "cpu-ns/report")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/all, "ns/report")
		b.ReportMetric(float64(bytes)/float64(n), "B/report")
		b.ReportMetric(float64(held.bytes)/float64(n), "held-B/report")
	})
	b.Run("heads", func(b *testing.B) {
		messages := benchMessages(batches)
		spent := processorTime(b)
		k := newHeld(&hello{Of: 1, Partitions: 1}, 1<<30)
		for b.Loop() {
			for _, m := range messages {
				message, _ := k.keep(m, settings.Points)
				k.letGo(message)
			}
		}
		b.ReportMetric(float64(processorTime(b)-spent)/float64(b.N)/float64(n), "cpu-ns/report")
	})
	for _, servers := range []int{1, 2, 4} {
		b.Run("apart, servers="+string(rune('0'+servers)), func(b *testing.B) {
			var addresses []string
			for range servers {
				address, _ := start(b, 1, "v")
				addresses = append(addresses, address)
			}
			a := opened(b, addresses...)
			r := collect.NewReceiver(nil, settings, account(), nil)
			r.RelayTo(a.Relays(), a.Partitions())
			run(b, r, func() {
				for _, o := range a.Owners() {
					o.Finish(0) // which is answered behind all of them
				}
			})
		})
	}
}

// benchMessages are batches as they are on the bus, eight in a message.
func benchMessages(batches [][]collect.Datagram) (messages [][]byte) {
	for of := range slices.Chunk(batches, 8) {
		var body []byte
		h := bus.Header{Collector: "c", Number: 1}
		for _, batch := range of {
			for _, d := range batch {
				body = bus.AppendDatagram(body, &bus.Datagram{
					ArrivedNs: 1e18 + int64(h.Datagrams)*1000, Port: 8555, Source: d.Source, Payload: d.Payload,
				})
				h.Datagrams++
			}
		}
		messages = append(messages, bus.AppendMessage(nil, &h, body))
	}
	return messages
}

// benchHeads is what tables that take the messages tell of them.
func benchHeads(batches [][]collect.Datagram) (heads [][]byte, k *held) {
	k = newHeld(&hello{Of: 1, Partitions: 1}, 1<<30)
	for _, m := range benchMessages(batches) {
		_, head := k.keep(m, somePoints())
		heads = append(heads, slices.Clone(head))
	}
	return heads, k
}

// BenchmarkQuestions are what people ask, over 8 servers with 10,000 flows each, or a million
// with WAYBILL_BENCH_FULL, which takes 7 GB.
func BenchmarkQuestions(b *testing.B) {
	const servers = 8
	flows := 10_000
	if os.Getenv("WAYBILL_BENCH_FULL") != "" {
		flows = 1_000_000
	}
	var addresses []string
	config := analyze.ConfigFor(1<<30, 1)
	for range servers {
		s, err := Listen(ServerConfig{Listen: "127.0.0.1:0", Shards: 1, Tables: config, Version: "v", Log: quiet()})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		go s.Run(ctx)
		addresses = append(addresses, s.Address())
	}
	a := opened(b, addresses...)
	r := collect.NewReceiver(nil, &collect.Settings{Points: somePoints()}, ledger.NewExporters(200), nil)
	r.RelayTo(a.Relays(), a.Partitions())
	nowNs := time.Now().UnixNano()
	var batch []collect.Datagram
	report := func(i int) {
		batch = append(batch, collect.Datagram{
			Source:  netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(i % 100)}), 5000),
			Payload: test.Report(test.Form20MD, uint32(i%(servers*flows)), uint32(i/100), 5),
		})
		if len(batch) == 64 {
			r.Receive(batch, 8555, nowNs)
			batch = batch[:0]
		}
	}
	next := 0
	for ; next < servers*flows; next++ {
		report(next)
	}
	c := analyze.Collector{Owners: a.Owners()}
	b.Logf("%d flows", c.Counters().Flows)
	for _, q := range []struct {
		name string
		ask  func()
	}{
		{"flows", func() { c.Flows(analyze.FlowFilter{Order: analyze.ByPackets, Limit: 100}) }},
		{"one flow", func() { c.Flows(analyze.FlowFilter{Which: analyze.FlowHash(7), Limit: 1}) }},
		{"paths", func() { c.Paths(100) }},
		{"links", func() { c.Links() }},
		{"counters", func() { c.Counters() }},
	} {
		b.Run(q.name, func(b *testing.B) {
			var took []time.Duration
			var reporting sync.WaitGroup
			ctx, stop := context.WithCancel(b.Context())
			reporting.Go(func() { // 6,400 a second
				for ticker := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
					for range 64 {
						report(next)
						next++
					}
				}
			})
			for b.Loop() {
				start := time.Now()
				q.ask()
				took = append(took, time.Since(start))
			}
			stop()
			reporting.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100])/1e6, "p95-ms")
		})
	}
}

func processorTime(b *testing.B) int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Skip("this system does not tell the time that a process took of the processors")
	}
	return used.Utime.Nano() + used.Stime.Nano()
}
