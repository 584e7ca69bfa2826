package tables

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// busOfTest is a server of NATS with what collectors send.
func busOfTest(t *testing.T) bus.Config {
	t.Helper()
	s, err := bus.OpenServer(bus.ServerConfig{Listen: "127.0.0.1:0", Dir: t.TempDir(), MaxBytes: 1 << 30, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return bus.Config{URLs: []string{s.URL()}, Name: "test", Stream: bus.StreamConfig{MaxBytes: 1 << 29}}
}

// onBus runs a server that takes messages from the bus until the test ends.
func onBus(t *testing.T, c bus.Config, shards int) (*Server, string) {
	t.Helper()
	reader, err := bus.OpenReader(c, quiet())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(ServerConfig{
		Listen: "127.0.0.1:0", Shards: shards, Tables: analyze.DefaultConfig(), Version: "v", Bus: reader,
		Held: 16 << 20, Log: quiet(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
		reader.Close()
	})
	return s, s.Address()
}

// What servers take from the bus themselves is what shards of this process would have counted, in the same order: of
// collectors that divide it as the analyzer does, and of one that divides it in another way, and into more parts. The
// analyzer keeps the accounts without the datagrams. Servers keep no message longer than it is needed.
func TestTablesOnBus(t *testing.T) {
	for name, nodes := range map[string]string{
		"stacks": "watch: [{report_all: true}]\n", "postcards": "watch: [{report_all: true}]\nmode: xd\n",
		"coalesced": "watch: [{report_all: true}]\nmode: xd\nreports: {coalesce: 5ms}\n",
	} {
		t.Run(name, func(t *testing.T) {
			list := datagramsOf(t, "demo", nodes, 3*time.Second)
			list = append(list, list[len(list)-5:]...) // they came twice
			list = append(list, test.Datagram{Src: list[0].Src, Payload: []byte("damaged")})
			config := busOfTest(t)
			first, address := onBus(t, config, 1)
			second, other := onBus(t, config, 2)
			a, err := Open(t.Context(), Config{
				Addresses: []string{address, other}, Version: "v", Points: somePoints(), Log: quiet(), Partitions: 9,
				Direct: true, Delivered: func(nowNs int64) int64 { return nowNs },
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.Close)
			if !a.Direct() {
				t.Fatal("datagrams are relayed")
			}
			settings := &collect.Settings{Points: somePoints()}
			base := time.Now().Add(-time.Second).UnixNano() - int64(len(list))*1e4
			arrived := func(i int) int64 { return base + int64(i)*1e4 }

			var here, apart analyze.Collector
			here.Exporters = []*ledger.Exporters{ledger.NewExporters(100)}
			apart.Exporters = []*ledger.Exporters{ledger.NewExporters(100)}
			var dispatchers []collect.Dispatcher
			var queues []*collect.Queue
			running, stop := context.WithCancel(t.Context())
			defer stop()
			for range 3 {
				shard := analyze.NewShard(analyze.DefaultConfig())
				shard.Delivered = func(nowNs int64) int64 { return nowNs }
				here.Owners = append(here.Owners, shard)
				q := collect.NewQueue(untimed{shard})
				go q.Run(running)
				queues, dispatchers = append(queues, q), append(dispatchers, q)
			}
			collectorOf := func(d *test.Datagram) int { return collect.SocketOf(d.Src.Addr(), 2) }
			names := []string{"right", "other"}

			// By the bus.
			apart.Owners = a.Owners()
			receiver := collect.NewReceiver(nil, settings, apart.Exporters[0], nil)
			receiver.RelayTo(a.Relays(), a.Partitions())
			var delivered, kept atomic.Int64
			var order []int // of list, as they were delivered
			consumer, err := bus.OpenConsumer(bus.ConsumerConfig{
				Bus: config, Log: quiet(), Holders: a,
				Deliver: func(list []bus.Datagram) {
					for _, d := range list {
						if d.Kept.Is {
							kept.Add(1)
						}
						receiver.Receive([]collect.Datagram{{
							Source: d.Source, Payload: d.Payload, Collector: d.Collector,
							Kept: collect.Kept(d.Kept),
						}}, d.Port, d.ArrivedNs)
						order = append(order, int(d.ArrivedNs-base)/1e4)
					}
					delivered.Add(int64(len(list)))
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			defer all.Wait()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			all.Go(func() { consumer.Run(ctx) })
			var given atomic.Int64
			var publishers []*bus.Publisher
			for i, partitions := range []int{9, 20} {
				p, err := bus.OpenPublisher(bus.PublisherConfig{
					Bus: config, Collector: names[i], Partitions: partitions, SpoolBytes: 64 << 20, Log: quiet(),
					Counters: func() bus.Counters { return bus.Counters{} },
					Whole:    func(int64) int64 { return given.Load() },
				})
				if err != nil {
					t.Fatal(err)
				}
				publishers = append(publishers, p)
				all.Go(func() { p.Run(ctx) })
			}
			// Nobody waits for a collector that was never heard of.
			test.Eventually(t, "both collectors", func() bool { return len(consumer.Collectors()) == 2 })
			decoder := telemetry.NewDecoder(settings.Points)
			for i := range list {
				d := &list[i]
				at := collectorOf(d)
				partition := rand.IntN(publishers[at].Partitions())
				if at == 0 {
					var b telemetry.Batch
					var h telemetry.Header
					if decoder.Decode(d.Payload, d.Src, 8555, &b, &h); len(b.Reports) > 0 {
						partition = collect.PartitionOf(&b.Reports[0], 9)
					}
				}
				err := publishers[at].Add(t.Context(), partition, &bus.Datagram{
					ArrivedNs: arrived(i), Port: 8555, Source: d.Src, Payload: d.Payload,
				})
				if err != nil {
					t.Fatal(err)
				}
				given.Store(arrived(i) + 1)
				if i%1000 == 0 {
					time.Sleep(50 * time.Millisecond)
				}
			}
			test.Eventually(t, "all datagrams", func() bool { return delivered.Load() == int64(len(list)) })

			// Here, in the same order: on a slow machine nobody waits for a collector for ever.
			receiver = collect.NewReceiver(nil, settings, here.Exporters[0], dispatchers)
			for _, i := range order {
				d := &list[i]
				receiver.Receive([]collect.Datagram{
					{Source: d.Src, Payload: d.Payload, Collector: names[collectorOf(d)]},
				}, 8555, arrived(i))
			}
			for _, q := range queues {
				q.Drain()
			}
			for i := range 20 {
				for _, owner := range append(here.Owners, apart.Owners...) {
					owner.Tick(arrived(len(list)) + int64(i)*1e8)
				}
			}
			sameAnswers(t, &here, &apart)
			if n := kept.Load(); n == 0 || n == int64(len(list)) || name == "stacks" && n < int64(len(list)/3) {
				t.Errorf("of %d datagrams %d were kept by those who count them", len(list), n)
			}
			test.Eventually(t, "messages that are let go", func() bool {
				var n int
				for _, s := range []*Server{first, second} {
					for _, of := range s.session.shards {
						of.held.mu.Lock()
						n += len(of.held.list) + of.held.bytes
						of.held.mu.Unlock()
					}
				}
				return n == 0
			})
			select {
			case err := <-a.Gone():
				t.Error(err)
			default:
			}
		})
	}
}

// Tables of which no flow is on the bus say so: nobody waits for them.
func TestIdleTables(t *testing.T) {
	config := busOfTest(t)
	_, address := onBus(t, config, 3)
	a, err := Open(t.Context(), Config{
		Addresses: []string{address}, Version: "v", Points: somePoints(), Log: quiet(), Partitions: 3, Direct: true,
		Delivered: func(nowNs int64) int64 { return nowNs },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	var consumers []*bus.Consumer // one that makes the stream, and one that finds messages there
	for _, holders := range []bus.Holders{nil, a} {
		c, err := bus.OpenConsumer(bus.ConsumerConfig{
			Bus: config, Log: quiet(), Holders: holders, Deliver: func([]bus.Datagram) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		consumers = append(consumers, c)
	}
	p, err := bus.OpenPublisher(bus.PublisherConfig{
		Bus: config, Collector: "c", Partitions: 3, SpoolBytes: 64 << 20, Log: quiet(),
		Counters: func() bus.Counters { return bus.Counters{} }, Whole: func(nowNs int64) int64 { return nowNs },
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	all.Go(func() { p.Run(ctx) })
	making, made := context.WithCancel(ctx)
	defer made()
	all.Go(func() { consumers[0].Run(making) })
	test.Eventually(t, "messages on the bus", func() bool { return p.Stats().Published > 5 })
	made()
	consumer := consumers[1]
	all.Go(func() { consumer.Run(ctx) })
	test.Eventually(t, "all tables, which have taken what there was", func() bool {
		s, now := consumer.Stats(), time.Now().UnixNano()
		return s.Sequence > 5 && s.Pending == 0 && now-consumer.Delivered(now) < int64(time.Second)
	})
}
