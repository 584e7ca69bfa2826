package duckdb

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// The figures of docs/explanation/performance.md. What is stored are a minute of the scenario demo, as the collector counted it,
// again and again: each minute in copies of the network with other addresses and node numbers, and minute after minute.
// Addresses, ports, latencies and counts so have the spread that traffic has.
//
// WAYBILL_BENCH_FULL=1 makes 50 million records of flows instead of one million.

const benchCopies = 40

func benchRecords() int {
	if os.Getenv("WAYBILL_BENCH_FULL") != "" {
		return 50_000_000
	}
	return 1_000_000
}

// A reportSink is a collector without sockets.
type reportSink struct {
	decoder   *telemetry.Decoder
	shard     *analyze.Shard
	intervals *analyze.Intervals
	give      func(*telemetry.Intervals)
	batch     telemetry.Batch
}

// Report implements fabric.Sink; a frame has Ethernet, IPv4 and UDP headers without options.
func (s *reportSink) Report(atNs uint64, frame []byte) error {
	var h telemetry.Header
	s.batch.Reset()
	s.decoder.Decode(frame[42:], netip.AddrPortFrom(netip.AddrFrom4([4]byte(frame[26:30])), 1), 32766, &s.batch, &h)
	s.shard.Process(&s.batch, int64(atNs))
	s.intervals.Look(int64(atNs), s.give)
	return nil
}

func (s *reportSink) Flush() error { return nil }

// demoMinute is what a collector counts in a minute of the scenario demo. Records of paths come after their routes.
var demoMinute = sync.OnceValues(func() (all telemetry.Intervals, err error) {
	text, err := scenario.Load("../../scenarios/demo.yaml")
	if err != nil {
		return all, err
	}
	device, err := fabric.INTDevices(text)
	if err != nil {
		return all, err
	}
	config, err := node.Load(text.INT.Text)
	if err != nil {
		return all, err
	}
	points, err := config.CodePoints()
	if err != nil {
		return all, err
	}
	rule, err := codepoint.ParseRule("any", "waybill")
	if err != nil {
		return all, err
	}
	codes := &codepoint.Config{Points: points, Rules: []codepoint.Rule{rule}}
	codes.Compile()
	shard := analyze.NewShard(analyze.DefaultConfig())
	sink := &reportSink{decoder: telemetry.NewDecoder(codes), shard: shard}
	sink.intervals = analyze.NewIntervals(&analyze.Collector{Shards: []*analyze.Shard{shard}}, nil, epoch.UnixNano())
	sink.give = func(v *telemetry.Intervals) {
		all.Flows, all.Paths, all.Hops = append(all.Flows, v.Flows...), append(all.Paths, v.Paths...), append(all.Hops, v.Hops...)
		all.Queues, all.Links, all.Drops = append(all.Queues, v.Queues...), append(all.Links, v.Links...), append(all.Drops, v.Drops...)
		all.Routes = append(all.Routes, v.Routes...)
	}
	f, err := fabric.New(text, fabric.Options{Device: device, Reports: sink, EpochNs: uint64(epoch.UnixNano())})
	if err != nil {
		return all, err
	}
	if err := f.Run(context.Background(), time.Minute); err != nil {
		return all, err
	}
	sink.intervals.Finish(epoch.Add(time.Minute-1).UnixNano(), sink.give)
	return all, nil
})

// copyOf returns the records of a minute, of a copy of the network.
func copyOf(v *telemetry.Intervals, minute, network int) *telemetry.Intervals {
	ns, nodes, addresses := int64(minute)*60e9, uint32(network)*100, uint64(network)<<8
	to := &telemetry.Intervals{
		Flows: slices.Clone(v.Flows), Paths: slices.Clone(v.Paths), Hops: slices.Clone(v.Hops),
		Queues: slices.Clone(v.Queues), Links: slices.Clone(v.Links), Drops: slices.Clone(v.Drops), Routes: slices.Clone(v.Routes),
	}
	for i := range to.Flows {
		r := &to.Flows[i]
		r.StartNs += ns
		r.Key.Src.Lo += addresses
		r.Key.Dst.Lo += addresses
		r.Path += uint64(network)
	}
	for i := range to.Paths {
		to.Paths[i].StartNs += ns
		to.Paths[i].Path += uint64(network)
	}
	for i := range to.Hops {
		to.Hops[i].StartNs += ns
		to.Hops[i].Node += nodes
	}
	for i := range to.Queues {
		to.Queues[i].StartNs += ns
		to.Queues[i].Node += nodes
	}
	for i := range to.Links {
		to.Links[i].StartNs += ns
		to.Links[i].From.Node += nodes
		to.Links[i].To.Node += nodes
	}
	for i := range to.Drops {
		to.Drops[i].StartNs += ns
		to.Drops[i].Node += nodes
	}
	for i := range to.Routes {
		to.Routes[i].StartNs += ns
		to.Routes[i].Path += uint64(network)
	}
	if minute%(24*60) > 0 {
		to.Routes = nil // they are given once a day
	}
	return to
}

