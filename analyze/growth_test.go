package analyze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/internal/test"
)

// A growth is how much there is of everything; active are the flows of which reports tell after the tables are filled.
// Each worker has a shard, a decoder and an account of exporters.
type growth struct{ flows, active, hops, exporters, shards, sampling int }

// sampledPackets is how many packets there were, few of most flows and many of some, where 1 in so many is sampled.
const sampledPackets = 10_000_000

// A growthWorker makes reports of the flows of a shard, and processes them.
type growthWorker struct {
	*pipeline
	of           growth
	number, made int
	sent         []uint32 // of each exporter
	datagrams    [][]byte
	random       *rand.Rand
	packets      []uint32 // that were sampled, by flow
	packet       int
}

// growthBatch is how many reports are made, and then processed: they are in the processor's cache, as those that the
// kernel has just handed over.
const growthBatch = 1024

func newGrowthWorker(tb testing.TB, g growth, number int) *growthWorker {
	_, points := mixedReports(tb, 0, 1)
	config := DefaultConfig()
	config.MaxFlows = g.flows/g.shards + 1000
	w := &growthWorker{
		of: g, number: number, pipeline: newPipeline(points, config), sent: make([]uint32, g.exporters),
		random: rand.New(rand.NewPCG(1, uint64(number))),
	}
	if g.sampling > 0 {
		flows := rand.NewZipf(w.random, 1.1, 1, uint64(w.each()-1))
		for range sampledPackets / g.sampling {
			w.packets = append(w.packets, uint32(flows.Uint64()))
		}
	}
	w.exporters = ledger.NewExporters(max(1000, 2*g.exporters))
	w.sources = nil
	for i := range g.exporters {
		address := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})
		w.sources = append(w.sources, netip.AddrPortFrom(address, 5000))
	}
	for i := range growthBatch {
		w.datagrams = append(w.datagrams, test.Report(test.Form20MD, uint32(i*7919), 0, g.hops))
	}
	return w
}

// each is how many flows of a worker an exporter reports.
func (w *growthWorker) each() int { return w.of.flows / w.of.shards / w.of.exporters }

// report makes the next report of the batch, from the next exporter, of one of its flows.
func (w *growthWorker) report(place, flow int) {
	exporter := w.made % w.of.exporters
	w.made++
	flow = (flow*w.of.exporters+exporter)*w.of.shards + w.number
	ns := uint64(w.now) + 625*uint64(place)
	test.Renumber(w.datagrams[place], uint32(100+exporter), uint32(flow), w.sent[exporter], ns)
	w.sent[exporter]++
}

// settled is after how many datagrams of an exporter its account compares no contents any more.
const settled = 2048

// fill has the tables know all flows, one after the other, or those of which sampled packets are. Then the exporters go
// on until their accounts are as they stay.
func (w *growthWorker) fill() {
	n := w.each() * w.of.exporters
	if w.of.sampling > 0 {
		n = len(w.packets)
	}
	for i := 0; i < n; i += growthBatch {
		batch := min(growthBatch, n-i)
		for place := range batch {
			flow := (i + place) / w.of.exporters
			if w.of.sampling > 0 {
				flow = w.nextPacket()
			}
			w.report(place, flow)
		}
		w.take(w.datagrams[:batch])
	}
	for w.made < settled*w.of.exporters {
		w.next()
		w.take(w.datagrams)
	}
}

// nextPacket is the flow of the next packet that was sampled, and after the last one of the first one again.
func (w *growthWorker) nextPacket() int {
	flow := w.packets[w.packet]
	w.packet = (w.packet + 1) % len(w.packets)
	return int(flow)
}

// next makes a batch of reports of any flows, all of them as often, or as their packets are.
func (w *growthWorker) next() {
	for place := range w.datagrams {
		if w.of.sampling > 0 {
			w.report(place, w.nextPacket())
		} else {
			w.report(place, w.random.IntN(max(1, min(w.of.active, w.of.flows)/w.of.shards/w.of.exporters)))
		}
	}
}

// heapBytes is what is allocated, in bytes.
func heapBytes() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkGrowth is what a report takes, and the tables, as there is more of one thing. WAYBILL_BENCH_GROWTH says of
// what, as "hops=16"; "make bench-growth" asks for one after the other. Reports are of any of the flows, at random.
func BenchmarkGrowth(b *testing.B) {
	points := os.Getenv("WAYBILL_BENCH_GROWTH")
	if points == "" {
		points = "flows=1000 hops=16 exporters=64 shards=2 sampling=1000" // short runs, so that it does not rot
	}
	for point := range strings.FieldsSeq(points) {
		g := growth{flows: 1 << 17, active: math.MaxInt, hops: 5, exporters: 4, shards: 1}
		axis, value, _ := strings.Cut(point, "=")
		place := map[string]*int{
			"flows": &g.flows, "active": &g.active, "hops": &g.hops, "exporters": &g.exporters, "shards": &g.shards,
			"sampling": &g.sampling,
		}[axis]
		if place == nil {
			b.Fatalf("no axis %q", axis)
		}
		if _, err := fmt.Sscan(value, place); err != nil || *place < 1 {
			b.Fatalf("%s: a number, from 1", point)
		}
		if axis == "active" || axis == "sampling" {
			g.flows = 1_000_000
		}
		b.Run(point, g.run)
	}
}

func (g growth) run(b *testing.B) {
	before := heapBytes()
	workers := make([]*growthWorker, g.shards)
	for i := range workers {
		workers[i] = newGrowthWorker(b, g, i)
	}
	empty := heapBytes()
	flows := 0.0
	for _, w := range workers {
		w.fill()
		if w.shard.flows.evicted+w.shard.rejected+w.shard.flowless > 0 {
			b.Fatal("the tables do not hold the flows")
		}
		flows += float64(w.shard.flows.count)
	}
	full := heapBytes()
	headers := test.NewHeaders()
	b.Run("report", func(b *testing.B) {
		spent := time.Duration(0)
		b.ReportAllocs()
		headers.Loop(b, g.shards*growthBatch, func(int) {
			for _, w := range workers {
				w.next()
			}
		}, func(int) {
			start := processorTime(b)
			if g.shards == 1 {
				workers[0].take(workers[0].datagrams)
			} else {
				var work sync.WaitGroup
				for _, w := range workers {
					work.Go(func() { w.take(w.datagrams) })
				}
				work.Wait()
			}
			spent += processorTime(b) - start
		})
		b.ReportMetric(float64(spent)/float64(b.N*g.shards*growthBatch), "cpu-ns/report")
		b.ReportMetric(flows, "flows")
		b.ReportMetric(float64(len(workers[0].shard.paths.paths)), "paths")
		b.ReportMetric((full-before)/1e6, "MB")
		b.ReportMetric((full-empty)/flows, "B/flow")
	})
	runtime.KeepAlive(workers)
}
