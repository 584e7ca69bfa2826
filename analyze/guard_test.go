package analyze

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A flood makes reports of stacks of three hops. Flows below some number are real, the others spoofed.
type flood struct {
	batch telemetry.Batch
	hops  [3]telemetry.Hop
}

func newFlood() *flood {
	f := &flood{batch: telemetry.Batch{Reports: make([]telemetry.Report, 0, 64)}}
	for i := range f.hops {
		f.hops[i] = telemetry.Hop{
			NodeID: uint32(i + 1), IngressPort: 1, EgressPort: 2, LatencyNs: 1000, QueueOccupancy: 10,
			Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasLatency |
				telemetry.HasQueue,
		}
	}
	return f
}

func keyOf(flow uint64) telemetry.FlowKey {
	return telemetry.FlowKey{
		Src:     telemetry.AddrFrom4([4]byte{10, byte(flow >> 16), byte(flow >> 8), byte(flow)}),
		DstPort: uint16(flow >> 24), Protocol: 17,
	}
}

// add adds a report about a flow, and gives the batch to s if it is full.
func (f *flood) add(s *Shard, flow uint64, nowNs int64) {
	f.batch.Reports = append(f.batch.Reports, telemetry.Report{
		Flags: telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked, Flow: keyOf(flow), Bytes: 100,
		Hops: f.hops[:],
	})
	if len(f.batch.Reports) == cap(f.batch.Reports) {
		f.flush(s, nowNs)
	}
}

func (f *flood) flush(s *Shard, nowNs int64) {
	s.Process(&f.batch, nowNs)
	f.batch.Reports = f.batch.Reports[:0]
}

