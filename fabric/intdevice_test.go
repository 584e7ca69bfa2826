package fabric

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// intScenario is a small fabric with all kinds of packets, in which everything is reported and every hop is in the
// truth.
const intScenario = `
duration: 300ms
topology:
  leaf_spine:
    leaves: 3
    spines: 2
    hosts: 2
    host_link: {rate: 100M, delay: 2us}
    fabric_link: {rate: 100M, delay: 5us}
switch: {buffer: 60kB}
clocks: {offset: 5ms, drift: 50}
traffic:
  - {poisson: {load: 10%, sizes: 20kB}, ip: mixed}
  - {poisson: {load: 5%, sizes: 20kB}, transport: udp, rate: 5M, dscp: 46}
  - {poisson: {load: 5%, sizes: 20kB}, tunnel: vxlan, vni: 7, ip: mixed}
  - {poisson: {load: 5%, sizes: 20kB}, tunnel: geneve, vni: 9}
  - {incast: {senders: [h3, h4, h5, h6], to: h1, bytes: 40kB, every: 50ms}}
truth: {sample_packets: 1}
`

// A collector is a Sink that decodes the reports and keeps them.
type collector struct {
	t       *testing.T
	decoder *telemetry.Decoder
	reports []telemetry.Report
}

func newCollector(t *testing.T, points map[string]any) *collector {
	config := codepoint.New()
	if err := config.Apply(points); err != nil {
		t.Fatal(err)
	}
	if err := config.Set("dialects", map[string]any{"any": "waybill"}); err != nil { // so that units are known
		t.Fatal(err)
	}
	config.Compile()
	return &collector{t: t, decoder: telemetry.NewDecoder(config)}
}

func (c *collector) Report(_ uint64, frame []byte) error {
	d, ok := test.UDP(frame)
	if !ok {
		c.t.Fatalf("no UDP in %x", frame)
	}
	var batch telemetry.Batch
	var h telemetry.Header
	c.decoder.Decode(d.Payload, d.Src, 32766, &batch, &h)
	if h.Outcome != telemetry.Decoded {
		c.t.Fatalf("%v in %x", h.Reason, d.Payload)
	}
	c.reports = append(c.reports, batch.Reports...)
	return nil
}

func (*collector) Flush() error { return nil }

// A hopKey names the visit of a packet to a switch: no two packets leave a switch at the same moment by its clock.
type hopKey struct {
	node, out uint32
	ns        uint64
}

// What reports say of hops is what the truth says, to the nanosecond and byte, in every mode; and each hop of every
// reported packet is there.
func TestINTDevicesTellTheTruth(t *testing.T) {
	const watch = "  watch: [{report_all: true, instructions: [node_id, l1_interfaces, hop_latency, queue, ingress_ts, egress_ts, egress_tx_util, buffer]}]\n"
	for _, mode := range []struct {
		name, text string
		points     map[string]any
	}{
		{"md", "int:\n" + watch, map[string]any{"int_dscp": 0x17}},
		{"md in_stack", "int:\n  sink: in_stack\n" + watch, map[string]any{"int_dscp": 0x17}},
		{"md new-udp", "int:\n  carrier: new-udp\n" + watch, map[string]any{"int_udp_port": 17768}},
		{"md dst-port", "int:\n  carrier: dst-port\n" + watch, map[string]any{"int_udp_port": 17768}},
		{"mx", "int:\n  mode: mx\n" + watch, map[string]any{"int_dscp": 0x17}},
		{"xd", "int:\n  mode: xd\n" + watch, nil},
		{"xd coalesced", "int:\n  mode: xd\n  reports: {coalesce: 5ms, truncate: 200}\n" + watch, nil},
	} {
		t.Run(mode.name, func(t *testing.T) {
			s := parseScenario(t, intScenario+mode.text)
			device, err := INTDevices(s)
			if err != nil {
				t.Fatal(err)
			}
			c := newCollector(t, mode.points)
			list, f := ran(t, intScenario+mode.text, Options{Device: device, Reports: c}, 300*time.Millisecond)
			if n := f.Stats().Dropped[ReasonRefused] + f.Stats().Dropped[ReasonDiscarded]; n != 0 {
				t.Errorf("%d packets were damaged or discarded", n)
			}
			compareHops(t, list, c.reports)
			compareDrops(t, list, c.reports)
		})
	}
}

