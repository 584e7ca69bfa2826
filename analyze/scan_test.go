package analyze

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A virtualCollector takes the reports of an emulated network at the virtual time at which they are sent.
type virtualCollector struct {
	Collector
	decoder *telemetry.Decoder
	scanner *scan.Scanner
	log     *eventlog.Log
	bursts  *burst.Log
	batch   telemetry.Batch
	one     telemetry.Batch
	header  [1]telemetry.Header
	start   int64
	next    int64 // scan
	truth   test.Records
	look    func(*virtualCollector)
}

// burstAbove and burstBelow are the thresholds that the truth of a scenario has by default.
const burstAbove, burstBelow = 30_000, 15_000

// emulate runs a scenario for a time, with INT-MD, and returns what was found. A burst is what the truth calls one.
func emulate(t *testing.T, name string, duration time.Duration, shards int) *virtualCollector {
	t.Helper()
	return emulation{duration: duration, shards: shards}.run(t, name)
}

// everyPacket is a configuration of INT nodes with which the way of every packet is known.
const everyPacket = "watch: [{report_all: true}]\n"

// An emulation says how a scenario is run.
type emulation struct {
	duration   time.Duration // 0: as long as the scenario says
	shards     int
	apart      bool                     // they are asked as if they were in another process
	seed       uint64                   // 0: that of the scenario
	autoBursts bool                     // what a burst is follows from the past of each queue
	nodes      string                   // configuration of INT nodes; "": everyPacket
	change     func(*scenario.Scenario) // of the scenario; nil: none
	policy     finding.Policy           // nil: none
	attacks    *attack.Config           // nil: nobody looks for any
	sample     telemetry.SampleRate     // that is configured for all nodes; 0: none
	look       func(*virtualCollector)  // called before each scan; nil: nobody looks
	begin      func(*fabric.Fabric)     // gets the network before it runs; nil: nobody wants it
	hop        func(*truth.Hop) bool    // gets what each packet met: does the truth have it? nil: nobody wants it
}

// keepHop is for emulation.hop.
func keepHop(*truth.Hop) bool { return true }

// load returns a scenario in which nodes report every packet.
func load(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.INT.Text = []byte(everyPacket)
	return s
}

func (e emulation) run(t *testing.T, name string) *virtualCollector {
	t.Helper()
	s := load(t, name)
	s.INT.Text = []byte(cmp.Or(e.nodes, everyPacket))
	if e.change != nil {
		e.change(s)
	}
	return e.runScenario(t, s)
}

// runScenario is run for a scenario that may not be in a file.
func (e emulation) runScenario(t *testing.T, s *scenario.Scenario) *virtualCollector {
	t.Helper()
	return e.runShards(t, s, e.shards)[0]
}

// runShards is runScenario for several collectors of the same reports, which differ in the number of their shards.
func (e emulation) runShards(t *testing.T, s *scenario.Scenario, shards ...int) collectors {
	t.Helper()
	if e.seed > 0 {
		s.Seed = scenario.Count(e.seed)
	}
	if e.duration == 0 {
		e.duration = time.Duration(s.Duration)
	}
	var all collectors
	for _, e.shards = range shards {
		all = append(all, e.collector(t, s))
	}
	all[0].truth.Keep = func(r truth.Record) bool {
		h, ok := r.(*truth.Hop)
		return !ok || e.hop != nil && e.hop(h)
	}
	e.send(t, s, all, &all[0].truth)
	for _, v := range all {
		v.truth = all[0].truth
		v.advance(v.start + int64(e.duration) + 5*scan.ScanNs) // until what happened at the end is over
	}
	return all
}

// collectors are a fabric.Sink that gives each report to all of them.
type collectors []*virtualCollector

