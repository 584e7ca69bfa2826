package analyze

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/telemetry"
)

// sent is what a test sent, counted by itself.
type sent struct {
	flows  map[telemetry.FlowKey][5]uint64 // reports, packets, bytes, sum and count of latencies
	nodes  map[uint32][3]uint64            // packets, sum and highest of latencies
	queues map[uint32][2]uint64            // samples, sum
	links  map[[2]uint32]uint64
	drops  map[uint8]uint64
}

func newSent() *sent {
	return &sent{
		map[telemetry.FlowKey][5]uint64{},
		map[uint32][3]uint64{},
		map[uint32][2]uint64{},
		map[[2]uint32]uint64{},
		map[uint8]uint64{},
	}
}

func plus[K comparable, V [2]uint64 | [3]uint64 | [5]uint64](m map[K]V, k K, v V) {
	sum := m[k]
	for i := range len(v) {
		sum[i] += v[i]
	}
	m[k] = sum
}

// report is a random packet of one of n flows, over two or three of nodes 1 to 6.
func (s *sent) report(g *rand.Rand, n int) *telemetry.Report {
	r := &telemetry.Report{
		Version: telemetry.Version20, HasNodeID: true,
		Flags: telemetry.Tracked | telemetry.Embedded | telemetry.HasFlow, DSCP: 3, Bytes: 64 + g.Uint32N(1400),
		Flow: telemetry.FlowKey{
			Src: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}), Dst: telemetry.AddrFrom4([4]byte{10, 0, 0, 2}),
			SrcPort: uint16(g.IntN(n)), DstPort: 80, Protocol: 6,
		},
	}
	first := 1 + g.Uint32N(2)
	sum := uint64(0)
	for _, node := range []uint32{first, 3 + g.Uint32N(3), 6}[:2+g.IntN(2)] {
		latency := uint64(g.ExpFloat64() * 20_000)
		r.Hops = append(r.Hops, telemetry.Hop{
			Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasLatency |
				telemetry.HasQueue,
			NodeID: node, IngressPort: 1, EgressPort: 2, LatencyNs: latency, QueueOccupancy: g.Uint32N(1000),
		})
		plus(s.nodes, node, [3]uint64{1, latency})
		plus(s.queues, node, [2]uint64{1, uint64(r.Hops[len(r.Hops)-1].QueueOccupancy)})
		sum += latency
		if i := len(r.Hops); i > 1 {
			s.links[[2]uint32{r.Hops[i-2].NodeID, node}]++
		}
	}
	plus(s.flows, r.Flow, [5]uint64{1, 1, uint64(r.Bytes), sum, 1})
	return r
}

// takeBack takes a report off the sums of its flow.
func (s *sent) takeBack(r *telemetry.Report) {
	sum := s.flows[r.Flow]
	residence := uint64(0)
	for i := range r.Hops {
		residence += r.Hops[i].LatencyNs
	}
	for i, v := range [5]uint64{1, 1, uint64(r.Bytes), residence, 1} {
		sum[i] -= v
	}
	if sum == [5]uint64{} {
		delete(s.flows, r.Flow)
		return
	}
	s.flows[r.Flow] = sum
}

