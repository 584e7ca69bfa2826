package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// midnight is in the middle of each run, so that it crosses a minute, an hour, a day, and files of all kinds but one.
var midnight = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// Times that a proof takes, in virtual time. WAYBILL_PROOF=10m runs every scenario for ten minutes: hours of one
// processor.
const (
	shortProof = 12 * time.Second
	longProof  = 10 * time.Minute
)

// What the API answers about a time range is what the network knows of itself: for every scenario in which all switches
// have INT, at every resolution, before and after intervals were rolled up, sorted and removed, and the store closed
// and opened. One scenario in ten has its turn.
func TestStoreAnswers(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	files, err := filepath.Glob(filepath.Join(test.Root(), "scenarios/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios (%v)", err)
	}
	asked, err := time.ParseDuration(cmp.Or(os.Getenv("WAYBILL_PROOF"), "0s"))
	if err != nil {
		t.Fatal(err)
	}
	chosen, all := test.Seed(t)
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if !all && asked == 0 && uint64(i)%10 != chosen%10 {
			continue
		}
		if name == "destination-headers" {
			// A switch has no INT. The truth has it in every path and its time in every figure, and what is stored has
			// a node that is not known, and no links and times past it: hardly a fact would be left to compare. What
			// is known of the paths, TestProof compares; records are stored no differently than those of others.
			continue
		}
		duration := asked
		switch {
		case asked > 0:
		case name == "ddos": // the one with the fewest packets
			duration = longProof
		case name == "all-reduce" || name == "steady": // the ones with the most
			duration = shortProof / 2
		default:
			duration = shortProof
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proveStore(t, file, duration, false)
		})
	}
}

// A storeProof is a collector and a store without sockets and clocks: virtual time is all there is.
type storeProof struct {
	t         *testing.T
	scenario  *scenario.Scenario
	postcards bool // of all switches
	decoder   *telemetry.Decoder
	batch     telemetry.Batch
	one       telemetry.Batch // of its shard
	truth     *expect.Chronicle

	collector *analyze.Collector
	intervals *analyze.Intervals
	scanner   *scan.Scanner
	nextNs    int64 // when the tables are looked at next
	waiting   []*telemetry.Intervals
	given     map[string]string // events

	config     duckdb.Config
	store      *duckdb.Store
	now        time.Time
	maintained bool // once a minute
	client     *client.Client
	stop       func()
}

// proofShards are enough for the largest network here, of 64 hosts with 60,000 packets a second at three switches each:
// a shard has room for what 160,000 a second meet at queues, and leaves out short queues from half of that on.
const proofShards = 16

// withBusyPorts are stacks that tell how busy egress ports are, beside the usual metadata.
func withBusyPorts() *dialectOfProof {
	d := dialects[0]
	d.text += "instructions: [node_id, l1_interfaces, hop_latency, queue, ingress_ts, egress_ts, egress_tx_util]\n"
	d.options.Hop |= telemetry.HasTxUtil
	d.options.Overhead = func(_ *truth.Flow, written int) int { return 4 + 12 + 36*written }
	return &d
}

// proofTick is how often the tables are told the time.
const proofTick = time.Duration(scan.TickNs)

