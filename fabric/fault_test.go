package fabric

import (
	"fmt"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
)

// dropsBy counts drops of a time span.
func dropsBy(list []truth.Record, fromNs, untilNs int64) map[string]int {
	counts := map[string]int{}
	for _, d := range of[*truth.Drop](list) {
		if d.TimeNs >= fromNs && d.TimeNs < untilNs {
			counts[fmt.Sprintf("%s %s %d seen=%v", d.Place, d.Reason, d.Node, d.Seen)]++
		}
	}
	return counts
}

// The line carries 2323 packets of 500 bytes in a second.
const perSecond = 10e6 / (538 * 8)

func near(got int, want float64) bool { return float64(got) > want*0.9-3 && float64(got) < want*1.1+3 }

func TestBlackhole(t *testing.T) {
	for _, test := range []struct {
		fault string
		want  string
	}{
		{"blackhole: {node: s2, prefix: 10.0.3.0/24}", "ingress routing_miss 2 seen=true"},
		{"blackhole: {node: s2, prefix: 10.0.0.0/8}", "ingress routing_miss 2 seen=true"}, // shorter than the route
		{"blackhole: {node: s2, prefix: 10.0.3.1}", "ingress routing_miss 2 seen=true"},   // longer
		// the last switch, which has no device
		{"blackhole: {node: s3, prefix: 10.0.3.0/24}", "ingress routing_miss 3 seen=false"},
		{"blackhole: {node: s2, prefix: 10.0.3.0/24, silent: true}", "ingress routing_miss 2 seen=false"},
	} {
		list, _ := ran(t, lineUDP+"faults: [{at: 300ms, for: 400ms, "+test.fault+"}]\n",
			Options{Device: on("s2", &fixed{})}, time.Second)
		inside, all := dropsBy(list, 300e6, 700e6), dropsBy(list, 0, 1e9)
		if len(all) != 1 || inside[test.want] != all[test.want] || !near(all[test.want], 0.4*perSecond) {
			t.Errorf("%s: drops %v, of them in time %v", test.fault, all, inside)
		}
	}
	list, _ := ran(t, lineUDP+"faults: [{blackhole: {node: s2, prefix: 10.0.4.0/24}}]\n", Options{}, time.Second)
	if all := dropsBy(list, 0, 1e9); len(all) != 0 {
		t.Errorf("a blackhole for others: %v", all)
	}
}

// Packets in a loop go round until their TTL is used up.
func TestLoop(t *testing.T) {
	list, f := ran(t,
		lineUDP+"switch: {ttl: 20}\nfaults: [{at: 300ms, for: 400ms, loop: {nodes: [s1, s2], prefix: 10.0.3.0/24}}]\n",
		Options{}, time.Second)
	all := dropsBy(list, 0, 1e9)
	looped := all["ingress ttl 1 seen=false"] + all["ingress ttl 2 seen=false"]
	if !near(looped, 0.4*perSecond) {
		t.Errorf("drops %v", all)
	}
	last := map[uint64]uint8{} // hop records of the packets that were dropped: 0 to 18
	for _, h := range of[*truth.Hop](list) {
		last[h.Packet] = h.Hop
	}
	for _, d := range of[*truth.Drop](list) {
		if d.Reason == "ttl" && last[d.Packet] != 18 {
			t.Fatalf("packet %d was dropped after %d hops", d.Packet, last[d.Packet])
		}
	}
	if s := f.Stats(); float64(s.Delivered) < 0.5*perSecond {
		t.Errorf("%d delivered", s.Delivered)
	}
}

func TestGrayLink(t *testing.T) {
	list, f := ran(t, lineUDP+"faults: [{at: 300ms, for: 400ms, gray_link: {link: [s2, s3], drop: 20%}}]\n",
		Options{Device: on("s2", &fixed{})}, time.Second)
	all := dropsBy(list, 0, 1e9)
	if n := all["link gray_link 2 seen=false"]; len(all) != 1 || n < 130 || n > 240 {
		t.Errorf("drops %v", all)
	}
	if d := of[*truth.Drop](list)[0]; d.Link != "s2-s3" || d.Out != 2 || d.In != 1 {
		t.Errorf("%+v", *d)
	}
	if f.links[1].gray != 0 {
		t.Error("the link is still gray")
	}
}

// hopsOf returns the latencies at a switch by the time of arrival.
func hopsOf(list []truth.Record, node uint32, each func(h *truth.Hop)) {
	for _, h := range of[*truth.Hop](list) {
		if h.Node == node {
			each(h)
		}
	}
}

