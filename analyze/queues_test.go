package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

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