// newStoreProof makes one of a scenario, which runs for duration around midnight, and its network. Call stop at the
// end.
func newStoreProof(t *testing.T, file string, duration time.Duration, d *dialectOfProof) (
	p *storeProof, f *fabric.Fabric,
) {
	t.Helper()
	s, err := scenario.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	s.Extend(scenario.Duration(duration))
	s.Truth.SamplePackets = 1
	s.INT = scenario.Raw{Text: []byte(everyPacket + d.text)}
	device, err := fabric.INTDevices(s, netip.MustParseAddrPort("192.0.2.1:8555"))
	if err != nil {
		t.Fatal(err)
	}
	points := codepoint.New()
	if err := points.Apply(d.points); err != nil {
		t.Fatal(err)
	}
	// whose reasons for drops have names
	if err := points.Set("dialects", map[string]any{"any": "waybill"}); err != nil {
		t.Fatal(err)
	}
	points.Compile()
	begin := midnight.Add(-duration / 2)
	p = &storeProof{
		t: t, scenario: s, postcards: d.options.Mode != expect.MD, decoder: telemetry.NewDecoder(points),
		truth: expect.NewChronicle(d.options, proofTick), given: map[string]string{},
		collector: &analyze.Collector{
			Exporters: []*ledger.Exporters{ledger.NewExporters(1000)},
			Timing:    timing.New(),
		},
		config: duckdb.DefaultConfig(t.TempDir()), nextNs: begin.UnixNano(), now: begin,
	}
	shards := analyze.ConfigFor(2<<30, proofShards)
	shards.JoinPlaces = 8192 // packets between two ports of a switch wait, too
	shards.MaxPaths = 12288  // in ten minutes every pair of ports and hosts has one
	for range proofShards {
		p.collector.Owners = append(p.collector.Owners, analyze.NewShard(shards))
	}
	log := eventlog.New(serve.MaxEvents)
	p.intervals = analyze.NewIntervals(p.collector, log, begin.UnixNano())
	p.scanner = analyze.NewScanner(p.collector, log)
	bursts := burst.ConfigFor(64 << 20)
	bursts.AboveBytes, bursts.BelowBytes = uint64(s.Truth.BurstAbove), uint64(s.Truth.BurstBelow) // as the truth has it
	kept := burst.NewLog(32 << 20)
	p.scanner.KeepBursts(bursts, kept)
	p.intervals.TakeBursts(kept)
	p.open()
	f, err = fabric.New(s,
		fabric.Options{Device: device, Truth: p.truth, Reports: p, EpochNs: uint64(begin.UnixNano())})
	if err != nil {
		p.stop()
		t.Fatal(err)
	}
	return p, f
}

// Report implements fabric.Sink.
func (p *storeProof) Report(atNs uint64, frame []byte) error {
	if err := p.pass(int64(atNs)); err != nil {
		return err
	}
	d, _ := test.UDP(frame)
	p.batch.Reset()
	headers := make([]telemetry.Header, 1)
	p.decoder.Decode(d.Payload, d.Src, d.DstPort, &p.batch, &headers[0])
	if len(p.batch.Reports) != 1 {
		return fmt.Errorf("a datagram has %d reports: %v", len(p.batch.Reports), headers[0].Reason)
	}
	p.truth.Identify(p.batch.Reports[0].PacketID)
	p.batch.Attribute(p.collector.Exporters[0].Observe(headers, int64(atNs)), headers)
	r := &p.batch.Reports[0]
	p.one.Reset()
	p.one.Add(r)
	p.collector.Owners[r.Flow.ShardOf(proofShards)].(*analyze.Shard).Process(&p.one, int64(atNs))
	for _, shard := range p.collector.Owners { // what waited long enough counts now in all of them
		shard.Tick(int64(atNs))
	}
	return nil
}

// Flush implements fabric.Sink.
func (p *storeProof) Flush() error { return nil }

