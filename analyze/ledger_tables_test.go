package analyze

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// headerOf returns the header of a good datagram with one report.
func headerOf(version telemetry.Version, node, sequence uint32) telemetry.Header {
	return telemetry.Header{
		Source: netip.MustParseAddr("192.0.2.1"), Dialect: codepoint.Specification.Name, Version: version,
		HasNodeID: true, NodeID: node, HasSequence: true, Sequence: sequence, Reports: 1,
	}
}

// A ledgerRig is a ledger of one socket and the tables behind it.
type ledgerRig struct {
	*ledger.Ledger
	e         *ledger.Exporters
	collector *Collector
}

func newLedgerRig(limit int) *ledgerRig {
	e := ledger.NewExporters(limit)
	c := &Collector{Exporters: []*ledger.Exporters{e}}
	c.Configure(Configured{Names: map[uint32]string{7: "leaf7"}})
	return &ledgerRig{ledger.New(c.Exporters, nil, c.Names, c), e, c}
}

func (r *ledgerRig) observe(nowNs int64, headers ...telemetry.Header) { r.e.Observe(headers, nowNs) }

// tables is what the answer says of them.
func (r *ledgerRig) tables(nowNs int64) telemetry.TableLoss {
	return r.Loss(ledger.Query{}, nowNs).Tables
}

