package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/telemetry"
)

// A lineOfNodes gives reports of flows along lines of nodes to a shard, second by second, and looks at it.
type lineOfNodes struct {
	shard   *Shard
	scanner *scan.Scanner
	log     *eventlog.Log
	nowNs   int64
	flow    uint64 // the latest
}

func newLineOfNodes() *lineOfNodes {
	l := &lineOfNodes{shard: NewShard(DefaultConfig()), log: eventlog.New(100), nowNs: second}
	l.scanner = NewScanner(&Collector{Owners: []Owner{l.shard}}, l.log)
	l.scanner.Scan(l.nowNs)
	return l
}

// packets reports n packets of a flow along nodes.
func (l *lineOfNodes) packets(flow uint64, n int, nodes ...uint32) {
	r := telemetry.Report{
		Flags: telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked, Flow: keyOf(flow),
		Bytes: 100,
	}
	for _, node := range nodes {
		r.Hops = append(r.Hops, telemetry.Hop{
			NodeID: node, IngressPort: 1, EgressPort: node + 1,
			Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort,
		})
	}
	for range n {
		l.shard.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, l.nowNs)
	}
}

// second lets a second pass in which flows that are new each time take 1, 2, 3, and others 1, 4, 3.
func (l *lineOfNodes) second(flows, others int) {
	for range flows {
		l.flow++
		l.packets(l.flow, 10, 1, 2, 3)
	}
	for range others {
		l.flow++
		l.packets(l.flow, 10, 1, 4, 3)
	}
	l.packets(1<<30, 10, 5, 2, 6) // node 2 reports all the time
	l.nowNs += second
	l.scanner.Scan(l.nowNs)
}

func (l *lineOfNodes) lost() int {
	_, n := l.log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventLinkLost }, 10)
	return n
}

// Flows end, and nothing is lost. Many that came and went all the time do not end all at once.
func TestFlowsThatEndAreNoLostLink(t *testing.T) {
	for _, test := range []struct{ flows, seconds, silent, lost int }{
		{flows: 1, seconds: 60, silent: 60},
		{flows: 5, seconds: 60, silent: 60},
		{flows: 20, seconds: 10, silent: 60},
		{flows: 20, seconds: 60, silent: 4},
		{flows: 20, seconds: 60, silent: 6, lost: 2}, // 1-2 and 2-3
	} {
		l := newLineOfNodes()
		for range test.seconds {
			l.second(test.flows, 5)
		}
		for range test.silent {
			l.second(0, 5)
		}
		if got := l.lost(); got != test.lost {
			t.Errorf("%+v: got %d links lost", test, got)
		}
	}
}

// Flows that go on by another path tell which link is lost: the one that is silent on all of their paths.
func TestFlowsThatLeaveTellOfLostLinks(t *testing.T) {
	l := newLineOfNodes()
	const flow = 1 << 29
	for range 5 {
		l.packets(flow, 40, 1, 2, 3)
		l.packets(flow+1, 40, 7, 1, 2) // the link 1-2 is in use
		l.second(0, 1)
	}
	for range 5 {
		l.packets(flow, 40, 1, 4, 3)
		l.packets(flow+1, 40, 7, 1, 2)
		l.second(0, 1)
	}
	list, _ := l.log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventLinkLost }, 10)
	if len(list) != 1 || *list[0].Node != 2 || *list[0].ToNode != 3 || list[0].Start.UnixNano() != 6*second {
		t.Errorf("got %+v", list)
	}
}
