package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// Paths part where packets leave a node by another port, and not where they only come in by another one.
func TestParting(t *testing.T) {
	const ports = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
	at := func(node, in, out uint32, has telemetry.Fields) pathHop {
		return pathHop{station: station{node: node, in: in, out: out, has: has}}
	}
	for _, test := range []struct {
		name     string
		from, to []pathHop
		want     changeKey
		ok       bool
	}{
		{
			"another way out",
			[]pathHop{at(1, 3, 1, ports), at(5, 1, 2, ports)},
			[]pathHop{at(1, 3, 2, ports), at(6, 1, 2, ports)},
			changeKey{1, 1, 5, 2},
			true,
		},
		{
			"in a loop",
			[]pathHop{at(1, 3, 1, ports), at(5, 1, 1, ports)},
			[]pathHop{at(1, 1, 1, ports), at(5, 1, 1, ports)},
			changeKey{},
			false,
		},
		{
			"another link between the same nodes",
			[]pathHop{at(1, 0, 0, telemetry.HasNode), at(2, 1, 4, ports)},
			[]pathHop{at(1, 0, 0, telemetry.HasNode), at(2, 2, 4, ports)},
			changeKey{1, 0, 2, 0},
			true,
		},
		{
			"in elsewhere",
			[]pathHop{at(1, 3, 1, ports), at(5, 1, 2, ports)},
			[]pathHop{at(2, 3, 1, ports), at(5, 2, 2, ports)},
			changeKey{},
			false,
		},
	} {
		if k, ok := parting(test.from, test.to); k != test.want || ok != test.ok {
			t.Errorf("%s: got %+v %v, want %+v %v", test.name, k, ok, test.want, test.ok)
		}
	}
}

// Flows of several shards that turn in the same way are one event, from the first of them to the last.
func TestChangesOfShards(t *testing.T) {
	log := eventlog.New(10)
	c := &Collector{}
	k := changeKey{node: 1, port: 2, toNode: 3, newPort: 4}
	for _, n := range []change{
		{flows: 1, first: 7 * second, last: 8 * second, path: 8},
		{flows: 2, first: 5 * second, last: 6 * second, path: 6},
		{flows: 1, first: 9 * second, last: 9 * second, path: 9},
	} {
		shard := NewShard(Config{MaxFlows: 10, MaxPaths: 10, MaxDrops: 10, MaxQueues: 10, JoinPlaces: 16})
		shard.changes.changes[k] = &n
		c.Shards = append(c.Shards, shard)
	}
	s := NewScanner(c, log)
	for _, ns := range []int64{8 * second, 9 * second, 10 * second} {
		s.Scan(ns)
	}
	list, _ := log.Events(nil, 10)
	if len(list) != 1 || list[0].Start.UnixNano() != 5*second || list[0].Count != 4 || list[0].Path != pathID(9) {
		t.Errorf("got %+v", list)
	}
}