func compareHops(t *testing.T, list []truth.Record, reports []telemetry.Report) {
	t.Helper()
	hops := map[hopKey]*truth.Hop{}
	perPacket := map[uint64]int{}
	for _, h := range of[*truth.Hop](list) {
		hops[hopKey{h.Node, h.Out, h.OutClock}] = h
		perPacket[h.Packet]++
	}
	told := map[*truth.Hop]bool{}
	for i := range reports {
		r := &reports[i]
		if r.Is(telemetry.Dropped) || !r.Is(telemetry.Tracked) {
			continue
		}
		all := r.Hops
		if r.Local.Has&telemetry.HasEgressTime != 0 {
			all = append(all[:len(all):len(all)], r.Local)
		}
		packets := map[uint64]bool{}
		for j := range all {
			h := hops[hopKey{all[j].NodeID, all[j].EgressPort, all[j].EgressNs}]
			if h == nil {
				t.Fatalf("no such hop in the truth: %+v", all[j])
			}
			sameHop(t, &all[j], h)
			told[h] = true
			packets[h.Packet] = true
		}
		if len(packets) != 1 {
			t.Fatalf("a report of %d packets: %+v", len(packets), r)
		}
		for id := range packets {
			if n := perPacket[id]; r.Is(telemetry.Embedded) && n != len(all) {
				t.Fatalf("packet %d has %d hops, its report %d", id, n, len(all))
			}
		}
	}
	arrived := 0
	for _, p := range of[*truth.Path](list) {
		arrived += int(p.Packets) * len(p.Hops)
	}
	if len(told) < arrived {
		t.Errorf("%d hops reported, %d on the paths of packets that arrived", len(told), arrived)
	}
	t.Logf("%d reports, %d of %d hops", len(reports), len(told), len(hops))
}

func sameHop(t *testing.T, got *telemetry.Hop, want *truth.Hop) {
	t.Helper()
	const linkBps = 100e6
	share, known := got.Has.UtilizationUnit().Share(float64(got.TxUtil))
	switch {
	case got.IngressPort != want.In || got.EgressPort != want.Out,
		got.IngressNs != want.InClock || got.EgressNs != want.OutClock,
		got.LatencyNs != want.OutClock-want.InClock,
		got.QueueID != want.Queue || uint64(got.QueueOccupancy) != want.Depth,
		got.Has&telemetry.HasBuffer != 0 && uint64(got.BufferOccupancy) != want.Buffer,
		got.Has&telemetry.HasTxUtil != 0 && (!known || math.Abs(share-float64(want.Utilization)/linkBps) > 1e-4):
		t.Fatalf("got %+v\nwant %+v", *got, *want)
	}
}

// compareDrops holds drop reports against those drops that a device could see.
func compareDrops(t *testing.T, list []truth.Record, reports []telemetry.Report) {
	t.Helper()
	type place struct {
		node, in, out uint32
		queue, code   uint8
	}
	want := map[place]int{}
	seen := 0
	for _, d := range of[*truth.Drop](list) {
		if d.Seen {
			want[place{d.Node, d.In, d.Out, d.Queue, d.Code}]++
			seen++
		}
	}
	for i := range reports {
		if r := &reports[i]; r.Is(telemetry.Dropped) {
			l := &r.Local
			want[place{l.NodeID, l.IngressPort, l.EgressPort, l.QueueID, l.DropReason}]--
			if !r.Is(telemetry.HasFlow) {
				t.Errorf("a drop without flow: %+v", r)
			}
		}
	}
	for p, n := range want {
		if n != 0 {
			t.Errorf("%+v: %d drops more than reports", p, n)
		}
	}
	if seen == 0 {
		t.Error("nothing was dropped: the test shows less than it should")
	}
}