func totalOf(counts map[string]uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// lossLine returns "sent 5 arrived 4 lost 1 ...".
func lossLine(c *telemetry.LossCount) string {
	text := ""
	for _, f := range []struct {
		name string
		n    *uint64
	}{
		{"sent", c.Sent},
		{"arrived", c.Arrived},
		{"lost", c.Lost},
		{"late", c.Late},
		{"duplicate", c.Duplicate},
		{"reordered", c.Reordered},
	} {
		if f.n == nil {
			text += f.name + " unknown "
			continue
		}
		text += fmt.Sprint(f.name, " ", *f.n, " ")
	}
	return text + fmt.Sprint("received ", c.Received)
}

// traffic is what the exporters of a ledgerRig send: anything.
type traffic struct {
	*rand.Rand
	next [8]uint32 // sequence number of each node
	// nodes has the exporter of each report that was not repeated, by source port of the flow, in order.
	nodes map[uint16][]uint32
}

// datagrams makes some, with their reports in the batch.
func (g *traffic) datagrams(headers []telemetry.Header, batch *telemetry.Batch) (reports uint64) {
	batch.Reset()
	for i := range headers {
		node := uint32(g.IntN(8))
		number := g.next[node]
		g.next[node]++
		switch g.IntN(40) {
		case 0:
			g.next[node] += uint32(g.IntN(3))
		case 1:
			number -= uint32(g.IntN(4000)) // again
		case 2:
			g.next[node] = 0
		}
		h := headerOf(telemetry.Version10, node, number)
		h.Reports = 1 + g.IntN(2)
		if g.IntN(50) == 0 {
			h.Outcome, h.Reason, h.Reports = telemetry.Malformed, wire.ErrTruncatedFixedHeader, 0
		}
		for range h.Reports {
			r := telemetry.Report{NodeID: node}
			switch {
			case g.IntN(10) == 0:
				r.Flags = telemetry.DropSummary
			case g.IntN(10) > 0:
				r.Flags = telemetry.HasFlow
				r.Flow.SrcPort = uint16(min(g.ExpFloat64()*60, 60_000)) // few have many reports, and of many nodes
			}
			batch.Add(&r)
		}
		reports += uint64(h.Reports)
		headers[i] = h
	}
	return reports
}

// sent takes note of the reports that are not repeated.
func (g *traffic) sent(batch *telemetry.Batch) {
	for i := range batch.Reports {
		if r := &batch.Reports[i]; r.Is(telemetry.HasFlow) {
			g.nodes[r.Flow.SrcPort] = append(g.nodes[r.Flow.SrcPort], r.NodeID)
		}
	}
}

// held is how many reports of each node are in the flows of a collector: the latest ones of each flow, as many as it
// counts.
func (g *traffic) held(c *Collector) (held [8]uint64) {
	flows, _ := c.Flows(FlowFilter{Limit: 1 << 20})
	for _, f := range flows {
		nodes := g.nodes[f.SrcPort]
		for _, node := range nodes[len(nodes)-int(f.Reports):] {
			held[node]++
		}
	}
	return held
}

// At every moment of any traffic each stage has all that the one before it left, for each exporter, each interval and
// the whole.
func TestLedgerSumsAtEveryMoment(t *testing.T) {
	g := &traffic{Rand: rand.New(rand.NewPCG(3, 14)), nodes: map[uint16][]uint32{}}
	rig := newLedgerRig(100)
	for i := range byte(83) { // so that some find no place: the unreadable datagrams of others
		rig.observe(1000*second,
			telemetry.Header{
				Source: netip.AddrFrom4([4]byte{198, 51, 100, i}), Outcome: telemetry.Malformed,
				Reason: wire.ErrTruncatedFixedHeader,
			})
	}
	config := DefaultConfig()
	config.MaxFlows = 100 // some are kept out, some give way
	shard := NewShard(config)
	rig.collector.Owners = []Owner{shard}
	var batch telemetry.Batch
	nowNs, total := 1000*second, uint64(0)
	var evicted, keptOut uint64
	for step := range 20_000 {
		var headers [3]telemetry.Header
		total += g.datagrams(headers[:], &batch)
		origin := rig.e.Observe(headers[:], nowNs)
		waiting := rig.tables(nowNs).Waiting
		batch.Attribute(origin, headers[:])
		if waiting != uint64(len(batch.Reports)) {
			t.Fatalf("step %d: %d reports wait, want %d", step, waiting, len(batch.Reports))
		}
		g.sent(&batch)
		if g.IntN(4) == 0 { // its interval may be over when the tables get it
			rig.Tick(nowNs + g.Int64N(12*second))
		}
		shard.Process(&batch, nowNs)
		nowNs += g.Int64N(second / 20)
		if step%100 > 0 {
			continue
		}
		a := rig.Loss(ledger.Query{Intervals: true}, nowNs)
		received, reports, repeated := a.Sockets[0].Unplaced, a.Sockets[0].UnplacedReports, uint64(0)
		want := g.held(rig.collector)
		for _, x := range a.Exporters {
			if x.Node == nil { // those for which there is no place are there too
				received, reports, repeated = received+x.Received, reports+x.Reports, repeated+x.Repeated
				continue
			}
			if *x.Sent != *x.Arrived+*x.Lost || x.Received != *x.Arrived+*x.Duplicate ||
				x.Received != x.Decoded+totalOf(x.Damaged)+totalOf(x.Malformed) || x.Repeated > x.Reports {
				t.Fatalf("step %d: %s", step, lossLine(&x.LossCount))
			}
			f := x.Fate
			if f.Reports != x.Reports || f.Repeated != x.Repeated || f.Waiting != 0 ||
				f.Reports != f.Repeated+f.Flowless+f.KeptOut+f.InFlows ||
				f.InFlows != *f.Held+f.Unfollowed+f.Evicted || f.Stored != nil || f.Queued != nil {
				t.Fatalf("step %d: fate of %d reports: %+v, held %d", step, x.Reports, f, *f.Held)
			}
			if f.Unfollowed == 0 && *f.Held != want[*x.Node] {
				t.Fatalf("step %d: %d reports of node %d are in flows, want %d", step, *f.Held, *x.Node, want[*x.Node])
			}
			evicted, keptOut = max(evicted, f.Evicted), max(keptOut, f.KeptOut)
			received, reports, repeated = received+x.Received, reports+x.Reports, repeated+x.Repeated
			var rows telemetry.ReportFate
			for _, i := range x.Intervals {
				if *i.Sent != *i.Arrived+*i.Lost || i.Received != *i.Arrived+*i.Late+*i.Duplicate ||
					i.Repeated > i.Reports {
					t.Fatalf("step %d, interval: %s", step, lossLine(&i.LossCount))
				}
				f := i.Fate
				if f.Reports != i.Reports || f.Repeated != i.Repeated ||
					f.Reports != f.Repeated+f.Waiting+f.Flowless+f.KeptOut+f.InFlows || f.Waiting != 0 {
					t.Fatalf("step %d, interval from %v with %d reports: %+v", step, i.Start, i.Reports, f)
				}
				rows.Reports, rows.Repeated, rows.Flowless = rows.Reports+f.Reports, rows.Repeated+f.Repeated,
					rows.Flowless+f.Flowless
				rows.KeptOut, rows.InFlows = rows.KeptOut+f.KeptOut, rows.InFlows+f.InFlows
				rows.Unfollowed, rows.Evicted = rows.Unfollowed+f.Unfollowed, rows.Evicted+f.Evicted
			}
			if rows.Held = f.Held; rows != *f {
				t.Fatalf("step %d: the intervals have %+v, all time %+v", step, rows, f)
			}
		}
		if n := a.Tables; received != a.Sockets[0].Received || reports != total || n.Reports != total ||
			n.Repeated != repeated || n.Stored+n.Repeated != total {
			t.Fatalf("step %d: received %d, reports %d of %d, repeated %d: %+v %+v", step, received, reports, total,
				repeated, a.Sockets[0], n)
		}
	}
	if n := rig.tables(nowNs); n.Repeated < 500 || evicted < 100 || keptOut < 50 {
		t.Errorf("%d were repeated, %d evicted, %d kept out: this tests little", n.Repeated, evicted, keptOut)
	}
}
