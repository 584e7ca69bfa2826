package analyze

import (
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/telemetry"
)

// A pile is what a store was given: it decides when it likes, and may be full.
type pile struct {
	*rand.Rand
	waiting         []*telemetry.Intervals
	stored, dropped [8]uint64 // reports by node, counted by the flows in the records
}

// give takes records; what is of node n has the destination port n.
func (p *pile) give(v *telemetry.Intervals) { p.waiting = append(p.waiting, v) }

// settle writes or drops some of what waits.
func (p *pile) settle() {
	for p.IntN(4) > 0 && len(p.waiting) > 0 {
		v := p.waiting[0]
		p.waiting = p.waiting[1:]
		written := p.IntN(3) > 0
		sums := &p.dropped
		if written {
			sums = &p.stored
		}
		for i := range v.Flows {
			sums[v.Flows[i].Key.DstPort] += v.Flows[i].Reports
		}
		v.Settle(written)
	}
}

// What the store wrote and what it dropped is told for each exporter, to the report, and nothing is in two places at
// once.
func TestFateInStore(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 4))
		rig := newLedgerRig(100)
		config := DefaultConfig()
		config.MaxFlows = 300
		shards := []*Shard{NewShard(config), NewShard(config)}
		rig.collector.Owners = []Owner{shards[0], shards[1]}
		rig.collector.Timing = timing.New()
		nowNs := 1000 * second
		intervals := NewIntervals(rig.collector, nil, nowNs)
		store := &pile{Rand: r}
		var next [8]uint32
		var sent [8]uint64
		var evicted uint64
		check := func() {
			t.Helper()
			for _, x := range rig.Loss(ledger.Query{}, nowNs).Exporters {
				f := x.Fate
				if f.Reports != sent[*x.Node] || f.Reports != f.KeptOut+f.InFlows || f.Waiting != 0 ||
					f.InFlows != *f.Held+f.Evicted+*f.Queued+*f.Stored+*f.StoreDropped || *f.Held > f.InFlows ||
					*f.Queued > f.InFlows {
					t.Fatalf("seed %d: node %d sent %d: %+v, held %d, queued %d", seed, *x.Node, sent[*x.Node], f,
						*f.Held, *f.Queued)
				}
				if *f.Stored != store.stored[*x.Node] || *f.StoreDropped != store.dropped[*x.Node] {
					t.Fatalf("seed %d: node %d: %d stored and %d dropped, want %d and %d", seed, *x.Node, *f.Stored,
						*f.StoreDropped, store.stored[*x.Node], store.dropped[*x.Node])
				}
				evicted += f.Evicted
			}
		}
		for step := range 20_000 {
			node := uint32(r.IntN(8))
			h := []telemetry.Header{headerOf(telemetry.Version20, node, next[node])}
			next[node]++
			sent[node]++
			var batch telemetry.Batch
			batch.Add(&telemetry.Report{
				Flags: telemetry.HasFlow,
				Flow:  telemetry.FlowKey{SrcPort: uint16(r.ExpFloat64() * 200), DstPort: uint16(node)},
			})
			batch.Attribute(rig.e.Observe(h, nowNs), h)
			shards[batch.Reports[0].Flow.ShardOf(2)].Process(&batch, nowNs)
			nowNs += r.Int64N(second / 20)
			if step%50 == 0 {
				intervals.Look(nowNs, store.give)
				store.settle()
				rig.Tick(nowNs)
				check()
			}
		}
		if evicted > 0 {
			t.Errorf("%d were evicted, but the store was given all", evicted)
		}
		intervals.Finish(nowNs, store.give)
		for len(store.waiting) > 0 {
			store.settle()
		}
		check()
		for _, x := range rig.Loss(ledger.Query{}, nowNs).Exporters {
			if f := x.Fate; *f.Held != 0 || *f.Queued != 0 || *f.Stored == 0 || *f.StoreDropped == 0 || f.KeptOut == 0 {
				t.Errorf("at the end: %+v", f)
			}
		}
	}
}