func TestSlowSwitch(t *testing.T) {
	list, _ := ran(t, lineUDP+"faults: [{at: 300ms, for: 400ms, slow_switch: {node: s2, extra: 1ms}}]\n", Options{},
		time.Second)
	hopsOf(list, 2, func(h *truth.Hop) {
		want := int64(800)
		if h.InNs >= 300e6 && h.InNs < 700e6 {
			want += 1e6
		}
		// When the extra time ends, packets that came before it are still to leave.
		if h.LatencyNs != want && (h.InNs < 700e6 || h.InNs > 702e6) {
			t.Fatalf("%+v: want %d ns", *h, want)
		}
	})
}

func TestClockFault(t *testing.T) {
	list, f := ran(t, lineUDP+`
nodes: [{name: s2, clock: {offset: 1ms, drift: 10}}]
faults: [{at: 300ms, for: 400ms, clock: {node: s2, offset: 5ms, drift: -100}}]
`, Options{}, time.Second)
	hopsOf(list, 2, func(h *truth.Hop) {
		want := 1e6 + h.InNs/100000
		if h.InNs >= 300e6 && h.InNs < 700e6 {
			want = 1e6 + 3000 + 5e6 - (h.InNs-300e6)*90/1e6
		}
		if got := int64(h.InClock-f.epochNs) - h.InNs; got < want-1 || got > want+1 {
			t.Fatalf("at %d: clock is wrong by %d ns, want %d", h.InNs, got, want)
		}
	})
	sw := of[*truth.Switch](list)[1]
	if sw.OffsetNs != 1e6 || sw.DriftPPB != 10000 {
		t.Errorf("%+v", *sw)
	}
}

// A drift is exact after a year too.
func TestClockLong(t *testing.T) {
	c := clock{driftPPB: 100e6, offsetNs: -7}
	const year = 365 * 24 * 3600 * 1e9
	if got := c.errorNs(year); got != year/10-7 {
		t.Errorf("got %d", got)
	}
}

func TestNoINT(t *testing.T) {
	seen := 0
	device := &fixed{arrive: func([]byte, *PacketState) Verdict { seen++; return Verdict{} }}
	_, f := ran(t, lineUDP+"faults: [{at: 300ms, for: 400ms, no_int: {node: s2}}]\n", Options{Device: on("s2", device)},
		time.Second)
	if s := f.Stats(); !near(seen, 0.6*perSecond) || s.Lost() != 0 {
		t.Errorf("the device saw %d packets, %d were lost", seen, s.Lost())
	}
}

func TestBufferFault(t *testing.T) {
	list, f := ran(t, dumbbell(1, `
traffic: [{constant: {from: s1, to: r1}, rate: 90M, packet: 1000}]
faults: [{at: 300ms, for: 400ms, buffer: {node: left, buffer: 20kB}}]
`), Options{}, time.Second)
	for _, d := range of[*truth.Drop](list) {
		want := uint64(60e3) // alpha 1: half
		if d.TimeNs > 350e6 && d.TimeNs < 700e6 {
			want = 10e3
		}
		if (d.TimeNs < 300e6 || d.TimeNs > 350e6) && (d.TimeNs < 700e6 || d.TimeNs > 750e6) &&
			(d.Depth < want || d.Depth > want+1100) {
			t.Fatalf("%+v, want %d", *d, want)
		}
	}
	if n := f.names["left"]; n.buffer != 120e3 || n.alpha != 1 {
		t.Error("the buffer is still wrong")
	}
}

func TestReportLoss(t *testing.T) {
	device := &fixed{depart: func(_ *PacketState, _ *Queued, out *Departure) { out.Add(out.Frame) }}
	for _, test := range []struct {
		fault string
		share float64
	}{{"every: 10", 0.1}, {"drop: 25%", 0.25}, {"every: 10, nodes: [s2]", 0.1}, {"every: 10, nodes: [s1]", 0}} {
		sink := &counter{}
		list, f := ran(t, lineUDP+"faults: [{at: 200ms, report_loss: {"+test.fault+"}}]\nreports: {delay: 3ms}\n",
			Options{Device: on("s2", device), Reports: sink}, time.Second)
		lost, numbers := 0, uint64(0)
		for _, r := range of[*truth.Report](list) {
			numbers++
			if r.Number != numbers || r.Packet == 0 || r.Flow != 1 || r.Length != 514 {
				t.Fatalf("%s: %+v", test.fault, *r)
			}
			if r.Lost {
				lost++
			}
		}
		s := f.Stats()
		if !near(lost, 0.8*perSecond*test.share) || s.ReportsLost != uint64(lost) || s.Reports != numbers ||
			uint64(sink.count) != numbers-uint64(lost) {
			t.Errorf("%s: %d of %d lost, stats %d of %d, sink %d", test.fault, lost, numbers, s.ReportsLost, s.Reports,
				sink.count)
		}
		if first := of[*truth.Report](list)[0]; sink.first != f.epochNs+uint64(first.TimeNs)+3e6 || sink.flushed == 0 {
			t.Errorf("%s: first report at %d", test.fault, sink.first)
		}
	}
}