// TestIntervalsConserve: the sum over intervals is what was sent, flow by flow and node by node, although most flows
// give way to others between two looks, and change their paths.
func TestIntervalsConserve(t *testing.T) {
	config := DefaultConfig()
	config.MaxFlows = 50
	c := &Collector{Owners: []Owner{NewShard(config), NewShard(config)}}
	now := time.Date(2026, 11, 21, 9, 0, 3, 5e8, time.UTC).UnixNano()
	began := now
	v := NewIntervals(c, nil, now)
	g := rand.New(rand.NewPCG(7, 7))
	truth, got := newSent(), newSent()
	routes, rows, several := map[uint64]bool{}, 0, 0
	starts := map[int64]bool{}
	var last int64
	outside := uint64(0) // packets of flows that the guard did not let in
	lastOf := map[telemetry.FlowKey]int64{}
	give := func(batch *telemetry.Intervals) {
		for _, r := range batch.Routes {
			routes[r.Path] = true
		}
		for _, f := range batch.Flows {
			rows++
			if lastOf[f.Key] == f.StartNs {
				several++
			}
			lastOf[f.Key] = f.StartNs
			if f.StartNs%telemetry.FlowIntervalNs != 0 && f.StartNs != began || f.StartNs < last {
				t.Fatalf("a record of %d after one of %d", f.StartNs, last)
			}
			last = f.StartNs
			starts[f.StartNs] = true
			if f.Path != 0 && !routes[f.Path] {
				t.Fatalf("no route of path %x before its record", f.Path)
			}
			plus(got.flows, f.Key, [5]uint64{f.Reports, f.Packets, f.Bytes, f.Residence.Sum, f.Residence.Count})
			if m := f.Residence; m.Count > 0 &&
				(m.Min > m.P50 || m.P50 > m.P99 || m.P99 > m.Max || m.Sum > m.Max*m.Count || m.Sum < m.Min*m.Count) {
				t.Fatalf("moments %+v contradict each other", m)
			}
		}
		for _, h := range batch.Hops {
			n := uint64(0)
			for _, count := range h.Latency.Counts {
				n += count
			}
			if n != h.Latency.Count || n != h.Packets {
				t.Fatalf("%d packets, %d latencies, %d in buckets", h.Packets, h.Latency.Count, n)
			}
			plus(got.nodes, h.Node, [3]uint64{h.Packets, h.Latency.Sum})
		}
		for _, q := range batch.Queues {
			plus(got.queues, q.Node, [2]uint64{q.Samples, q.Sum})
			if q.Sum > uint64(q.Max)*q.Samples || q.Max >= 1000 {
				t.Fatalf("queue %+v contradicts itself", q)
			}
		}
		for _, l := range batch.Links {
			got.links[[2]uint32{l.From.Node, l.To.Node}] += l.Packets
		}
		for _, d := range batch.Drops {
			got.drops[d.Reason] += d.Packets
		}
	}
	for range 40_000 {
		r := truth.report(g, 400)
		if g.IntN(20) == 0 {
			r.Flags |= telemetry.Dropped
			r.Local = telemetry.Hop{
				Has: telemetry.HasNode, NodeID: r.Hops[len(r.Hops)-1].NodeID,
				DropReason: uint8(g.IntN(3)),
			}
			truth.drops[r.Local.DropReason]++
		}
		b := telemetry.Batch{}
		b.Add(r)
		now += 1e6 + int64(g.IntN(1e6))
		c.Owners[r.Flow.ShardOf(2)].(*Shard).Process(&b, now)
		if n := c.Counters().FlowsRejected; n > outside {
			outside = n
			truth.takeBack(r)
		}
		if g.IntN(100) == 0 {
			v.SoFar(now) // changes nothing of what is given
		}
		v.Look(now, give)
	}
	v.Finish(now, give)
	same(t, "flow", truth.flows, got.flows)
	same(t, "node", truth.nodes, got.nodes)
	same(t, "queue", truth.queues, got.queues)
	same(t, "link", truth.links, got.links)
	same(t, "reason", truth.drops, got.drops)
	if n := v.Ungiven(); n != (Ungiven{Flows: outside}) {
		t.Errorf("not given: %+v, want %d packets of flows", n, outside)
	}
	if n := c.Counters(); n.FlowsEvicted < 1000 || outside < 100 || len(starts) < 5 || several < 100 || rows < 2000 {
		t.Errorf("%d evicted, %d not let in, %d intervals, %d rows, %d flows with several: this tests little",
			n.FlowsEvicted, outside, len(starts), rows, several)
	}
}

func same[K, V comparable](t *testing.T, what string, want, got map[K]V) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%d of %s, want %d", len(got), what, len(want))
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s %v: got %v, want %v", what, k, got[k], v)
			return
		}
	}
}

