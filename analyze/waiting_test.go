package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// What waits in one process goes on waiting in the next, for which time stands still until it is released: postcards,
// and hops of an intermediate report. Neither counts before, and each counts once.
func TestWaiting(t *testing.T) {
	send := func(c *Collector, r telemetry.Report) {
		r.Flags |= telemetry.HasFlow | telemetry.Tracked
		b := telemetry.Batch{Reports: []telemetry.Report{r}}
		c.Owners[r.Flow.ShardOf(len(c.Owners))].(*Shard).Process(&b, second)
	}
	node := func(id uint32) telemetry.Hop { return telemetry.Hop{NodeID: id, Has: telemetry.HasNode} }
	flow := func(port uint16) telemetry.FlowKey { return telemetry.FlowKey{Protocol: 17, DstPort: port} }
	started := func(shards int, seed uint64) *Collector {
		config, c := DefaultConfig(), &Collector{}
		for range shards {
			config.HashSeed = seed
			c.Owners = append(c.Owners, NewShard(config))
		}
		return c
	}
	const flows = 50
	before := started(2, 1)
	for port := range uint16(flows) {
		send(before, telemetry.Report{Flow: flow(port), PacketID: 7, TTL: 63, Bytes: 100, Local: node(1)})
	}
	send(before, telemetry.Report{
		Flow: flow(flows), PacketID: 7, Flags: telemetry.Embedded | telemetry.Intermediate,
		Hops: []telemetry.Hop{node(1), node(2)},
	})
	before.Hold()
	for i := range int64(100) {
		for _, s := range before.Owners {
			s.Tick((2 + i) * second)
			s.Finish((2 + i) * second)
		}
	}
	content, err := before.Waiting()
	if err != nil {
		t.Fatal(err)
	}
	if paths := pathsOf(before); len(paths) != 0 {
		t.Errorf("packets did not wait: %v", paths)
	}

	after := started(3, 2)
	if err := after.RestoreWaiting(content, second); err != nil {
		t.Fatal(err)
	}
	for port := range uint16(flows) {
		send(after, telemetry.Report{Flow: flow(port), PacketID: 7, TTL: 62, Bytes: 100, Local: node(2)})
	}
	send(after, telemetry.Report{
		Flow: flow(flows), PacketID: 7, Flags: telemetry.Embedded, Hops: []telemetry.Hop{node(3)},
	})
	for _, s := range after.Owners {
		endWait(s, second)
	}
	paths := pathsOf(after)
	if len(paths) != 2 || paths["1 ?>?, 2 ?>?"] != flows || paths["1 ?>?, 2 ?>?, 3 ?>?"] != 1 {
		t.Errorf("got %v", paths)
	}
	if none, err := after.Waiting(); none != nil || err != nil {
		t.Errorf("%d bytes wait: %v", len(none), err)
	}
	if err := after.RestoreWaiting(content[:len(content)/2], second); err == nil {
		t.Error("half of it was taken")
	}
}
