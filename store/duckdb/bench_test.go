package duckdb

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// The figures of docs/explanation/performance.md. What is stored is a minute of the scenario demo, as the collector
// counted it, again and again: each minute in copies of the network with other node numbers, with copies of its hosts
// with other addresses, and minute after minute. Addresses, ports, latencies and counts so have the spread that traffic
// has. Flows with a port of their own in the scenario go on; all others are new ones in each minute.
//
// WAYBILL_BENCH_FULL=1 makes 50 million records of flows instead of one million. With -benchtime 1x, which measures
// nothing, they are as few as they can be.

const (
	benchNetworks = 20
	benchCrowds   = 8  // copies of the hosts of a network
	benchWritten  = 32 // batches that are written together: 240,000 records, as when ten seconds are over
	benchAsked    = 40 // times that a question is asked
)

func benchRecords() int {
	if test.Once() {
		return 1
	}
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
	sink.intervals = analyze.NewIntervals(&analyze.Collector{Owners: []analyze.Owner{shard}}, nil, epoch.UnixNano())
	sink.give = func(v *telemetry.Intervals) {
		all.Flows, all.Paths, all.Hops = append(all.Flows, v.Flows...), append(all.Paths, v.Paths...),
			append(all.Hops, v.Hops...)
		all.Queues, all.Links, all.Drops = append(all.Queues, v.Queues...), append(all.Links, v.Links...),
			append(all.Drops, v.Drops...)
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

// copyOf returns the records of a minute, of a copy of the network and of its hosts. What the network tells of itself
// is in the first copy of the hosts.
func copyOf(v *telemetry.Intervals, minute, network, crowd int) *telemetry.Intervals {
	ns, nodes, hosts := int64(minute)*60e9, uint32(network)*100, network*benchCrowds+crowd
	to := &telemetry.Intervals{Flows: slices.Clone(v.Flows)}
	slower := uint64(hosts*7 + minute) // ns: no two networks are the same
	for i := range to.Flows {
		r := &to.Flows[i]
		r.StartNs += ns
		r.Key.Src.Lo += uint64(hosts) << 16
		r.Key.Dst.Lo += uint64(hosts) << 16
		if r.Key.DstPort < 6001 || r.Key.DstPort > 6004 {
			r.Key.SrcPort += uint16(minute * 211)
		}
		if r.Path != 0 {
			r.Path += uint64(network)
		}
		for _, m := range []*telemetry.LatencySummary{&r.Residence, &r.EndToEnd} {
			if m.Count > 0 {
				m.Sum, m.Min, m.Max, m.P50, m.P99 = m.Sum+m.Count*slower, m.Min+slower, m.Max+slower, m.P50+slower,
					m.P99+slower
			}
		}
	}
	if crowd > 0 {
		return to
	}
	to.Paths, to.Hops, to.Queues = slices.Clone(v.Paths), slices.Clone(v.Hops), slices.Clone(v.Queues)
	to.Links, to.Drops = slices.Clone(v.Links), slices.Clone(v.Drops)
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
	if minute == 0 { // they are given once a day
		to.Routes = slices.Clone(v.Routes)
		for i := range to.Routes {
			to.Routes[i].Path += uint64(network)
		}
	}
	return to
}

// minuteOf returns the records of a minute, in pieces as a collector gives them.
func minuteOf(v *telemetry.Intervals, minute int) (batches []*telemetry.Intervals) {
	networks, crowds := benchNetworks, benchCrowds
	if test.Once() {
		networks, crowds = 2, 1
	}
	for network := range networks {
		for crowd := range crowds {
			batches = append(batches, copyOf(v, minute, network, crowd))
		}
	}
	return batches
}

// BenchmarkStore fills a store, one minute after the other, while queries run and files are maintained, and asks it.
// Run it with -benchtime 1x, as it fills the store once.
func BenchmarkStore(b *testing.B) {
	minute, err := demoMinute()
	if err != nil {
		b.Fatal(err)
	}
	if len(minute.Drops) == 0 || len(minute.Queues) == 0 || len(minute.Flows) < 1000 {
		b.Fatalf("%d flows, %d queues, %d drops: this measures little", len(minute.Flows), len(minute.Queues),
			len(minute.Drops))
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
				_, _ = s.Query(ctx,
					&store.Query{
						Table: store.Flows, From: epoch, To: epoch.Add(time.Hour), Group: []string{"dst_lo"},
						Values: []string{"packets"}, Order: "packets", Limit: 10,
					})
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
		records, busy, slowest, spent := 0, time.Duration(0), time.Duration(0), time.Duration(0)
		runtime.LockOSThread() // whose time is measured: DuckDB writes in it
		defer runtime.UnlockOSThread()
		for n := 0; flows < benchRecords(); n++ {
			batches := minuteOf(&minute, n)
			for _, v := range batches {
				flows += len(v.Flows)
				records += v.Len()
			}
			end = epoch.Add(time.Duration(n+1) * time.Minute)
			for some := range slices.Chunk(batches, benchWritten) {
				began, before := time.Now(), threadTime()
				if err := s.Write(some); err != nil {
					b.Fatal(err)
				}
				took := time.Since(began)
				busy, slowest, spent = busy+took, max(slowest, took), spent+threadTime()-before
			}
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
		b.ReportMetric(float64(records)/spent.Seconds(), "records/cpu-s")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("size", func(b *testing.B) { size(b, s, &minute, flows) })
	first := &minute.Flows[slices.IndexFunc(minute.Flows,
		func(f telemetry.FlowInterval) bool { return f.Key.DstPort == 6001 })]
	queue := &minute.Queues[len(minute.Queues)/2]
	day := store.Query{From: epoch, To: end}
	for name, change := range map[string]func(*store.Query){
		"top flows by latency, all the time": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Order, q.Limit = store.Flows, []string{"flow"},
				[]string{"residence_max", "packets"}, "residence_max", 20
		},
		"top pairs of hosts by latency, all the time": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Order, q.Limit = store.Flows,
				[]string{"src_hi", "src_lo", "dst_hi", "dst_lo"}, []string{"residence_max", "packets"}, "residence_max",
				20
		},
		"top flows by mean latency, all the time": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Order, q.Limit = store.Flows, []string{"flow"},
				[]string{"residence_mean", "packets"}, "residence_mean", 20
		},
		"paths of one flow": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Step = store.Flows, []string{"path_id"},
				[]string{"packets", "residence_mean"}, 10*time.Second
			q.Where, q.Args = "flow = CAST(? AS UBIGINT)", []any{fmt.Sprint(first.Key.Hash())}
			q.Uses = []string{"flow"}
		},
		"heat map of a queue": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Step = store.Hops, []string{"node"}, []string{"latency"}, time.Minute
			q.Where, q.Args = "node = CAST(? AS UBIGINT) AND egress_port = CAST(? AS UBIGINT)",
				[]any{int64(queue.Node), int64(queue.EgressPort)}
			q.Uses = []string{"node", "egress_port"}
		},
		"drops by reason": func(q *store.Query) {
			q.Table, q.Group, q.Values, q.Order = store.Drops, []string{"node", "reason_name"}, []string{"packets"},
				"packets"
		},
	} {
		b.Run(name, func(b *testing.B) {
			q := day
			change(&q)
			var times []time.Duration
			rows := 0
			asked := benchAsked
			if test.Once() {
				asked = 1
			}
			for b.Loop() {
				for range asked {
					began := time.Now()
					rows = len(ask(b, s, q).Rows)
					times = append(times, time.Since(began))
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1e3, "p95-ms")
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// size reports what a record of a flow takes on disk before and after it is sorted, measured on one file with nothing
// else in it, and what all take with what belongs to them, most of it sorted.
func size(b *testing.B, s *Store, minute *telemetry.Intervals, flows int) {
	alone := open(b, nil)
	n := 0
	for m := range 3 {
		batches := minuteOf(minute, m)
		for i, v := range batches {
			batches[i] = &telemetry.Intervals{Flows: v.Flows}
			n += len(v.Flows)
		}
		for some := range slices.Chunk(batches, benchWritten) {
			if err := alone.Write(some); err != nil {
				b.Fatal(err)
			}
		}
	}
	perRecord := func() float64 {
		p := alone.partitions[0]
		// all is merged into the file
		if _, err := alone.write.ExecContext(context.Background(), "CHECKPOINT "+p.catalog); err != nil {
			b.Fatal(err)
		}
		var used, block int64 // what is free is used by what comes next
		row := alone.write.QueryRowContext(context.Background(),
			"SELECT used_blocks, block_size FROM pragma_database_size() WHERE database_name = ?", p.catalog)
		if err := row.Scan(&used, &block); err != nil {
			b.Fatal(err)
		}
		return float64(used*block) / float64(n)
	}
	b.ReportMetric(perRecord(), "B/flow-record")
	if err := alone.compactOnce(context.Background(), epoch.Add(2*time.Hour)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(perRecord(), "B/flow-record-sorted")
	stats, err := s.Stats()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(stats.Bytes)/float64(flows), "B/flow-record-with-all")
	b.ReportMetric(float64(flows), "flow-records")
	b.ReportMetric(0, "ns/op")
}

// threadTime is the time of a processor that this thread has taken. Others may want the machine too.
func threadTime() time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