// Report implements fabric.Sink.
func (c collectors) Report(atNs uint64, frame []byte) error {
	for _, v := range c {
		if err := v.Report(atNs, frame); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements fabric.Sink.
func (c collectors) Flush() error { return nil }

// collector returns a collector for the reports of a scenario.
func (e emulation) collector(t *testing.T, s *scenario.Scenario) *virtualCollector {
	t.Helper()
	config, err := node.Load(s.INT.Text)
	if err != nil {
		t.Fatal(err)
	}
	c := codepoint.New()
	if c.Points, err = config.CodePoints(); err != nil {
		t.Fatal(err)
	}
	if err := c.Set("dialects", map[string]any{"any": cmp.Or(string(config.Dialect), "waybill")}); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	v := &virtualCollector{
		decoder: telemetry.NewDecoder(c), log: eventlog.New(1000), bursts: burst.NewLog(16 << 20),
		start: int64(s.Start), look: e.look,
	}
	names := map[uint32]string{}
	for i, spec := range s.Graph.Switches {
		names[uint32(i+1)] = spec.Name
	}
	v.Configure(Configured{Names: names})
	v.Exporters = []*ledger.Exporters{ledger.NewExporters(100)}
	for range e.shards {
		shard := NewShard(DefaultConfig())
		owner := Owner(shard)
		if e.apart {
			owner = newApart(shard)
		}
		if e.policy != nil {
			owner.SetPolicy(e.policy)
		}
		v.Owners = append(v.Owners, owner)
	}
	v.scanner = NewScanner(&v.Collector, v.log)
	if !e.autoBursts {
		config := burst.ConfigFor(16 << 20)
		config.AboveBytes, config.BelowBytes, config.MaxFlows = burstAbove, burstBelow, 1<<20
		v.scanner.KeepBursts(config, v.bursts)
	} else {
		v.scanner.KeepBursts(burst.ConfigFor(16<<20), v.bursts)
	}
	if e.sample > 1 {
		sampling := map[uint32]telemetry.SampleRate{}
		for node := range v.Names() {
			sampling[node] = e.sample
		}
		v.Configure(Configured{Names: v.Names(), Sampling: sampling})
	}
	if e.attacks != nil {
		v.scanner.FindAttacks(*e.attacks, nil, 0)
	}
	v.scanner.Scan(v.start)
	v.next = v.start + scan.TickNs
	return v
}

// send runs a scenario and gives its reports to a sink.
func (e emulation) send(t *testing.T, s *scenario.Scenario, sink fabric.Sink, truth io.Writer) {
	t.Helper()
	device, err := fabric.INTDevices(s, netip.MustParseAddrPort("192.0.2.1:8555"))
	if err != nil {
		t.Fatal(err)
	}
	s.Truth.SamplePackets, s.Truth.BurstAbove, s.Truth.BurstBelow = 0, burstAbove, burstBelow
	if e.hop != nil {
		s.Truth.SamplePackets = 1
	}
	f, err := fabric.New(s, fabric.Options{Device: device, Reports: sink, Truth: truth})
	if err != nil {
		t.Fatal(err)
	}
	if e.begin != nil {
		e.begin(f)
	}
	if err := f.Run(t.Context(), e.duration); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func (v *virtualCollector) advance(nowNs int64) {
	for ; v.next <= nowNs; v.next += scan.TickNs {
		for _, shard := range v.Owners {
			shard.Tick(v.next)
		}
		if v.look != nil {
			v.look(v)
		}
		v.scanner.Scan(v.next)
	}
}

// Report implements fabric.Sink.
func (v *virtualCollector) Report(atNs uint64, frame []byte) error {
	v.advance(int64(atNs))
	d, _ := test.UDP(frame)
	v.take(int64(atNs), d)
	return nil
}

// take takes a report datagram.
func (v *virtualCollector) take(atNs int64, d test.Datagram) {
	v.batch.Reset()
	v.decoder.Decode(d.Payload, d.Src, d.DstPort, &v.batch, &v.header[0])
	v.batch.Attribute(v.Exporters[0].Observe(v.header[:], atNs), v.header[:])
	for i := range v.batch.Reports {
		r := &v.batch.Reports[i]
		owner := v.Owners[r.Flow.ShardOf(len(v.Owners))]
		v.one.Reset()
		v.one.Origin = v.batch.Origin
		v.one.Add(&v.batch.Reports[i])
		owner.(processor).Process(&v.one, atNs) // which says whether it wants datagrams
	}
}

// Flush implements fabric.Sink.
func (v *virtualCollector) Flush() error { return nil }

// events writes the events as text, times in seconds since the start.
func (v *virtualCollector) events() string {
	list, _ := v.log.Events(func(e *telemetry.Event) bool {
		return e.Kind != telemetry.EventMicroburst && e.Kind != telemetry.EventIncast &&
			e.Kind != telemetry.EventNewFlow
	}, 1000)
	slices.Reverse(list)
	var b bytes.Buffer
	for _, e := range list {
		end := "goes on"
		if e.End != nil {
			end = fmt.Sprintf("%.0f", e.End.Sub(time.Unix(0, v.start)).Seconds())
		}
		fmt.Fprintf(&b, "%.0f-%s %s %s: %s\n", e.Start.Sub(time.Unix(0, v.start)).Seconds(), end, e.Severity, e.Kind,
			e.Text)
	}
	return b.String()
}

// The faults of scenarios become the events that their comments name, at the second at which they happen, and nothing
// else does. One scenario in three has its turn.
func TestScenariosYieldEvents(t *testing.T) {
	chosen, all := test.Seed(t)
	for i, test := range []struct {
		scenario string
		duration time.Duration
		want     string
	}{ // in an order in which each turn has one of those that take long: steady, all-reduce, demo
		{scenario: "steady", duration: 4 * time.Second},
		{scenario: "clock-skew", want: `
2-3 warning clock_jump: the clock of spine1 jumped ahead by 3.19ms ± 239µs`},
		{scenario: "slow-switch", want: `
2-4 warning latency_anomaly: packets that meet no queue stay in spine1 for 501µs, 626 times as long as usual (800ns)`},
		{scenario: "microburst"},
		{scenario: "gray-link", want: `
2-6 critical gray_failure: packets are lost between leaf2 and spine1, and no node says why; 1.8 % of those to spine1; 2 % of those to leaf2; seen by TCP, which sent them again
`},
		{scenario: "link-failure", want: `
2-2 critical drop_storm: drop storm at spine1 port 1: 48 packets, egress link down
2-2 critical drop_storm: drop storm at leaf1 port 1: 50 packets, egress link down
2-5 warning link_lost: no traffic spine1 -> leaf1; both nodes still report
2-5 warning link_lost: no traffic leaf1 -> spine1; both nodes still report
2-2 info path_change: flows leave leaf2 by port 2 and no longer by port 1; the old link still carries others: a reroute
2-2 info path_change: flows leave leaf1 by port 2 and no longer by port 1; the old link is down: a failure
5-5 info path_change: flows leave leaf2 by port 1 and no longer by port 2; the old link still carries others: a reroute
5-5 info path_change: flows leave leaf1 by port 1 and no longer by port 2; the old link still carries others: a reroute`},
		{scenario: "report-loss", want: `
1-3 warning report_loss: leaf1: reports were lost on the way here
1-3 warning report_loss: leaf2: reports were lost on the way here`},
		{scenario: "ddos", want: `
3-6 critical drop_storm: drop storm at core port 3: 4,130 packets, queue full
6-12 warning drop_storm: drop storm at agg1: 16,728 packets, acl deny
6-12 warning drop_storm: drop storm at agg2: 5,576 packets, acl deny`},
		{scenario: "blackhole", want: `
2-4 critical blackhole: all packets of some flows to 10.0.3.0/29 are dropped at spine2: routing_miss
2-4 critical drop_storm: drop storm at spine2: 496 packets, no route`},
		{scenario: "incast", want: `
0-5 critical drop_storm: drop storm at leaf1 port 3: 1,368 packets, queue full`},
		{scenario: "all-reduce"},
		{scenario: "demo", duration: 62 * time.Second, want: `
20-20 critical drop_storm: drop storm at spine1 port 1: 45 packets, egress link down
20-20 critical drop_storm: drop storm at leaf1 port 1: 72 packets, egress link down
20-28 warning link_lost: no traffic spine1 -> leaf1; both nodes still report
20-28 warning link_lost: no traffic leaf1 -> spine1; both nodes still report
21-21 info path_change: flows leave leaf1 by port 2 and no longer by port 1; the old link is down: a failure
29-29 info path_change: flows leave leaf1 by port 1 and no longer by port 2; the old link still carries others: a reroute
34-42 critical gray_failure: packets are lost between leaf2 and spine1, and no node says why; 2.5 % of those to spine1; 3.8 % of those to leaf2; seen by TCP, which sent them again
49-53 critical drop_storm: drop storm at leaf1 port 6: 4,913 packets, queue full`},
	} {
		if raceDetector && test.scenario != "link-failure" {
			continue // races do not depend on the scenario
		}
		if !all && (uint64(i)+chosen)%3 > 0 && !raceDetector {
			continue
		}
		t.Run(test.scenario, func(t *testing.T) {
			// in several there are the same
			for _, v := range (emulation{duration: test.duration}).runShards(t, load(t, test.scenario), 1, 3) {
				if got := v.events(); sorted(got) != sorted(test.want) {
					t.Errorf("%d shards: got:\n%s\nwant:%s", len(v.Owners), got, test.want)
				}
			}
		})
	}
}

// Packets in a loop are told by the nodes that they came to twice: in one stack, or by postcards with other TTLs.
func TestLoopIsAnEvent(t *testing.T) {
	for _, nodes := range []string{everyPacket, postcards, everyPacket + "mode: mx\n"} {
		v := emulation{shards: 1, nodes: nodes}.run(t, "loop")
		names := map[string]bool{}
		for _, e := range v.eventsOf(telemetry.EventLoop) {
			// the first packets go round until their TTL is used up, and the last ones leave a queue
			waits := 20 * millisecond
			if nodes == postcards {
				waits = 500 * millisecond
			}
			from, to := e.Start.UnixNano()-v.start, e.End.UnixNano()-v.start
			if max(from-2000*millisecond, 2000*millisecond-from) > waits ||
				max(to-3000*millisecond, 3000*millisecond-to) > waits || e.Severity != telemetry.Critical ||
				e.Count == 0 || e.Path == "" {
				t.Errorf("%q: from %d to %d: %+v", nodes, from, to, e)
			}
			names[e.Name] = true
		}
		if len(names) != 2 || !names["leaf1"] || !names["spine1"] {
			t.Errorf("%q: got loops at %v, want leaf1 and spine1", nodes, names)
		}
		for _, e := range v.eventsOf(telemetry.EventLinkLost) {
			t.Errorf("%q: made up: %s", nodes, e.Text)
		}
	}
}

// sorted returns the lines of text in order: events that begin in the same second have none.
func sorted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// The bursts of the reports are those that the queues had: none is missing, none is made up, and start, end and peak
// are right.
func TestBurstsOfReports(t *testing.T) {
	if raceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	for _, name := range []string{"incast", "microburst", "demo"} {
		t.Run(name, func(t *testing.T) {
			v := emulate(t, name, map[string]time.Duration{"demo": 18 * time.Second}[name], 2)
			type burst struct {
				node, port uint32
				queue      uint8
				startNs    int64
			}
			want := map[burst]*truth.Burst{}
			flows := map[uint32]string{}
			clocks := map[uint32]func(int64) int64{} // by which switches report
			for _, r := range v.truth.List {
				switch r := r.(type) {
				case *truth.Flow:
					flows[r.Flow] = truthEnds(r)
				case *truth.Switch:
					clocks[r.Node] = func(ns int64) int64 { return ns + r.OffsetNs + ns/1e3*r.DriftPPB/1e6 }
				case *truth.Burst:
					if r.StartNs, r.EndNs = clocks[r.Node](r.StartNs), clocks[r.Node](r.EndNs); !r.Open {
						want[burst{r.Node, r.Port, r.Queue, r.StartNs}] = r
					}
				}
			}
			list, _ := v.log.Events(func(e *telemetry.Event) bool { return e.Queue != nil }, 1000)
			if len(want) < 10 {
				t.Errorf("only %d bursts: that proves little", len(want))
			}
			for _, e := range list {
				at := burst{*e.Node, *e.Port, *e.Queue, e.Start.UnixNano() - v.start}
				b := near(want, func(k burst) int64 {
					if k.node != at.node || k.port != at.port || k.queue != at.queue {
						return 1 << 40
					}
					return k.startNs - at.startNs
				})
				if b == nil {
					t.Errorf("no such burst: %+v %s", at, e.Text)
					continue
				}
				if off := e.End.UnixNano() - v.start - b.EndNs; off < -10_000 || off > 10_000 {
					t.Errorf("%+v: ends %d ns from where it did", at, off)
				}
				checkDetail(t, v, &e, b, flows)
				if e.Evidence[0].Value != float64(b.Peak) {
					t.Errorf("%+v: got a peak of %v bytes, want %d", at, e.Evidence[0].Value, b.Peak)
				}
			}
			for k, b := range want {
				t.Errorf("missed: %+v, for %d ns, %d bytes", k, b.EndNs-b.StartNs, b.Peak)
			}
		})
	}
}

// truthEnds returns the ends of the innermost packet of a flow.
func truthEnds(f *truth.Flow) string {
	if f.Inner != nil {
		return fmt.Sprintln(f.Inner.Src, f.Inner.SrcPort, f.Inner.Dst, f.Inner.DstPort)
	}
	return fmt.Sprintln(f.Src, f.SrcPort, f.Dst, f.DstPort)
}

// checkDetail fails unless the details of the burst of an event are those of b: packets, bytes and drops of the burst,
// and bytes of each flow, which is named by its addresses and ports.
func checkDetail(t *testing.T, v *virtualCollector, e *telemetry.Event, b *truth.Burst, flows map[uint32]string) {
	t.Helper()
	d, found := v.bursts.Burst(e.ID)
	if !found || !d.Start.Equal(e.Start) || !d.End.Equal(*e.End) || *d.PeakBytes != b.Peak || d.Packets != b.Packets ||
		d.Bytes != b.Bytes || d.Drops != b.Drops {
		t.Errorf("%s: got %d packets, %d bytes, %d dropped; want %d, %d, %d", e.ID, d.Packets, d.Bytes, d.Drops,
			b.Packets, b.Bytes, b.Drops)
		return
	}
	want, got := map[string]uint64{}, map[string]uint64{}
	for _, f := range b.Flows {
		if f.Bytes > 0 {
			want[flows[f.Flow]] += f.Bytes
		}
	}
	take := func(f *telemetry.Endpoints, bytes uint64) {
		if f == nil {
			t.Errorf("%s: a flow without a name", e.ID)
		} else if bytes > 0 {
			got[fmt.Sprintln(f.Src, f.SrcPort, f.Dst, f.DstPort)] += bytes
		}
	}
	for _, c := range d.Culprits {
		take(c.Flow, c.Bytes)
	}
	for _, c := range d.Victims {
		take(c.Flow, c.Bytes)
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: flows are\n%v, want\n%v", e.ID, got, want)
	}
}

// near takes the element out of m whose distance is the least, if that is at most 10 us.
func near[K comparable, V any](m map[K]V, distance func(K) int64) (v V) {
	for k, candidate := range m {
		if d := distance(k); d >= -10_000 && d <= 10_000 {
			delete(m, k)
			return candidate
		}
	}
	return v
}