// With the defaults, which report events only, packets are as whole as without INT, and the same seed gives the same
// reports.
func TestINTDevicesDefaults(t *testing.T) {
	var runs [2][]telemetry.Report
	for i := range runs {
		s := parseScenario(t, everything)
		device, err := INTDevices(s, netip.MustParseAddrPort("192.0.2.9:8555"))
		if err != nil {
			t.Fatal(err)
		}
		c := newCollector(t, map[string]any{"int_dscp": 0x17})
		_, f := ran(t, everything, Options{Device: device, Reports: c}, 400*time.Millisecond)
		s2 := f.Stats()
		if d := s2.Dropped; d[ReasonRefused]+d[ReasonUnknown]+d[ReasonMTU]+d[ReasonDiscarded] != 0 {
			t.Errorf("packets were damaged: %v", s2.Dropped)
		}
		if s2.Sent != s2.Delivered+s2.Lost()+s2.InFlight {
			t.Errorf("packets are missing: %+v", s2)
		}
		runs[i] = c.reports
	}
	if len(runs[0]) == 0 || len(runs[0]) != len(runs[1]) {
		t.Errorf("got %d and %d reports", len(runs[0]), len(runs[1]))
	}
}

// Follow-up packets leave behind their packet, count apart, and do not reach a host.
func TestExtraFramesAreConserved(t *testing.T) {
	const text = intScenario +
		"int:\n  version: 2016\n  nodes: {spine1: {slow_path: true}, spine2: {slow_path: true}}\n"
	s := parseScenario(t, text)
	device, err := INTDevices(s)
	if err != nil {
		t.Fatal(err)
	}
	f := newFabric(t, text, Options{Device: device})
	for range 300 {
		run(t, f, f.Now()+time.Millisecond)
		s := f.Stats()
		if s.Sent+s.Copies != s.Delivered+s.Lost()+s.InFlight || present(f) != s.InFlight {
			t.Fatalf("at %v: %+v, %d present", f.Now(), s, present(f))
		}
	}
	s2 := f.Stats()
	if n := s2.Dropped[ReasonDiscarded]; n == 0 || n > s2.Copies || s2.Dropped[ReasonRefused] != 0 {
		t.Errorf("no follow-up packet was taken out at a sink: %v", s2.Dropped)
	}
}

func TestINTDevicesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"int: {mode: zz}\n":                              "mode: got \"zz\"",
		"int:\n  nodes: {nobody: {sink: in_stack}}":      "there is no switch \"nobody\"",
		"int: {version: \"2016\", carrier: vxlan-gpe}\n": "int: no traffic can carry it: want traffic[].tunnel: vxlan_gpe",
		"int: {version: \"2016\"}\n":                     "want traffic[].tunnel: geneve",
		"int: {mode: ioam}\n":                            "no traffic can carry it: want traffic[].ip: 6 or mixed",
		"int: {carrier: vxlan-gpe}\n":                    "want traffic[].tunnel: vxlan_gpe or vxlan",
	} {
		s := parseScenario(t, lineUDP+text)
		_, err := INTDevices(s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	s := parseScenario(t, lineUDP+"int:\n  sink: zz\n")
	want := fmt.Sprintf("line %d: sink", strings.Count(lineUDP, "\n")+2)
	if _, err := INTDevices(s); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want the line in the file", err)
	}
}

// A filter matches packets by what they are without INT, whatever carries it.
func TestFilterSeesThroughINT(t *testing.T) {
	for _, mode := range []string{
		"{}", "{carrier: new-udp}", "{carrier: dst-port}",
		"{domain: 0x5453, carrier: new-udp}", "{mode: xd}",
	} {
		text := dumbbell(2, `
traffic: [{constant: {from: s1, to: r1}, rate: 1M, packet: 500}]
faults:
  - {ddos: {from: [s2], to: r1, rate: 4M, packet: 500, port: 53}}
  - {at: 100ms, mitigate: {node: right, to: [10.0.2.0/25], protocol: udp, port: 53}}
`) + "int: " + mode + "\n"
		s := parseScenario(t, text)
		device, err := INTDevices(s)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		list, _ := ran(t, text, Options{Device: device}, 300*time.Millisecond)
		denied := 0
		for _, n := range dropsBy(list, 120e6, 300e6) {
			denied += n
		}
		const attack = 0.18 * 4e6 / (538 * 8)
		if float64(denied) < 0.8*attack || float64(denied) > 1.2*attack {
			t.Errorf("%s: %d packets dropped, want %.0f, all of the attack and nothing else", mode, denied, attack)
		}
	}
}
