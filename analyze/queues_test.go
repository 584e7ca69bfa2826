package analyze

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// Quantiles of lengths are those of the sorted lengths, within the error that is stated; two shards add up to one.
func TestDepthHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, high := range []float64{10, 1000, 1e6, 1 << 32} {
		var parts [2]depthHistogram
		var all []uint32
		for range 2000 {
			v := uint32(math.Pow(r.Float64(), 3) * (high - 1))
			all = append(all, v)
			parts[r.IntN(2)].add(v)
		}
		parts[0].merge(&parts[1])
		slices.Sort(all)
		d := parts[0].distribution()
		if d.Count != 2000 || d.Min != uint64(all[0]) || d.Max != uint64(all[1999]) {
			t.Errorf("%+v", d)
		}
		for q, got := range map[float64]uint64{0.5: d.P50, 0.99: d.P99} {
			want := float64(all[int(math.Ceil(q*2000))-1])
			if math.Abs(float64(got)-want) > d.RelativeError*want {
				t.Errorf("up to %v: quantile %v is %d, want %v", high, q, got, want)
			}
		}
	}
	var h depthHistogram
	for _, v := range []uint32{0, 7, 8, 15, 16, 17, 1 << 31, 1<<32 - 1} {
		h.add(v)
	}
	h.buckets[0] = 1<<32 - 1
	if h.add(0); h.buckets[0] != 1<<31 {
		t.Errorf("a full bucket has %d", h.buckets[0])
	}
}

// A queue is a node, a port and an id: packets of one path may come to several, and those of several paths to one. What
// there is no room for is counted.
func TestQueues(t *testing.T) {
	config := DefaultConfig()
	config.MaxQueues = 3
	s := NewShard(config)
	send := func(flow uint16, node, port uint32, queue uint8, depth uint32) {
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{{
			Flags: telemetry.HasFlow | telemetry.Embedded, Flow: telemetry.FlowKey{DstPort: flow},
			Hops: []telemetry.Hop{{
				NodeID: node, EgressPort: port, IngressPort: uint32(flow), QueueID: queue,
				QueueOccupancy: depth,
				Has: telemetry.HasNode | telemetry.HasEgressPort | telemetry.HasIngressPort |
					telemetry.HasQueue,
			}},
		}}}, second+int64(depth))
	}
	send(1, 7, 1, 0, 10)
	send(1, 7, 1, 5, 20)
	send(1, 7, 1, 0, 30)
	send(2, 7, 1, 0, 50)
	send(2, 7, 2, 0, 60)
	send(2, 7, 3, 0, 70)
	send(2, 8, 1, 0, 80)
	c := Collector{Owners: []Owner{s}}
	c.Configure(Configured{Names: map[uint32]string{7: "s7"}})
	list := c.Queues()
	if len(list) != 3 || c.Counters().QueuesOverflow != 2 {
		t.Fatalf("%d queues, %d overflow", len(list), c.Counters().QueuesOverflow)
	}
	if q := list[0]; q.Name != "s7" || *q.Port != 1 || q.Queue != 0 || q.Depth.Count != 3 || q.Depth.Mean != 30 ||
		q.Depth.Min != 10 || *q.LastDepth != 50 {
		t.Errorf("%+v %+v", q, q.Depth)
	}
	if q := list[1]; *q.Port != 1 || q.Queue != 5 || q.Depth.Max != 20 {
		t.Errorf("%+v", q)
	}
	if q := list[2]; *q.Port != 2 || q.Depth.Max != 60 {
		t.Errorf("%+v", q)
	}
}