// A counter is a Sink.
type counter struct {
	count, flushed int
	first          uint64
	err            error
}

func (c *counter) Report(atNs uint64, _ []byte) error {
	if c.count == 0 {
		c.first = atNs
	}
	c.count++
	return c.err
}

func (c *counter) Flush() error { c.flushed++; return nil }

func TestDDoS(t *testing.T) {
	list, f := ran(t, dumbbell(3, `
traffic: [{constant: {from: s1, to: r1}, rate: 2M, packet: 500}]
faults:
  - {at: 300ms, for: 600ms, ddos: {from: [s2, s3], to: r1, rate: 20M, packet: 1000, port: 53}}
  - {at: 500ms, for: 200ms, mitigate: {node: left, from: [10.0.1.0/24], to: [10.0.2.0/25], protocol: udp, port: 53}}
`), Options{}, time.Second)
	before, during := dropsBy(list, 0, 300e6), dropsBy(list, 520e6, 700e6)
	storm, after := dropsBy(list, 400e6, 500e6), dropsBy(list, 950e6, 1e9)
	const attack = 2 * 20e6 / (1038 * 8)
	if len(before)+len(after) != 0 || len(during) != 1 || !near(during["ingress acl_deny 1 seen=false"], 0.18*attack) ||
		storm["queue traffic_manager 1 seen=false"] < 100 {
		t.Errorf("drops before %v, in the storm %v, mitigated %v, after %v", before, storm, during, after)
	}
	attackers := 0
	for _, fl := range of[*truth.Flow](list) {
		if fl.Traffic == "faults[0] ddos" {
			attackers++
			if fl.DstPort != 53 || fl.StartNs != 300e6 || fl.EndNs != 900e6 || !fl.Finished ||
				!near(int(fl.PacketsSent), 0.6*attack/2) {
				t.Errorf("%+v", *fl)
			}
		} else if fl.PacketsDropped == 0 {
			t.Errorf("the attack does no harm: %+v", *fl)
		}
	}
	if attackers != 2 || len(f.names["left"].denies) != 0 {
		t.Errorf("%d attackers", attackers)
	}
	if r := of[*truth.Fault](list)[0]; len(r.Hosts) != 3 || r.Hosts[2] != "r1" {
		t.Errorf("%+v", *r)
	}
}

// A filter matches only what has all that it says.
func TestFilter(t *testing.T) {
	s := parseScenario(t, line+`
faults:
  - mitigate: {node: s1, from: [10.0.1.0/24, 10.9.0.0/16], to: [10.0.3.0/24], protocol: udp, port: 53}
  - mitigate: {node: s1, to: ["fd00:0:0:3::/64"]}
`)
	var h headers
	for _, test := range []struct {
		shape shape
		v6    bool
		want  [2]bool
	}{
		{shape{udp: true, port: 53}, false, [2]bool{true, false}},
		{shape{udp: true, port: 54}, false, [2]bool{false, false}},
		{shape{port: 53}, false, [2]bool{false, false}},
		{shape{port: 53}, true, [2]bool{false, true}},
	} {
		fl := flowOf(t, test.shape, test.v6)
		if !h.parse(fl.build(make([]byte, 0, 2000), &segment{}, 1)) {
			t.Fatal("cannot parse")
		}
		for i, want := range test.want {
			fl := newFilter(i, s.Faults[i].Mitigate)
			if got := fl.matches(&h, &PacketState{Protocol: h.protocol, DstPort: h.dstPort}); got != want {
				t.Errorf("%+v, filter %d: got %v", test.shape, i, got)
			}
		}
	}
}

// A fault that comes again does so at its interval.
func TestEvery(t *testing.T) {
	list, _ := ran(t, line+"faults: [{at: 100ms, for: 50ms, every: 300ms, gray_link: {link: [s1, s2], drop: 1%}}]\n",
		Options{}, time.Second)
	var got []int64
	for _, r := range of[*truth.Fault](list) {
		got = append(got, r.TimeNs/1e6)
	}
	if fmt.Sprint(got) != "[100 150 400 450 700 750 1000]" {
		t.Errorf("got %v", got)
	}
}
