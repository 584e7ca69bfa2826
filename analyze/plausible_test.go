package analyze

import (
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// stampedHop returns a hop with timestamps of 64 bits.
func stampedHop(node uint32, ingressNs, egressNs, latencyNs uint64) telemetry.Hop {
	h := hopAt(node, latencyNs)
	h.Has |= telemetry.HasIngressTime | telemetry.HasEgressTime | telemetry.HasWideTimes
	h.IngressNs, h.EgressNs = ingressNs, egressNs
	return h
}

// A watched is a collector with one shard, and the events that a scanner finds in it.
type watched struct {
	*Collector
	scanner *scan.Scanner
	log     *eventlog.Log
	nowNs   int64
}

func newWatched() *watched {
	w := &watched{
		Collector: &Collector{
			Owners:    []Owner{NewShard(DefaultConfig())},
			Exporters: []*ledger.Exporters{ledger.NewExporters(10)},
		},
		log: eventlog.New(100), nowNs: 1000 * second,
	}
	w.scanner = NewScanner(w.Collector, w.log)
	w.scanner.Scan(w.nowNs)
	return w
}

// take takes a report and lets a tenth of a second pass.
func (w *watched) take(r telemetry.Report) {
	w.Owners[0].(*Shard).Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, w.nowNs)
	w.nowNs += second / 10
	w.Owners[0].Tick(w.nowNs)
	w.scanner.Scan(w.nowNs)
}

func (w *watched) events(kind telemetry.EventKind) []telemetry.Event {
	list, _ := w.log.Events(func(e *telemetry.Event) bool { return e.Kind == kind }, 100)
	return list
}

// Metadata that contradict themselves are a finding, and no latency, no delay and no clock rests on them.
func TestImplausibleMetadata(t *testing.T) {
	const at = uint64(1e18)
	for name, hop := range map[string]func(ns uint64) telemetry.Hop{
		"zero": func(uint64) telemetry.Hop {
			h := stampedHop(1, 0, 0, 0)
			h.Has |= telemetry.HasDerivedLatency
			return h
		},
		"backwards": func(ns uint64) telemetry.Hop {
			h := stampedHop(1, at+ns, at+ns-5000, 0)
			h.Has &^= telemetry.HasLatency
			return h
		},
		"latency and stamps": func(ns uint64) telemetry.Hop { return stampedHop(1, at+ns, at+ns+3e6, 1000) },
	} {
		w := newWatched()
		for n := range uint64(30) {
			ns := n * uint64(second/10)
			w.take(stackReport(n, hop(ns), stampedHop(2, at+ns+10_000, at+ns+11_000, 1000)))
		}
		if list := w.events(telemetry.EventImplausible); len(list) != 1 || list[0].Count != 30 || *list[0].Node != 1 ||
			list[0].Flow == nil {
			t.Errorf("%s: events %+v", name, list)
		}
		for _, h := range w.Hops() {
			if h.Node == 1 && h.LatencyNs != nil || h.Node == 2 && h.LatencyNs.Count != 30 {
				t.Errorf("%s: node %d: latency %+v", name, h.Node, h.LatencyNs)
			}
		}
		if clocks := w.Clocks(); len(clocks) > 0 {
			t.Errorf("%s: clocks %+v", name, clocks)
		}
	}
	w := newWatched()
	for n := range uint64(30) {
		ns := n * uint64(second/10)
		w.take(stackReport(n, stampedHop(1, at+ns, at+ns+1000, 900), stampedHop(2, at+ns+10_000, at+ns+11_000, 1000)))
	}
	if list := w.events(telemetry.EventImplausible); len(list) > 0 || len(w.Clocks()) == 0 {
		t.Errorf("what is right is distrusted: %+v", list)
	}
}