// pass lets the time go by up to nowNs.
func (p *storeProof) pass(nowNs int64) error {
	for ; p.nextNs <= nowNs; p.nextNs += int64(proofTick) {
		p.now = time.Unix(0, p.nextNs)
		for _, shard := range p.collector.Owners {
			shard.Tick(p.nextNs)
		}
		p.scanner.Scan(p.nextNs)
		p.intervals.Look(p.nextNs, p.give)
		if len(p.waiting) > 0 && p.nextNs%telemetry.HopIntervalNs == 0 {
			if err := p.store.Write(p.waiting); err != nil {
				return err
			}
			p.waiting = nil
		}
		if p.maintained && p.now.Truncate(time.Minute).Equal(p.now) {
			if err := p.store.Maintain(context.Background(), p.now); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *storeProof) give(v *telemetry.Intervals) {
	for i := range v.Events {
		p.given[v.Events[i].ID] = eventFact(&v.Events[i])
	}
	p.waiting = append(p.waiting, v)
}

// open opens the store, and an API in front of it.
func (p *storeProof) open() {
	p.t.Helper()
	var err error
	if p.store, err = duckdb.Open(p.config); err != nil {
		p.t.Fatal(err)
	}
	server := httptest.NewServer(
		api.New(api.Config{
			Collector: p.collector, History: p.store.Query, SQL: p.store.SQL,
			Now: func() time.Time { return p.now },
		}))
	if p.client, err = client.New(server.URL); err != nil {
		p.t.Fatal(err)
	}
	p.stop = func() {
		p.stop = func() {}
		server.Close()
		if err := p.store.Close(); err != nil {
			p.t.Error(err)
		}
	}
}

// maintain lets the store do everything that is due at a time.
func (p *storeProof) maintain(now time.Time) {
	p.t.Helper()
	p.now = now
	for range 4 { // one file is sorted at a time
		if err := p.store.Maintain(p.t.Context(), now); err != nil {
			p.t.Fatal(err)
		}
	}
}

// proveStore proves it for a scenario, which may be one that was drawn.
func proveStore(t *testing.T, file string, duration time.Duration, drawn bool) {
	begin := midnight.Add(-duration / 2)
	p, f := newStoreProof(t, file, duration, withBusyPorts())
	defer func() { p.stop() }()
	start := time.Now()
	if err := f.Run(t.Context(), duration/2+time.Second); err != nil {
		t.Fatal(err)
	}
	if err := p.pass(begin.Add(duration/2 + time.Second).UnixNano()); err != nil {
		t.Fatal(err)
	}
	early := p.ask(beforeRollup, begin, midnight, allSteps)
	p.stop()
	p.open()
	p.maintained = true
	if err := f.Run(t.Context(), duration); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	end := begin.Add(duration).Truncate(10 * time.Second).Add(20 * time.Second)
	if err := p.pass(end.UnixNano()); err != nil {
		t.Fatal(err)
	}
	want, err := p.truth.Intervals(end.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	want.Flows = append(want.Flows, p.truth.FlowPaths()...)
	ran := time.Since(start)
	if c, u := p.collector.Counters(), p.intervals.Ungiven(); c.FlowsEvicted+c.PathsEvicted+c.JoinEarly+c.DropsOverflow+
		c.ExportersOverflow != 0 || u != (analyze.Ungiven{}) {
		t.Errorf("tables were too small: %+v, %+v", c, u)
	}
	early.compare(t, want, midnight)
	p.ask(partlyRolledUp, begin, end, allSteps).compare(t, want, end)
	p.maintain(end.Add(2 * time.Hour))
	p.ask("rolled up and sorted", begin, end, allSteps).rolledUp().compare(t, want, end)
	p.stop()
	p.config.Keep[0], p.config.Keep[1] = time.Hour, 24*time.Hour
	p.open()
	p.ask("opened again", begin, end, allSteps).rolledUp().compare(t, want, end)
	p.maintain(end.Add(4 * time.Hour))
	p.ask("without seconds", begin, end, allSteps[1:]).rolledUp().compare(t, want, end)
	p.maintain(end.Add(50 * time.Hour))
	last := p.ask("without minutes", begin, end, allSteps[2:]).rolledUp()
	last.compare(t, want, end)
	p.compareEvents(last.told, drawn)
	p.compareBursts(begin, end, last.told)
	if stats, err := p.store.Stats(); err != nil || stats.Dropped < 2 {
		t.Errorf("%+v, %v: nothing was removed", stats, err)
	}
	t.Logf("%v in %v, %v in all: %d packets, %d records of truth, %d events", duration, ran.Round(time.Millisecond),
		time.Since(start).Round(time.Millisecond), f.Stats().Sent, want.Len(), len(p.given))
}

// compareEvents holds the events of a run against the network. Nothing is told of faults that are too short, or met too
// few packets: those of a scenario that was drawn may be missed, and a latency may be unusual from later on, when
// packets met no queue again. Of what paths show, the truth is not exact where postcards are lost.
func (p *storeProof) compareEvents(told []telemetry.Event, drawn bool) {
	p.t.Helper()
	has := func(is func(scenario.Fault) bool) bool { return slices.ContainsFunc(p.scenario.Faults, is) }
	var open []string
	if drawn {
		open = append(open, "missed: ")
	}
	if drawn && has(func(f scenario.Fault) bool { return f.SlowSwitch != nil }) {
		open = append(open, "latency_anomaly from ")
	}
	if p.postcards && has(func(f scenario.Fault) bool { return f.ReportLoss != nil }) {
		open = append(open, "new_flow {", "loop {", "path_change {")
	}
	for _, text := range p.truth.EventDifferences(told) {
		if !slices.ContainsFunc(open, func(prefix string) bool { return strings.HasPrefix(text, prefix) }) {
			p.t.Error(text)
		}
	}
}