// Millions of spoofed flows of one packet each, a million a second, and ten thousand real ones: memory stays bounded,
// every offer of a flow is kept, evicted or rejected, no packet of a heavy flow is missing, and flows that begin in the
// flood get in.
func TestGuardKeepsRealFlows(t *testing.T) {
	spoofedFlows := uint64(5_500_000)
	if _, all := test.Seed(t); test.RaceDetector {
		spoofedFlows = 1_000_000
	} else if all {
		spoofedFlows = 10_000_000
	}
	const (
		heavy, middle, slow = 1000, 3000, 6000 // 100, 10 and 1 packet a second
		late                = 100              // of the heavy ones begin after 300 ms
		memory              = 64 << 20
	)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := NewShard(ConfigFor(memory, 1))
	f := newFlood()
	now, offers := second, uint64(0)
	sent := make([]uint64, heavy+middle+slow)
	send := func(flow uint64) {
		key := keyOf(flow)
		f.flush(s, now)
		if _, _, ok := s.flows.find(&key, s.flows.tagOf(&key)); !ok {
			offers++
		}
		sent[flow]++
		f.add(s, flow, now)
		f.flush(s, now)
	}
	spoofed := uint64(0)
	for tick := 0; spoofed < spoofedFlows; tick++ { // of 10 ms
		for flow := range uint64(heavy) {
			if flow >= late || tick >= 30 {
				send(flow)
			}
		}
		for i := range uint64(middle / 10) {
			send(heavy + i*10 + uint64(tick%10))
		}
		for i := range uint64(slow / 100) {
			send(heavy + middle + i*100 + uint64(tick%100))
		}
		for range 10_000 {
			f.add(s, heavy+middle+slow+spoofed, now)
			spoofed++
		}
		f.flush(s, now)
		now += second / 100
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > memory {
		t.Errorf("the tables grew by %d MiB, %d MiB were allowed", grown>>20, memory>>20)
	}
	c := Collector{Owners: []Owner{s}}
	n := c.Counters()
	t.Logf("room for %d flows, %d evicted, %d rejected", n.FlowLimit, n.FlowsEvicted, n.FlowsRejected)
	if offered := spoofed + offers; uint64(n.Flows)+n.FlowsEvicted+n.FlowsRejected != offered || n.FlowsRejected == 0 ||
		n.FlowsEvicted == 0 {
		t.Errorf("%d offered, but %d kept, %d evicted, %d rejected", offered, n.Flows, n.FlowsEvicted, n.FlowsRejected)
	}
	kept, slowKept := uint64(0), 0
	for flow := range sent {
		key := keyOf(uint64(flow))
		place, _, ok := s.flows.find(&key, s.flows.tagOf(&key))
		switch {
		case flow >= late && flow < heavy: // there before the table was full
			if !ok || s.flows.at(place).packets != sent[flow] {
				t.Fatalf("flow %d, %d packets: kept %v", flow, sent[flow], ok)
			}
		case flow < heavy+middle: // the guard may have had its first packet
			if !ok || s.flows.at(place).packets+1 < sent[flow] {
				t.Fatalf("flow %d, %d packets, began in the flood: kept %v", flow, sent[flow], ok)
			}
		case ok:
			slowKept++
		}
		kept += sent[flow]
	}
	t.Logf("%d of %d slow flows are kept", slowKept, slow)
	// In a second, most of them send one packet, which is not enough to come in.
	if now > 5*second && slowKept < slow*9/10 {
		t.Errorf("only %d of %d slow flows are kept", slowKept, slow)
	}
	// Whatever became of its flow, each packet is on the path.
	paths, _ := c.Paths(10)
	if len(paths) != 1 || paths[0].Packets != kept+spoofed || paths[0].Flows != n.Flows {
		t.Errorf("%d paths with %d packets of %d flows, want %d of %d", len(paths), paths[0].Packets, paths[0].Flows,
			kept+spoofed, n.Flows)
	}
	if f := c.Queues(); f[0].Depth.Count != kept+spoofed {
		t.Errorf("queues have %d packets", f[0].Depth.Count)
	}
}

// A guard lets in what it has seen, remembers a filter's fill of others, and takes few for others.
func TestGuardAdmits(t *testing.T) {
	g := newGuard(10_000)
	r := rand.New(rand.NewPCG(1, 1))
	wrong, flows := 0, 4*g.most
	var seen []uint64
	for range flows {
		hash := r.Uint64()
		if g.admits(hash) {
			wrong++
		}
		if seen = append(seen, hash); len(seen) > g.most/2 && !g.admits(seen[len(seen)-g.most/2]) {
			t.Fatal("a flow that was seen shortly before is not let in")
		}
	}
	if share := float64(wrong) / float64(flows); share > 0.05 {
		t.Errorf("%.3f of flows that were never seen are let in", share)
	}
}

// Postcards of flows that are not let in make paths all the same, and leave nothing behind.
func TestGuardPostcards(t *testing.T) {
	config := DefaultConfig()
	config.MaxFlows = 10
	s := NewShard(config)
	now := second
	for i := range uint64(1000) {
		for node := range uint32(3) {
			s.Process(&telemetry.Batch{Reports: []telemetry.Report{{
				Flags: telemetry.HasFlow | telemetry.Tracked, Flow: keyOf(i), TTL: uint8(64 - node), PacketID: 1,
				Local: telemetry.Hop{NodeID: node + 1, Has: telemetry.HasNode},
			}}}, now)
		}
		now += 1e6
	}
	endWait(s, now)
	c := Collector{Owners: []Owner{s}}
	n := c.Counters()
	paths, _ := c.Paths(10)
	if len(paths) != 1 || len(paths[0].Hops) != 3 || paths[0].Packets != 1000 || n.Flows != 10 || n.FlowsRejected == 0 {
		t.Fatalf("%+v, %+v", paths, n)
	}
	withPath := 0
	for i := range s.flows.count {
		if s.flows.at(i).paths[0].used {
			withPath++
		}
	}
	if paths[0].Flows != withPath || paths[0].Flows > 10 {
		t.Errorf("%d flows on the path, %d have it", paths[0].Flows, withPath)
	}
}

// BenchmarkFlood is what a report of a flood costs, when the table is full and each flow is new.
func BenchmarkFlood(b *testing.B) {
	s, f := NewShard(ConfigFor(256<<20, 1)), newFlood()
	flow, now := uint64(0), second
	next := func() {
		for range 64 {
			f.add(s, flow, now)
			flow++
		}
		now += 64_000
	}
	for s.rejected == 0 {
		next()
	}
	b.ReportAllocs()
	for b.Loop() {
		next()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/report")
	b.ReportMetric(float64(s.flows.evicted)/float64(s.rejected+s.flows.evicted), "evicted/report")
}

// What is not compared with the policy, because a full table keeps the flow outside, is counted.
func TestGuardCountsWhatIsNotJudged(t *testing.T) {
	for _, policy := range []finding.Policy{nil, policyOf(t, "{}")} {
		config := DefaultConfig()
		config.MaxFlows, config.Policy = 64, policy
		s := NewShard(config)
		f := newFlood()
		for flow := range uint64(64 + 64) {
			f.add(s, flow, second)
		}
		want := uint64(0)
		if policy != nil {
			want = 64
		}
		if n := (&Collector{Owners: []Owner{s}}).Counters(); n.FlowsRejected != 64 || n.JudgementsLeftOut != want {
			t.Errorf("%d rejected, %d left out, want %d", n.FlowsRejected, n.JudgementsLeftOut, want)
		}
	}
}

// A flow that is let in with its second packet keeps its tunnel, and its samples, when another is not let in.
func TestAdmittedFlowKeepsItsTunnel(t *testing.T) {
	config := DefaultConfig()
	config.MaxFlows = 2
	s := NewShard(config)
	tunnelled := keyOf(3)
	tunnelled.Tunnel, tunnelled.TunnelID = telemetry.TunnelVXLAN, 7
	outer := telemetry.FlowKey{
		Src: telemetry.AddrFrom4([4]byte{192, 0, 2, 1}), Dst: telemetry.AddrFrom4([4]byte{192, 0, 2, 2}),
	}
	report := func(key telemetry.FlowKey) {
		b := telemetry.Batch{Reports: []telemetry.Report{{
			Flags: telemetry.HasFlow | telemetry.Sampled, Flow: key, Outer: outer,
			Observed: telemetry.Observed{Packets: 1, Bytes: 100, Rate: 10},
		}}}
		s.Process(&b, 1)
	}
	for _, key := range []telemetry.FlowKey{keyOf(1), keyOf(2), tunnelled, tunnelled, keyOf(4)} {
		report(key)
	}
	if s.rejected != 2 || s.outer[tunnelled] != outer || s.sampled.Of(&tunnelled) == nil {
		t.Errorf("%d reports were left out, the tunnel is from %v, samples %v", s.rejected, s.outer[tunnelled],
			s.sampled.Of(&tunnelled))
	}
}