// TestIntervalsDropped: drops of a flow are with the path that ends with them, and latencies with those that do not.
func TestIntervalsDropped(t *testing.T) {
	s := NewShard(DefaultConfig())
	c := &Collector{Owners: []Owner{s}}
	v := NewIntervals(c, nil, 0)
	flow := telemetry.FlowKey{
		Src: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}),
		Dst: telemetry.AddrFrom4([4]byte{10, 0, 0, 2}), SrcPort: 1, DstPort: 2, Protocol: 6,
	}
	hop := func(node uint32) telemetry.Hop {
		return telemetry.Hop{Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort |
			telemetry.HasLatency, NodeID: node, IngressPort: 1, EgressPort: 2, LatencyNs: 1000}
	}
	send := func(drop bool, nodes ...uint32) {
		r := &telemetry.Report{
			Version: telemetry.Version20, HasNodeID: true,
			Flags: telemetry.Tracked | telemetry.Embedded | telemetry.HasFlow, Flow: flow, Bytes: 100,
		}
		for _, n := range nodes {
			r.Hops = append(r.Hops, hop(n))
		}
		if drop {
			r.Flags |= telemetry.Dropped
			last := &r.Hops[len(r.Hops)-1]
			r.Local, r.Hops = telemetry.Hop{
				Has: telemetry.HasNode | telemetry.HasIngressPort, NodeID: last.NodeID,
				IngressPort: 1, DropReason: 71,
			}, r.Hops[:len(r.Hops)-1]
		}
		b := telemetry.Batch{}
		b.Add(r)
		s.Process(&b, 1e9)
	}
	for range 7 {
		send(false, 1, 5, 2)
	}
	for range 4 {
		send(true, 1, 5)
	}
	for range 2 {
		send(false, 1, 6, 2)
	}
	type row struct{ packets, bytes, drops, residence, count uint64 }
	got := map[row]bool{}
	v.Finish(1e9, func(batch *telemetry.Intervals) {
		for _, f := range batch.Flows {
			got[row{f.Packets, f.Bytes, f.Drops, f.Residence.Sum, f.Residence.Count}] = true
		}
	})
	for _, want := range []row{{7, 700, 0, 21000, 7}, {4, 400, 4, 0, 0}, {2, 200, 0, 6000, 2}} {
		if !got[want] {
			t.Errorf("no record %+v; got %+v", want, got)
		}
	}
}

// TestIntervalsDropsBelong: a drop counts when its report comes, and its packet when postcards waited for each other.
// Though looks come between, each drop is on the path that ends with it, and none at an unknown place.
func TestIntervalsDropsBelong(t *testing.T) {
	s := NewShard(DefaultConfig())
	v := NewIntervals(&Collector{Owners: []Owner{s}}, nil, 0)
	var drops, packets, lost uint64 // lost: drops without a path
	give := func(batch *telemetry.Intervals) {
		for _, f := range batch.Flows {
			drops, packets = drops+f.Drops, packets+f.Packets
			if f.Path == 0 {
				lost += f.Drops
			} else if f.Drops > f.Packets {
				t.Errorf("%d drops of %d packets on a path", f.Drops, f.Packets)
			}
		}
	}
	const sent = 142
	now := int64(9e9)
	for i := range uint64(sent) {
		for node := range uint32(2) {
			r := &telemetry.Report{
				Version: telemetry.Version20, Flags: telemetry.Tracked | telemetry.HasFlow, PacketID: i + 1,
				Flow: telemetry.FlowKey{Protocol: 17}, TTL: uint8(63 - node), Bytes: 100,
				Local: telemetry.Hop{
					Has: telemetry.HasNode | telemetry.HasIngressPort, NodeID: node + 1, IngressPort: 1,
				},
			}
			if node == 1 {
				r.Flags |= telemetry.Dropped
				r.Local.Has |= telemetry.HasDrop
				r.Local.DropReason = 71
			}
			b := telemetry.Batch{}
			b.Add(r)
			s.Process(&b, now)
		}
		if now += 20e6; now%1e9 == 0 {
			v.Look(now, give)
		}
	}
	v.Look(now, give)
	endWait(s, now+1e9)
	v.Finish(now+1e9, give)
	if drops != sent || packets != sent || lost != 0 {
		t.Errorf("%d drops and %d packets, want %d; %d drops at no place", drops, packets, sent, lost)
	}
}

