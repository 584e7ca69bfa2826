package analyze

import (
	"sync"
	"testing"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/telemetry"
)

// TestSideBySide does side by side what a server does: two workers with a shard each, the search for events, the making
// of intervals, and readers that ask for everything. Of analyses this is the only test that the race detector need see.
func TestSideBySide(t *testing.T) {
	const flows, rounds = 500, 10
	datagrams, points := mixedReports(t, 8192, flows)
	collector := &Collector{Timing: timing.New()}
	workers := []*pipeline{newPipeline(points, DefaultConfig()), newPipeline(points, DefaultConfig())}
	for _, p := range workers {
		collector.Owners = append(collector.Owners, p.shard)
		collector.Exporters = append(collector.Exporters, p.exporters)
	}
	own := make([][][]byte, 2) // a flow belongs to one shard
	for i, d := range datagrams {
		worker := i * 7919 % flows % 2
		own[worker] = append(own[worker], d)
	}
	log, bursts := eventlog.New(1000), burst.NewLog(8<<20)
	scanner := NewScanner(collector, log)
	scanner.KeepBursts(burst.ConfigFor(16<<20), bursts)
	start := workers[0].now
	intervals := NewIntervals(collector, log, start)
	intervals.TakeBursts(bursts)

	work := func(p *pipeline, datagrams [][]byte) {
		for range rounds {
			p.take(datagrams)
			p.shard.Tick(p.now)
		}
	}
	var running sync.WaitGroup
	for i, p := range workers {
		running.Go(func() { work(p, own[i]) })
	}
	given := 0
	running.Go(func() {
		for i := range int64(rounds) {
			now := start + i*scan.TickNs
			scanner.Scan(now)
			intervals.Look(now, func(*telemetry.Intervals) { given++ })
			intervals.SoFar(now)
		}
	})
	for range 2 {
		running.Go(func() {
			for range rounds {
				collector.Flows(FlowFilter{Limit: 100})
				collector.Paths(100)
				collector.Topology()
				collector.Hops()
				collector.Hosts()
				collector.Queues()
				collector.Nodes()
				collector.Links()
				collector.Drops(nil)
				collector.ExporterList()
				collector.Clocks()
				collector.Completeness()
				collector.Counters()
				log.Events(nil, 100)
				log.Counters()
			}
		})
	}
	running.Wait()
	calm := &Collector{}
	for i := range workers {
		p := newPipeline(points, DefaultConfig())
		calm.Owners = append(calm.Owners, p.shard)
		work(p, own[i])
	}
	if got, want := collector.Counters().Reports, calm.Counters().Reports; got != want || want == 0 {
		t.Errorf("%d reports are in the tables, %d where nothing happens beside", got, want)
	}
	if _, total := collector.Flows(FlowFilter{}); total != flows {
		t.Errorf("%d flows, want %d", total, flows)
	}
	intervals.Finish(workers[0].now+20*scan.TickNs, func(*telemetry.Intervals) { given++ })
	if given == 0 {
		t.Error("no intervals were given")
	}
}