// Stamps that count microseconds where nanoseconds are expected are told, and no clock rests on them.
func TestStampsOfAnotherUnit(t *testing.T) {
	const at = uint64(1e18)
	w := newWatched()
	for n := range uint64(120) {
		ns := n * uint64(second/10)
		w.take(stackReport(n, stampedHop(1, (at+ns)/1000, (at+ns)/1000+1, 1),
			stampedHop(2, at+ns+10_000, at+ns+11_000, 1000)))
	}
	if list := w.events(telemetry.EventImplausible); len(list) != 1 || *list[0].Node != 1 {
		t.Errorf("events: %+v", list)
	}
	for _, c := range w.Clocks() {
		if c.Trusted && c.Node != c.Reference {
			t.Errorf("clock %+v", c)
		}
	}
}

// Two devices with one node id are told, and are no loop; a device that changes its address is not.
func TestDuplicateNodeID(t *testing.T) {
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for name, from := range map[string]func(n int) netip.Addr{
		"two devices":     func(n int) netip.Addr { return []netip.Addr{a, b}[n%2] },
		"another address": func(n int) netip.Addr { return []netip.Addr{a, b}[n/25] },
	} {
		w := newWatched()
		sequence := map[netip.Addr]uint32{}
		for n := range 50 {
			source := from(n)
			sequence[source]++
			w.Exporters[0].Observe([]telemetry.Header{{
				Source: source, Dialect: codepoint.Specification.Name, Version: telemetry.Version20, HasNodeID: true,
				NodeID: 7, HasSequence: true,
				Sequence: sequence[source], Reports: 1,
			}}, w.nowNs)
			hops := []telemetry.Hop{hopAt(1, 10), hopAt(7, 10)}
			if name == "two devices" {
				hops = append(hops, hopAt(2, 10), hopAt(7, 20))
			}
			w.take(stackReport(uint64(n), hops...))
		}
		list, loops := w.events(telemetry.EventDuplicateNode), w.events(telemetry.EventLoop)
		if want := name == "two devices"; (len(list) == 1) != want || len(loops) > 0 {
			t.Errorf("%s: %+v, loops %+v", name, list, loops)
		}
	}
}

// Postcards of two packets that look alike and went different ways are no loop; those of one that came back are.
func TestPacketsThatLookAlikeAreNoLoop(t *testing.T) {
	type card struct {
		node, ttl int
		drop      bool
	}
	for name, c := range map[string]struct {
		cards []card
		loops int
	}{
		// the one goes around a ring by 2, the other by 6, 5 and 4
		"two ways": {[]card{
			{1, 64, false},
			{1, 64, false},
			{2, 63, false},
			{6, 63, false},
			{3, 62, false},
			{5, 62, false},
			{4, 61, false},
			{3, 60, false},
		}, 0},
		// the first node drops the second
		"dropped": {[]card{{1, 63, false}, {1, 64, true}, {2, 62, false}, {3, 61, false}}, 0},
		"loop":    {[]card{{1, 64, false}, {2, 63, false}, {1, 62, false}, {2, 61, true}}, 1},
	} {
		w := newWatched()
		for n := range uint64(3) {
			var reports []telemetry.Report
			for _, card := range c.cards {
				r := cardReport(n, uint8(card.ttl), hopAt(uint32(card.node), 10))
				if card.drop {
					r.Local.Has |= telemetry.HasDrop
					r.Flags |= telemetry.Dropped
				}
				reports = append(reports, r)
			}
			w.Owners[0].(*Shard).Process(&telemetry.Batch{Reports: reports}, w.nowNs)
		}
		for range 20 {
			w.nowNs += second / 10
			w.Owners[0].Tick(w.nowNs)
			w.scanner.Scan(w.nowNs)
		}
		if got := w.events(telemetry.EventLoop); len(got) != c.loops {
			t.Errorf("%s: got loops %+v, want %d", name, got, c.loops)
		}
	}
}