// TestIntervalsUngiven: packets of flows and paths that could not be remembered are counted.
func TestIntervalsUngiven(t *testing.T) {
	config := DefaultConfig()
	config.MaxFlows, config.MaxPaths = 10, 4
	c := &Collector{Owners: []Owner{NewShard(config)}}
	v := NewIntervals(c, nil, 0)
	g := rand.New(rand.NewPCG(7, 7))
	const n = maxGone + 5000
	packets, paths := uint64(0), uint64(0)
	give := func(batch *telemetry.Intervals) {
		for _, f := range batch.Flows {
			packets += f.Packets
		}
		for _, p := range batch.Paths {
			paths += p.Packets
		}
	}
	for i := range n {
		r := newSent().report(g, 1)
		r.Flow.Src.Lo += uint64(i)
		for range 2 { // a full table takes a flow with its second report
			b := telemetry.Batch{}
			b.Add(r)
			c.Owners[0].(*Shard).Process(&b, 1)
		}
	}
	v.Finish(1, give)
	ungivenFlows, ungivenPaths := v.Ungiven().Flows, v.Ungiven().Paths
	if packets+ungivenFlows != 2*n || paths+ungivenPaths != 2*n || ungivenFlows == 0 || ungivenPaths == 0 {
		t.Errorf("flows %d + %d, paths %d + %d, want %d", packets, ungivenFlows, paths, ungivenPaths, 2*n)
	}
}

// TestIntervalsExporters: what exporters sent between two looks, and what was lost of it, adds up.
func TestIntervalsExporters(t *testing.T) {
	x := ledger.NewExporters(10)
	c := &Collector{Exporters: []*ledger.Exporters{x}}
	v := NewIntervals(c, nil, 0)
	var all []telemetry.ExporterInterval
	give := func(batch *telemetry.Intervals) { all = append(all, batch.Exporters...) }
	header := func(sequence uint32) telemetry.Header {
		return telemetry.Header{
			Source: netip.MustParseAddr("10.0.0.1"), NodeID: 3, HasNodeID: true, Dialect: "d",
			Version: telemetry.Version20, HasSequence: true, Sequence: sequence, Reports: 2,
		}
	}
	x.Observe([]telemetry.Header{header(1), header(2), header(5)}, 1e9)
	v.Look(10e9, give)
	v.Look(20e9, give) // nothing came
	x.Observe([]telemetry.Header{header(4), header(6)}, 21e9)
	v.Look(30e9, give)
	if len(all) != 2 || all[0].Received != 3 || all[0].Reports != 6 || all[0].Lost != 2 || all[1].Received != 2 ||
		all[1].Lost != -1 || all[1].Reordered != 1 ||
		all[0].StartNs != 0 || all[1].StartNs != 20e9 {
		t.Errorf("got %+v", all)
	}
}

// TestIntervalsRestored: what the accounts had before is not given again.
func TestIntervalsRestored(t *testing.T) {
	x := ledger.NewExporters(10)
	header := telemetry.Header{Source: netip.MustParseAddr("10.0.0.1"), Dialect: "d", HasSequence: true, Sequence: 1}
	x.Observe([]telemetry.Header{header}, 1e9)
	v := NewIntervals(&Collector{Exporters: []*ledger.Exporters{x}}, nil, 2e9)
	header.Sequence = 4 // two went by meanwhile
	x.Observe([]telemetry.Header{header}, 3e9)
	var all []telemetry.ExporterInterval
	v.Finish(4e9, func(batch *telemetry.Intervals) { all = append(all, batch.Exporters...) })
	if len(all) != 1 || all[0].Received != 1 || all[0].Lost != 2 {
		t.Errorf("got %+v", all)
	}
}

// TestIntervalsEvents: an event is given when it is new, when it has changed, and when it is over.
func TestIntervalsEvents(t *testing.T) {
	log := eventlog.New(10)
	v := NewIntervals(&Collector{}, log, 0)
	var all []telemetry.Event
	give := func(batch *telemetry.Intervals) { all = append(all, batch.Events...) }
	key := eventlog.Key{Kind: telemetry.EventLoop, Node: 1}
	note := func() { log.Note(key, 1, 2, 5, func(*telemetry.Event) {}) }
	note()
	v.Look(10e9, give)
	v.Look(20e9, give)
	note()
	v.Look(30e9, give)
	log.End(key, 31e9)
	v.Look(40e9, give)
	v.Look(50e9, give)
	if len(all) != 3 || all[0].Count != 5 || all[1].Count != 10 || all[1].End != nil || all[2].End == nil {
		t.Errorf("got %+v", all)
	}
}