// What a flow counted that gave way when there was no room for its record is evicted, and never given.
func TestFateEvictedBetweenLooks(t *testing.T) {
	rig := newLedgerRig(100)
	config := DefaultConfig()
	config.MaxFlows = 256
	shard := NewShard(config)
	rig.collector.Owners, rig.collector.Timing = []Owner{shard}, timing.New()
	intervals := NewIntervals(rig.collector, nil, 1000*second)
	var reports uint64
	for i := range uint32(maxGone + 2000) {
		for range 2 { // the guard lets it in with its second report
			var batch telemetry.Batch
			batch.Add(&telemetry.Report{
				Flags: telemetry.HasFlow,
				Flow:  telemetry.FlowKey{SrcPort: uint16(i), DstPort: uint16(i >> 16)},
			})
			h := []telemetry.Header{headerOf(telemetry.Version20, 7, uint32(reports))}
			batch.Attribute(rig.e.Observe(h, 1001*second), h)
			shard.Process(&batch, 1001*second)
			reports++
		}
	}
	var given uint64
	intervals.Look(1010*second, func(v *telemetry.Intervals) {
		for i := range v.Flows {
			given += v.Flows[i].Reports
		}
		v.Settle(true)
	})
	f := rig.Loss(ledger.Query{}, 1011*second).Exporters[0].Fate
	if f.Reports != reports || *f.Stored != given || f.Evicted == 0 || f.KeptOut != shard.rejected ||
		f.KeptOut+f.Evicted+given != reports {
		t.Errorf("%d reports, %d given, %d kept out: %+v", reports, given, shard.rejected, f)
	}
}

// A flow tells five exporters apart. What comes of others is in the flow, and counted as not followed.
func TestFateOfManyExporters(t *testing.T) {
	rig := newLedgerRig(100)
	shard := NewShard(DefaultConfig())
	rig.collector.Owners = []Owner{shard}
	for i := range uint32(70) {
		var batch telemetry.Batch
		batch.Add(&telemetry.Report{Flags: telemetry.HasFlow})
		h := []telemetry.Header{headerOf(telemetry.Version20, i%7, i/7)}
		batch.Attribute(rig.e.Observe(h, 1000*second), h)
		shard.Process(&batch, 1000*second)
	}
	for _, x := range rig.Loss(ledger.Query{}, 1001*second).Exporters {
		held, unfollowed := uint64(10), uint64(0)
		if *x.Node >= 5 {
			held, unfollowed = 0, 10
		}
		if f := x.Fate; f.InFlows != 10 || *f.Held != held || f.Unfollowed != unfollowed {
			t.Errorf("node %d: %+v, held %d", *x.Node, f, *f.Held)
		}
	}
}

// Reports of an interval that is closed when the tables get them are told of there.
func TestFateOfClosedInterval(t *testing.T) {
	rig := newLedgerRig(100)
	shard := NewShard(DefaultConfig())
	rig.collector.Owners = []Owner{shard}
	var late [12]telemetry.Batch
	for i := range late { // one for each of twelve intervals, more than a shard tells apart
		late[i].Add(&telemetry.Report{Flags: telemetry.HasFlow})
		h := []telemetry.Header{headerOf(telemetry.Version20, 7, uint32(i))}
		late[i].Attribute(rig.e.Observe(h, int64(100+10*i)*second), h)
	}
	waiting := func() (list []uint64) {
		x := rig.Loss(ledger.Query{Intervals: true}, 219*second).Exporters[0]
		list = append(list, x.Fate.Waiting)
		for _, i := range x.Intervals {
			if i.Fate.Reports != 1 || i.Fate.InFlows > 1 {
				t.Errorf("interval from %v: %+v", i.Start, i.Fate)
			}
			list = append(list, i.Fate.Waiting)
		}
		return list
	}
	check := func(want ...uint64) {
		t.Helper()
		got := waiting()
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("wait: got %d, want %d", got, want)
				return
			}
		}
	}
	check(12, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	shard.Process(&late[2], 120*second)
	shard.Process(&late[11], 210*second)
	check(10, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0)
	for i := range late {
		if i != 2 && i != 11 {
			shard.Process(&late[i], int64(100+10*i)*second)
		}
	}
	if all := waiting()[0]; all != 0 {
		t.Errorf("%d wait, want none", all)
	}
}
