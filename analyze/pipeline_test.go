package analyze

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// mixedReports makes n datagrams of mixed versions and modes about flows flows, and what decodes them.
func mixedReports(t testing.TB, n, flows int) ([][]byte, *codepoint.Config) {
	t.Helper()
	c := codepoint.New()
	for key, value := range map[string]any{
		"int_udp_port": test.INTPort, "int_dscp": 0x17,
		"int_format_for_version_0": "v0.5",
	} {
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	c.Compile()
	forms := []test.Form{test.Form05Local, test.Form05MD, test.Form10MD, test.Form20XD, test.Form20MX, test.Form20MD}
	datagrams := make([][]byte, n)
	for i := range datagrams {
		flow := uint32(i * 7919 % flows)
		form := forms[int(flow)%len(forms)] // a flow is reported in one form
		datagrams[i] = test.Report(form, flow, uint32(i), 3+int(flow)%3)
	}
	return datagrams, c
}

// A pipeline is a receiver without its socket: decoder, exporters, one shard.
type pipeline struct {
	decoder   *telemetry.Decoder
	exporters *ledger.Exporters
	shard     *Shard
	batch     telemetry.Batch
	headers   []telemetry.Header
	sources   []netip.AddrPort // of the datagrams, by turns
	turn      int
	now       int64
	_         [128]byte // two pipelines share no cache line
}

func newPipeline(c *codepoint.Config, config Config) *pipeline {
	return &pipeline{
		decoder: telemetry.NewDecoder(c), exporters: ledger.NewExporters(1000), shard: NewShard(config),
		headers: make([]telemetry.Header, 64), sources: exporterOf[:], now: second,
	}
}

var exporterOf = [4]netip.AddrPort{
	netip.MustParseAddrPort("192.0.2.1:5000"), netip.MustParseAddrPort("192.0.2.2:5000"),
	netip.MustParseAddrPort("192.0.2.3:5000"), netip.MustParseAddrPort("[2001:db8::4]:5000"),
}

// take processes datagrams in batches of 64, as a socket gives them.
func (p *pipeline) take(datagrams [][]byte) {
	for len(datagrams) > 0 {
		n := min(len(datagrams), len(p.headers))
		p.batch.Reset()
		for i, b := range datagrams[:n] {
			p.decoder.Decode(b, p.sources[p.turn], 6000, &p.batch, &p.headers[i])
			if p.turn++; p.turn == len(p.sources) {
				p.turn = 0
			}
		}
		p.batch.Attribute(p.exporters.Observe(p.headers[:n], p.now), p.headers[:n])
		p.shard.Process(&p.batch, p.now)
		p.now += 40_000 // 64 reports at 1.6 million a second
		datagrams = datagrams[n:]
	}
}

// BenchmarkPipeline is all that is done with a report on its way from a datagram in memory to the tables: decoding,
// exporter account, flows, paths, latencies, postcards joined. Versions are mixed, on one core.
func BenchmarkPipeline(b *testing.B) {
	for _, flows := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("flows=%d", flows), func(b *testing.B) {
			datagrams, c := mixedReports(b, max(2*flows, 65536), flows)
			p := newPipeline(c, DefaultConfig())
			p.take(datagrams) // the tables reach their working size
			b.ReportAllocs()
			b.ResetTimer()
			i := 0
			for b.Loop() {
				if i+64 > len(datagrams) {
					i = 0
				}
				p.take(datagrams[i : i+64])
				i += 64
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/report")
			b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}

// BenchmarkPipelineShards is BenchmarkPipeline with every analysis on, events too, on one core and on two: each has a
// decoder, an account of exporters and a shard of its own, as the workers of a server have, and half of the flows.
// Where others use the machine too, the processor time of a report (cpu-ns/report) tells whether the two hinder each
// other: then it is longer with two.
func BenchmarkPipelineShards(b *testing.B) {
	for _, shards := range []int{1, 2} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			datagrams, c := mixedReports(b, 65536, 1000)
			decoder := telemetry.NewDecoder(c)
			collector := &Collector{}
			pipelines := make([]*pipeline, shards)
			for i := range pipelines {
				pipelines[i] = newPipeline(c, DefaultConfig())
				collector.Owners = append(collector.Owners, pipelines[i].shard)
				collector.Exporters = append(collector.Exporters, pipelines[i].exporters)
			}
			// A flow belongs to one shard. A single one gets the halves one after the other: reports in the order in
			// which they were made would be easier to foresee for the processor.
			own := make([][][]byte, 2)
			for i, d := range datagrams {
				var batch telemetry.Batch
				var h telemetry.Header
				decoder.Decode(d, exporterOf[i&3], 6000, &batch, &h)
				half := batch.Reports[0].Flow.ShardOf(2)
				own[half] = append(own[half], d)
			}
			if shards == 1 {
				own[0] = append(own[0], own[1]...)
			}
			scanner := NewScanner(collector, eventlog.New(1000))
			scanner.KeepBursts(burst.ConfigFor(16<<20), burst.NewLog(8<<20))
			for i, p := range pipelines {
				p.take(own[i])
			}
			b.ReportAllocs()
			b.ResetTimer()
			spent := processorTime(b)
			var work sync.WaitGroup
			for i, p := range pipelines {
				work.Go(func() {
					at, scanned := 0, p.now
					for range b.N / shards {
						if at+64 > len(own[i]) {
							at = 0
						}
						p.take(own[i][at : at+64])
						at += 64
						if i == 0 && p.now-scanned >= scan.TickNs {
							scanner.Scan(p.now)
							scanned = p.now
						}
					}
				})
			}
			work.Wait()
			b.ReportMetric(float64(processorTime(b)-spent)/float64(b.N)/64, "cpu-ns/report")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/report")
			b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}

// processorTime is what this process has used.
func processorTime(b testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkFlowMemory fills the tables with a million flows and says what they take.
func BenchmarkFlowMemory(b *testing.B) {
	for b.Loop() {
		config := DefaultConfig()
		config.MaxFlows = 1_000_000
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		datagrams, c := mixedReports(b, 100_000, 1_000_000)
		p := newPipeline(c, config)
		for part := range 10 {
			if part > 0 {
				forms := []test.Form{
					test.Form05Local, test.Form05MD, test.Form10MD, test.Form20XD, test.Form20MX,
					test.Form20MD,
				}
				for i := range datagrams {
					flow := uint32((part*len(datagrams) + i) * 7919 % 1_000_000)
					datagrams[i] = test.Report(forms[int(flow)%len(forms)], flow, uint32(i), 3+int(flow)%3)
				}
			}
			p.take(datagrams)
		}
		endWait(p.shard, p.now)
		datagrams = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(p.shard.flows.count), "flows")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(p.shard.flows.count), "B/flow")
		runtime.KeepAlive(p)
	}
}

func TestPipelineNoAllocs(t *testing.T) {
	datagrams, c := mixedReports(t, 4096, 500)
	p := newPipeline(c, DefaultConfig())
	for range 4 {
		p.take(datagrams)
	}
	if allocs := testing.AllocsPerRun(20, func() { p.take(datagrams) }); allocs != 0 {
		t.Errorf("got %v allocations for %d reports, want 0", allocs, len(datagrams))
	}
}