// TestIntervalsPostcards: a packet whose postcards wait while the tables are looked at is given by the next look.
func TestIntervalsPostcards(t *testing.T) {
	s := NewShard(DefaultConfig())
	v := NewIntervals(&Collector{Owners: []Owner{s}}, nil, 0)
	var reports, packets uint64
	give := func(batch *telemetry.Intervals) {
		for _, f := range batch.Flows {
			reports, packets = reports+f.Reports, packets+f.Packets
		}
	}
	b := telemetry.Batch{}
	b.Add(&telemetry.Report{
		Version: telemetry.Version20, Flags: telemetry.Tracked | telemetry.HasFlow, PacketID: 1,
		Flow:  telemetry.FlowKey{Protocol: 17},
		Local: telemetry.Hop{Has: telemetry.HasNode | telemetry.HasTTL, NodeID: 3, TTL: 60},
	})
	s.Process(&b, 9.9e9)
	v.Look(10e9, give)
	if reports != 1 || packets != 0 {
		t.Errorf("%d reports, %d packets while it waits, want 1 and 0", reports, packets)
	}
	for now := int64(10e9); now < 12e9; now += 100e6 {
		s.Tick(now)
	}
	v.Look(20e9, give)
	if reports != 1 || packets != 1 {
		t.Errorf("%d reports, %d packets, want 1 and 1", reports, packets)
	}
	b.Reports[0].PacketID = 2
	s.Process(&b, 21e9)
	v.Finish(21.1e9, give) // nobody waits any more
	if reports != 2 || packets != 2 {
		t.Errorf("%d reports, %d packets at the end, want 2 and 2", reports, packets)
	}
}

// Note tells the same of an interval that is over as it gives, under the start that it had before, however late it is.
func TestNoteIsWhatItGives(t *testing.T) {
	for _, late := range []int64{0, 1, second / 2, 3 * second, 45 * second} {
		s := NewShard(DefaultConfig())
		c := &Collector{Owners: []Owner{s}}
		begin := 1000*second + second/4
		v := NewIntervals(c, nil, begin)
		report := telemetry.Report{
			Flow:  telemetry.FlowKey{Protocol: 17, DstPort: 53},
			Flags: telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked,
			Hops:  []telemetry.Hop{{NodeID: 1, Has: telemetry.HasNode}},
		}
		var given telemetry.Intervals
		give := func(g *telemetry.Intervals) {
			given.Flows, given.Hops = append(given.Flows, g.Flows...), append(given.Hops, g.Hops...)
		}
		send := func(nowNs int64) { s.Process(&telemetry.Batch{Reports: []telemetry.Report{report}}, nowNs) }
		send(begin)
		first := v.Note(begin+second/4, give)
		if len(given.Flows)+len(given.Hops) != 0 {
			t.Fatalf("given before it is over: %+v", given)
		}
		send(begin + second/2)
		told := v.Note(1010*second+late, give)
		if len(given.Flows) != 1 || len(told.Flows) != 1 || len(given.Hops) != 1 || len(told.Hops) != 1 {
			t.Fatalf("late %d: gave %d flows and %d hops, told %d and %d", late, len(given.Flows), len(given.Hops),
				len(told.Flows), len(told.Hops))
		}
		if given.Flows[0].Packets != 2 || given.Flows[0] != told.Flows[0] || told.StartNs != first.StartNs ||
			given.Hops[0].StartNs != told.Hops[0].StartNs || given.Hops[0].StartNs != first.Hops[0].StartNs {
			t.Errorf("late %d: gave %+v, told %+v", late, given.Flows[0], told.Flows[0])
		}
		if v.Open() != 1010*second+late-late%(10*second) {
			t.Errorf("late %d: open since %d", late, v.Open())
		}
	}
}