// Behind the hop limit, where the MTU had no room, and in front of a stack that is cut, there are nodes that nobody
// knows: no link leads past them.
func TestUnknownNodesMakeNoLink(t *testing.T) {
	for flag, want := range map[telemetry.Flags]string{
		telemetry.HopLimit:    "1 1>2, 2 1>2, ? ?>?, 9 1>2",
		telemetry.MTUExceeded: "1 1>2, 2 1>2, ? ?>?, 9 1>2",
		telemetry.StackCut:    "? ?>?, 1 1>2, 2 1>2, 9 1>2",
	} {
		r := stackReport(1, hopAt(1, 10), hopAt(2, 10))
		r.Flags |= flag
		r.Local = hopAt(9, 10)
		c := tables(r)
		if got := pathsOf(c); len(got) != 1 || got[want] != 1 {
			t.Errorf("got %v, want %s", got, want)
		}
		for _, l := range c.Links() {
			if l.To == 9 && flag != telemetry.StackCut {
				t.Errorf("a link that does not exist: %+v", l)
			}
		}
	}
}

// A node that tells two stories of one packet contradicts itself: neither counts, and the packet counts once. The same
// story twice, a copy by another port, and two packets that look alike are none.
func TestContradictingReports(t *testing.T) {
	const at = uint64(1e18)
	story := func(node uint32, ns uint64) telemetry.Hop { return stampedHop(node, ns, ns+1000, 1000) }
	for name, test := range map[string]struct {
		change   func(*telemetry.Hop)
		evidence string
		values   [2]float64
		counted  uint64 // latencies of node 2, of ten packets
	}{
		"time":  {func(h *telemetry.Hop) { h.EgressNs += 7 }, "egress_after", [2]float64{1000, 1007}, 0},
		"port":  {func(h *telemetry.Hop) { h.IngressPort = 9 }, "ingress_port", [2]float64{1, 9}, 0},
		"same":  {func(*telemetry.Hop) {}, "", [2]float64{}, 10},
		"copy":  {func(h *telemetry.Hop) { h.EgressPort = 9 }, "", [2]float64{}, 10},
		"alike": {func(h *telemetry.Hop) { h.IngressNs += 10; h.EgressNs += 10 }, "", [2]float64{}, 10},
	} {
		w := newWatched()
		for _, n := range []uint64{1000, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9} {
			ns := at + n*1e6
			if n == 1000 { // the path is known
				ns = at - 1e9
			}
			other := story(2, ns)
			test.change(&other)
			reports := []telemetry.Report{
				cardReport(n, 64, story(1, ns)), cardReport(n, 63, story(2, ns)), cardReport(n, 62, story(3, ns)),
			}
			if n < 1000 {
				reports = append(reports, cardReport(n, 63, other))
			}
			w.Owners[0].(*Shard).Process(&telemetry.Batch{Reports: reports}, w.nowNs)
		}
		for range 20 {
			w.nowNs += second / 10
			w.Owners[0].Tick(w.nowNs)
			w.scanner.Scan(w.nowNs)
		}
		events := w.events(telemetry.EventContradiction)
		if test.evidence == "" {
			if len(events) > 0 {
				t.Errorf("%s: made up: %+v", name, events[0])
			}
			continue
		}
		if len(events) != 1 || *events[0].Node != 2 || events[0].Count != 10 || events[0].Evidence[1] !=
			(telemetry.Evidence{Name: test.evidence, Value: test.values[0], Unit: events[0].Evidence[1].Unit}) ||
			events[0].Evidence[2].Value != test.values[1] {
			t.Errorf("%s: got %+v", name, events)
		}
		flows, _ := w.Flows(FlowFilter{Limit: 1})
		if flows[0].Packets != 11 {
			t.Errorf("%s: %d packets, want 11", name, flows[0].Packets)
		}
		for _, h := range w.Hops() {
			if want := map[bool]uint64{true: test.counted, false: 10}[h.Node == 2] + 1; h.LatencyNs.Count != want {
				t.Errorf("%s: node %d: %d latencies, want %d", name, h.Node, h.LatencyNs.Count, want)
			}
		}
	}
}