// BenchmarkStore fills a store, one minute after the other, while queries run and files are maintained, and asks it. Run it with
// -benchtime 1x, as it fills the store once.
func BenchmarkStore(b *testing.B) {
	minute, err := demoMinute()
	if err != nil {
		b.Fatal(err)
	}
	if len(minute.Drops) == 0 || len(minute.Queues) == 0 || len(minute.Flows) < 1000 {
		b.Fatalf("%d flows, %d queues, %d drops: this measures little", len(minute.Flows), len(minute.Queues), len(minute.Drops))
	}
	s := open(b, func(c *Config) {
		c.MaxBytes = 1 << 40
		c.Keep = [...]time.Duration{1e4 * time.Hour, 1e4 * time.Hour, 1e4 * time.Hour}
	})
	var end time.Time
	flows := 0
	b.Run("append", func(b *testing.B) {
		if flows > 0 {
			b.Skip("the store is filled once")
		}
		ctx, cancel := context.WithCancel(context.Background())
		var queries sync.WaitGroup
		queries.Go(func() {
			for ctx.Err() == nil {
				_, _ = s.Query(ctx, &store.Query{Table: store.Flows, From: epoch, To: epoch.Add(time.Hour), Group: []string{"dst_lo"}, Values: []string{"packets"}, Order: "packets", Limit: 10})
			}
		})
		var written atomic.Int64 // the end of the last minute
		queries.Go(func() {
			for ctx.Err() == nil {
				if err := s.Maintain(ctx, time.Unix(0, written.Load())); err != nil && ctx.Err() == nil {
					b.Error(err)
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		records, busy, slowest := 0, time.Duration(0), time.Duration(0)
		for n := 0; flows < benchRecords(); n++ {
			var batches []*telemetry.Intervals
			for network := range benchCopies {
				v := copyOf(&minute, n, network)
				flows += len(v.Flows)
				records += v.Len()
				batches = append(batches, v)
			}
			end = epoch.Add(time.Duration(n+1) * time.Minute)
			began := time.Now()
			if err := s.Write(batches); err != nil {
				b.Fatal(err)
			}
			took := time.Since(began)
			busy, slowest = busy+took, max(slowest, took)
			written.Store(end.UnixNano())
		}
		cancel()
		queries.Wait()
		began := time.Now()
		for s.uncompacted(end) != nil {
			if err := s.Maintain(context.Background(), end); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(began).Seconds(), "behind-s")
		if _, err := s.write.ExecContext(context.Background(), "CHECKPOINT"); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(slowest.Seconds(), "slowest-write-s")
		b.ReportMetric(float64(len(s.list())), "files")
		b.ReportMetric(float64(records)/busy.Seconds(), "records/s")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("size", func(b *testing.B) { size(b, s, &minute, flows) })
	first := &minute.Flows[0]
	queue := &minute.Queues[len(minute.Queues)/2]
	day := store.Query{From: epoch, To: end}
	for name, change := range map[string]func(*store.Query){
		"top flows by latency": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Order, q.Limit = store.Flows, []string{"flow"}, []string{"residence_max", "packets"}, "residence_max", 20
			q.From = maxTime(epoch, end.Add(-time.Hour))
		},
		"top pairs of hosts by latency, all the time": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Order, q.Limit = store.Flows, []string{"src_hi", "src_lo", "dst_hi", "dst_lo"}, []string{"residence_max", "packets"}, "residence_max", 20
		},
		"paths of one flow": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Step = store.Flows, []string{"path_id"}, []string{"packets", "residence_mean"}, 10*time.Second
			q.Where, q.Args = "flow = CAST(? AS UBIGINT)", []any{fmt.Sprint(first.Key.Hash())}
		},
		"heat map of a queue": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Step = store.Hops, []string{"node"}, []string{"latency"}, time.Minute
			q.Where, q.Args = "node = CAST(? AS UBIGINT) AND egress_port = CAST(? AS UBIGINT)", []any{int64(queue.Node), int64(queue.EgressPort)}
		},
		"drops by reason": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Order = store.Drops, []string{"node", "reason_name"}, []string{"packets"}, "packets"
		},
	} {
		b.Run(name, func(b *testing.B) {
			q := day
			change(&q)
			var times []time.Duration
			rows := 0
			for b.Loop() {
				began := time.Now()
				rows = len(ask(b, s, q).Rows)
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1e3, "p95-ms")
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// size reports what a record of a flow takes on disk, measured on one file with nothing else in it.
func size(b *testing.B, s *Store, minute *telemetry.Intervals, flows int) {
	alone := open(b, nil)
	n := 0
	for m := range 20 {
		var batches []*telemetry.Intervals
		for network := range benchCopies {
			v := copyOf(minute, m, network)
			batches = append(batches, &telemetry.Intervals{Flows: v.Flows})
			n += len(v.Flows)
		}
		if err := alone.Write(batches); err != nil {
			b.Fatal(err)
		}
	}
	if err := alone.Close(); err != nil { // all is merged into the file
		b.Fatal(err)
	}
	b.ReportMetric(float64(alone.partitions[0].size())/float64(n), "B/flow-record")
	stats, err := s.Stats()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(stats.Bytes)/float64(flows), "B/flow-record-with-all")
	b.ReportMetric(float64(flows), "flow-records")
	b.ReportMetric(0, "ns/op")
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