// Two stacks of one packet that differ are a finding, and the second counts nowhere: neither as a packet nor at any
// hop, queue or burst. Copies, repeated stacks and packets that look alike are none.
func TestContradictingStacks(t *testing.T) {
	const at = uint64(1e18)
	stack := func(ns uint64) []telemetry.Hop {
		var hops []telemetry.Hop
		for node := range uint32(3) {
			in := ns + uint64(node)*10_000
			hops = append(hops, stampedHop(node+1, in, in+1000, 1000))
		}
		return hops
	}
	for name, test := range map[string]struct {
		change   func([]telemetry.Hop)
		evidence string
		values   [2]float64
		node     uint32
	}{
		"time":     {func(h []telemetry.Hop) { h[1].EgressNs += 7 }, "egress_after", [2]float64{1000, 1007}, 2},
		"port":     {func(h []telemetry.Hop) { h[2].IngressPort = 9 }, "ingress_port", [2]float64{1, 9}, 3},
		"other":    {func(h []telemetry.Hop) { h[1].NodeID = 8 }, "next_node", [2]float64{2, 8}, 1},
		"sink":     {func(h []telemetry.Hop) { h[2].NodeID = 8 }, "next_node", [2]float64{3, 8}, 2},
		"same":     {func([]telemetry.Hop) {}, "", [2]float64{}, 0},
		"copy":     {func(h []telemetry.Hop) { h[1].EgressPort, h[2].NodeID = 9, 8 }, "", [2]float64{}, 0},
		"alike":    {func(h []telemetry.Hop) { copy(h, stack(h[0].IngressNs+10)) }, "", [2]float64{}, 0},
		"in parts": {func(h []telemetry.Hop) { h[2].Has, h[2].EgressNs = telemetry.HasNode, 5 }, "", [2]float64{}, 0},
	} {
		w := newWatched()
		for n := range uint64(10) {
			ns := at + n*1e6
			one, other := stackReport(n, stack(ns)...), stackReport(n, stack(ns)...)
			test.change(other.Hops)
			w.Owners[0].(*Shard).Process(&telemetry.Batch{Reports: []telemetry.Report{one, other}}, w.nowNs)
		}
		for range 20 {
			w.nowNs += second / 10
			w.Owners[0].Tick(w.nowNs)
			w.scanner.Scan(w.nowNs)
		}
		events := w.events(telemetry.EventContradiction)
		if test.evidence == "" {
			if len(events) > 0 {
				t.Errorf("%s: made up: %+v", name, events[0])
			}
			continue
		}
		if len(events) != 1 || *events[0].Node != test.node || events[0].Count != 10 ||
			events[0].Evidence[1].Name != test.evidence || events[0].Evidence[1].Value != test.values[0] ||
			events[0].Evidence[2].Value != test.values[1] {
			t.Errorf("%s: got %+v", name, events)
		}
		flows, _ := w.Flows(FlowFilter{Limit: 1})
		if flows[0].Packets != 10 || len(flows[0].Paths) != 1 || flows[0].PathChanges != 0 {
			t.Errorf("%s: got %+v", name, flows[0])
		}
		if hops := w.Hops(); len(hops) != 3 {
			t.Errorf("%s: got %d hops", name, len(hops))
		}
		for _, h := range w.Hops() {
			if h.Packets != 10 || h.LatencyNs.Count != 10 {
				t.Errorf("%s: node %d: %d packets, %d latencies", name, h.Node, h.Packets, h.LatencyNs.Count)
			}
		}
	}
}

// A packet that is in a node while its clock of 48 bits begins again at 0 is no finding, and has no time.
func TestClockTurns(t *testing.T) {
	for _, in := range []uint64{1<<48 - 500, 1<<48 - 1} {
		w := newWatched()
		r := stackReport(1, stampedHop(1, in, (in+1000)&(1<<48-1), 1000))
		w.take(r)
		for range 20 {
			w.take(stackReport(2, stampedHop(1, 5000, 6000, 1000)))
		}
		if events := w.events(telemetry.EventImplausible); len(events) > 0 {
			t.Errorf("%d: made up: %+v", in, events[0])
		}
	}
}
