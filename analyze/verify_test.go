package analyze

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/policy"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
)

// small is a fabric in which four flows cross a spine each way for 8 s.
const small = `
name: small
duration: 8s
topology:
  leaf_spine: {leaves: 2, spines: 1, hosts: 2, host_link: {rate: 100M}, fabric_link: {rate: 100M, mtu: 1500}}
traffic:
  - {constant: {from: h1, to: h3}, rate: 200k, packet: 1400, port: 6001}
  - {constant: {from: h2, to: h4}, rate: 200k, packet: 500, port: 6002, start: 1s, stop: 4s}
  - {constant: {from: h4, to: h1}, rate: 200k, packet: 500, port: 6003}
int:
  watch: [{report_all: true}]
`

// smallNodes is a policy that has all nodes of it.
const smallNodes = "nodes: [{id: 1, name: leaf1, ports: 1-3}, {id: 2, name: leaf2, ports: 1-3}, {id: 3, name: spine1, ports: 1-2}]\ninitial_ttls: 64\n"

// scenarioOf parses a scenario after replacing text in it.
func scenarioOf(t *testing.T, text string, changes ...string) *scenario.Scenario {
	t.Helper()
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("no %q in the scenario", changes[i])
		}
	}
	s, err := scenario.Parse("test.yaml", []byte(strings.NewReplacer(changes...).Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func policyOf(t *testing.T, text string) finding.Policy {
	t.Helper()
	if text == "" {
		return nil
	}
	p, err := policy.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What the emulated network does wrong is found, at the second at which it does, and nothing else is.
func TestVerification(t *testing.T) {
	const postcards = "watch: [{report_all: true}]\n  mode: xd"
	const noINT = "nodes: [{name: spine1, without_int: true}]\nint:"
	for _, c := range []struct {
		name    string
		changes []string
		policy  string
		want    string
	}{
		{name: "nothing", policy: smallNodes},
		{name: "what the policy wants", policy: smallNodes +
			"rules: [{waypoints: [spine1], max_hops: 3, paths: [[leaf1, spine1, leaf2], [leaf2, '*']]}]\n"},
		{
			name: "postcards", changes: []string{"watch: [{report_all: true}]", postcards},
			policy: smallNodes + "rules: [{waypoints: [spine1]}]\n",
		},
		{
			name: "hop limit", changes: []string{"watch:", "max_hops: 1\n  watch:"},
			policy: smallNodes + "rules: [{waypoints: [spine1]}]\n",
			want: `
0-8 warning hop_limit: packets meet more nodes than INT allows; metadata end at leaf1, seen by leaf2
0-8 warning hop_limit: packets meet more nodes than INT allows; metadata end at leaf2, seen by leaf1`,
		},
		{
			name: "mtu", changes: []string{"packet: 1400", "packet: 1450"}, policy: smallNodes,
			want: "0-8 warning mtu_exceeded: a node has no room to add its metadata; the latest are of leaf1, seen by leaf2",
		},
		{
			name: "spine without INT", changes: []string{"int:", noINT}, policy: smallNodes,
			want: `
0-8 warning hop_without_int: nodes between leaf1 and leaf2 add no metadata
0-8 warning hop_without_int: nodes between leaf2 and leaf1 add no metadata`,
		},
		{name: "spine without INT, initial TTL not known", changes: []string{"int:", noINT}},
		{
			name:    "spine without INT, postcards",
			changes: []string{"int:", noINT, "watch: [{report_all: true}]", postcards},
			want: `
1-8 warning hop_without_int: nodes between leaf1 and leaf2 add no metadata
1-8 warning hop_without_int: nodes between leaf2 and leaf1 add no metadata`, // postcards are joined after half a second
		},
		{
			name:    "spine forgets INT",
			changes: []string{"int:", "faults: [{at: 2s, for: 3s, no_int: {node: spine1}}]\nint:"}, policy: smallNodes,
			want: `
2-5 warning hop_without_int: nodes between leaf1 and leaf2 add no metadata
2-5 warning hop_without_int: nodes between leaf2 and leaf1 add no metadata`,
		},
		{
			name: "lost postcards", policy: smallNodes +
				"rules: [{waypoints: [leaf1, spine1, leaf2], dst: 10.0.2.0/24}]\n",
			changes: []string{
				"watch: [{report_all: true}]", postcards, "int:",
				"faults: [{report_loss: {nodes: [spine1, leaf2], every: 5}}]\nint:",
				"traffic:",
				"traffic:\n  - {poisson: {load: 2%, sizes: 200kB, from: [h1, h2], to: [h3, h4]}, transport: udp, rate: 1M, packet: 500, stop: 4s}",
			},
		},
		{
			name: "unexpected", policy: "nodes: [{id: 1, ports: [1, 2]}, {id: 2}]\n",
			want: `
0-8 warning unexpected_node: packets pass spine1, which is not in the policy
1-4 warning unexpected_node: packets pass port 3 of leaf1, which is not in the policy`,
		},
		{
			name:   "rules",
			policy: "rules:\n  - {name: a, dst_port: 6002, avoid: 3}\n  - {name: b, dst_port: 6001, waypoints: [9], max_hops: 2}\n  - {name: c, paths: [[1, '*']]}\n",
			want: `
0-8 critical waypoint_missed: b: flows go around node 9
0-8 warning path_not_allowed: b: flows pass more nodes than allowed, leaf2 is one too many
0-8 warning path_not_allowed: c: flows leave the allowed paths at leaf2
1-4 critical path_not_allowed: a: flows pass spine1, which they must avoid`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, v := range (emulation{policy: policyOf(t, c.policy)}).runShards(t,
				scenarioOf(t, small, c.changes...), 1, 3) {
				if got := foundBy(v.events()); sorted(got) != sorted(c.want) {
					t.Errorf("%d shards: got:\n%s\nwant:%s", len(v.Owners), got, c.want)
				}
				checkEvidence(t, v)
			}
		})
	}
}

// foundBy leaves the lines of events that are about paths, metadata and the policy.
func foundBy(events string) string {
	var b strings.Builder
	for line := range strings.Lines(events) {
		for _, kind := range []telemetry.EventKind{
			telemetry.EventHopLimit, telemetry.EventMTUExceeded, telemetry.EventHopWithoutINT, telemetry.EventMalformed,
			telemetry.EventUnexpectedNode, telemetry.EventPathNotAllowed, telemetry.EventWaypointMissed,
		} {
			if strings.Contains(line, kind.String()+":") {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// checkEvidence compares the bytes of each event with what it says: another decoder finds the flow in them.
func checkEvidence(t *testing.T, v *virtualCollector) {
	t.Helper()
	cfg := codepoint.New()
	if err := cfg.Set("int_dscp", 0x17); err != nil {
		t.Fatal(err)
	}
	cfg.Compile()
	list, _ := v.log.Events(nil, 1000)
	for i := range list {
		e := &list[i]
		switch e.Kind {
		case telemetry.EventHopLimit, telemetry.EventMTUExceeded, telemetry.EventHopWithoutINT,
			telemetry.EventUnexpectedNode, telemetry.EventPathNotAllowed, telemetry.EventWaypointMissed:
		default:
			continue
		}
		if e.Count == 0 || e.Flow == nil || len(e.Bytes) == 0 {
			t.Errorf("%s: count %d, flow %v, %d bytes", e.Text, e.Count, e.Flow, len(e.Bytes))
			continue
		}
		tree := dissect.Packet(e.Bytes, dissect.TelemetryReport, cfg)
		text := ""
		for _, l := range tree {
			for _, f := range l.Fields {
				text += fmt.Sprint(f.Value, " ")
			}
		}
		if !strings.Contains(text, e.Flow.Src.String()) || !strings.Contains(text, e.Flow.Dst.String()) {
			t.Errorf("%s: flow %v is not in %s", e.Text, e.Flow, text)
		}
	}
}

// A reroute around a failed link breaks a policy that wants the first spine, by the flows and for as long as the truth
// says.
func TestRerouteBreaksPolicy(t *testing.T) {
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios", "link-failure.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.INT.Text = []byte("watch: [{report_all: true}]\n")
	rules := "rules:\n"
	for port := 6001; port <= 6004; port++ {
		rules += fmt.Sprintf("  - {name: %d, dst_port: %d, waypoints: [5]}\n", port, port)
	}
	v := emulation{shards: 2, policy: policyOf(t, rules)}.runScenario(t, s)
	type around struct{ from, until time.Duration }
	want := map[string]around{} // rule: when its flow goes around spine1
	ports := map[uint64]string{}
	var paths []*truth.Path
	for _, r := range v.truth.List {
		switch r := r.(type) {
		case *truth.Flow:
			ports[uint64(r.Flow)] = fmt.Sprint(r.DstPort)
		case *truth.Path:
			paths = append(paths, r)
		}
	}
	for _, p := range paths {
		port := ports[uint64(p.Flow)]
		if port < "6001" || port > "6004" || len(port) != 4 ||
			slices.ContainsFunc(p.Hops, func(h truth.PathHop) bool { return h.Node == 5 }) {
			continue
		}
		a, ok := want[port]
		if !ok {
			a.from = time.Duration(p.FromNs)
		}
		a.from, a.until = min(a.from, time.Duration(p.FromNs)), max(a.until, time.Duration(p.UntilNs))
		want[port] = a
	}
	broken := 0
	list, _ := v.log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventWaypointMissed }, 100)
	for _, e := range list {
		a, ok := want[e.Rule]
		delete(want, e.Rule)
		from, until := e.Start.Sub(time.Unix(0, v.start)), e.End.Sub(time.Unix(0, v.start))
		if !ok || (from-a.from).Abs() > time.Second || (until-a.until).Abs() > time.Second || e.Count != 1 ||
			e.Name != "spine1" {
			t.Errorf("rule %s: got %v to %v, %d flows at %s; want %v to %v", e.Rule, from, until, e.Count, e.Name,
				a.from, a.until)
		}
		if !slices.Contains(e.PathNodes, "spine2") || e.Path == "" {
			t.Errorf("rule %s: got path %s %v", e.Rule, e.Path, e.PathNodes)
		}
		if a.from > 2*time.Second {
			broken++
		}
	}
	if len(want) > 0 || broken == 0 {
		t.Errorf("missed: %v; %d flows were rerouted", want, broken)
	}
	checkEvidence(t, v)
}

// What goes wrong in the scenarios that come with Waybill is not for this to find, even with a policy that lists their
// nodes.
func TestScenariosKeepPolicy(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	for name, duration := range map[string]time.Duration{
		"steady": 2 * time.Second, "gray-link": 3 * time.Second, "report-loss": 4 * time.Second, "incast": 0,
		"clock-skew":  3 * time.Second,
		"slow-switch": 3 * time.Second, "blackhole": 5 * time.Second, "microburst": 2 * time.Second,
		"polarisation": 2 * time.Second,
	} {
		s, err := scenario.Load(filepath.Join(test.Root(), "scenarios", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		s.INT.Text = []byte("watch: [{report_all: true}]\n")
		nodes := "initial_ttls: 64\nnodes:\n"
		for i, spec := range s.Graph.Switches {
			nodes += fmt.Sprintf("  - {id: %d, name: %s}\n", i+1, spec.Name)
		}
		if duration > time.Duration(s.Duration) {
			duration = 0
		}
		if got := foundBy(emulation{duration: duration, shards: 1, policy: policyOf(t, nodes)}.runScenario(t,
			s).events()); got != "" {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// Under more new flows than may be judged in a second, none is judged twice, and those that were not are judged later.
func TestJudgementsAreBounded(t *testing.T) {
	config := DefaultConfig()
	config.Policy = policyOf(t, "nodes: [{id: 99}]\n")
	s := NewShard(config)
	collector := &Collector{Owners: []Owner{s}}
	log := eventlog.New(100)
	scanner := NewScanner(collector, log)
	decoder := telemetry.NewDecoder(reportPoints(t))
	var batch telemetry.Batch
	var h telemetry.Header
	all := func(nowNs int64) {
		for i := range uint32(finding.JudgedPerScan + 1000) {
			batch.Reset()
			decoder.Decode(test.Report(test.Form20MD, i, i, 1), netip.MustParseAddrPort("192.0.2.1:1"), 8555, &batch,
				&h)
			s.Process(&batch, nowNs)
		}
	}
	scanner.Scan(second)
	all(second)
	if n := collector.Counters(); n.JudgementsPostponed != 1000 {
		t.Errorf("%d were postponed, want 1000", n.JudgementsPostponed)
	}
	scanner.Scan(2 * second)
	all(2 * second)
	scanner.Scan(3 * second)
	if n := collector.Counters(); n.JudgementsPostponed != 1000 {
		t.Errorf("%d were postponed, want 1000", n.JudgementsPostponed)
	}
	list, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventUnexpectedNode }, 100)
	if len(list) != 1 || list[0].Count != finding.JudgedPerScan+1000 {
		t.Errorf("got %+v", list)
	}
}

func reportPoints(t *testing.T) *codepoint.Config {
	t.Helper()
	_, c := rulesShard(t)
	return c
}

// Datagrams that break rules are told by exporter and reason, with the first that did, and what they count is what was
// sent.
func TestBrokenDatagramsAreEvents(t *testing.T) {
	exporters := ledger.NewExporters(10)
	collector := &Collector{Exporters: []*ledger.Exporters{exporters}}
	collector.Configure(Configured{Names: map[uint32]string{3: "leaf3"}})
	log := eventlog.New(100)
	scanner := NewScanner(collector, log)
	decoder := telemetry.NewDecoder(reportPoints(t))
	send := func(payload []byte, from string, nowNs int64) {
		var batch telemetry.Batch
		var h telemetry.Header
		decoder.Decode(payload, netip.MustParseAddrPort(from), 8555, &batch, &h)
		exporters.Observe([]telemetry.Header{h}, nowNs)
		clear(payload) // the receiver reads into it again
	}
	scanner.Scan(second)
	cut := test.Report(test.Form20MD, 1, 7, 3)[:60]
	for range 3 {
		send(slices.Clone(cut), "192.0.2.1:9", second+1)
	}
	send([]byte{0xf0, 1, 2, 3}, "192.0.2.2:9", second+1)
	send(test.Report(test.Form20MD, 1, 8, 3), "192.0.2.1:9", second+1)
	for now := 2 * second; now < 9*second; now += second {
		scanner.Scan(now)
	}
	list, _ := log.Events(nil, 10)
	if len(list) != 2 {
		t.Fatalf("got %d events: %+v", len(list), list)
	}
	for _, e := range list {
		want := telemetry.Event{
			Count: 1, Source: "192.0.2.2", ReasonName: "unknown_version",
			Bytes: telemetry.Hex{0xf0, 1, 2, 3},
		}
		if e.Source == "192.0.2.1" {
			want = telemetry.Event{
				Count: 3, Source: "192.0.2.1", ReasonName: "report_length_overrun", Bytes: cut,
				Name: "leaf3",
			}
		}
		if e.Kind != telemetry.EventMalformed || e.Count != want.Count || e.Source != want.Source ||
			e.ReasonName != want.ReasonName || !slices.Equal(e.Bytes, want.Bytes) || e.Name != want.Name ||
			e.End == nil {
			t.Errorf("got %+v\nwant %+v", e, want)
		}
	}
	for _, x := range collector.ExporterList() {
		if n := len(x.Malformed) + len(x.Damaged); len(x.Samples) != n {
			t.Errorf("%v: %d samples, %d reasons", x.Source, len(x.Samples), n)
		}
	}
}

// Forged reports fill the table of findings, which is counted, and do not hide for long what is really wrong.
func TestForgedReportsDoNotHideFindings(t *testing.T) {
	config := DefaultConfig()
	config.Policy = policyOf(t, "nodes: [{id: 1}, {id: 2}]\n")
	s := NewShard(config)
	collector := &Collector{Owners: []Owner{s}}
	log := eventlog.New(8192)
	scanner := NewScanner(collector, log)
	report := func(flow, node uint32, nowNs int64) {
		r := telemetry.Report{
			Flow:  telemetry.FlowKey{Protocol: 17, Dst: telemetry.Addr{Lo: uint64(flow)}},
			Flags: telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded,
		}
		r.Hops = []telemetry.Hop{{NodeID: node, Has: telemetry.HasNode}}
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, nowNs)
	}
	scanner.Scan(second)
	for i := range uint32(2 * finding.MaxFindings) {
		report(i, 1000+i, second)
	}
	report(1<<20, 7, second)
	if n := collector.Counters().FindingsOverflow; n != finding.MaxFindings+1 {
		t.Errorf("%d findings have no place, want %d", n, finding.MaxFindings+1)
	}
	scanner.Scan(2 * second)
	report(0, 1000, 2*second+1) // of a flow that was judged before the table began anew
	report(1<<20, 7, 2*second+1)
	scanner.Scan(3 * second)
	list, _ := log.Events(func(e *telemetry.Event) bool {
		return e.Kind == telemetry.EventUnexpectedNode && (*e.Node == 7 || *e.Node == 1000)
	}, 10)
	if len(list) != 2 {
		t.Errorf("got %+v", list)
	}
}

// Each vector that breaks a rule is an event of that rule, with its bytes; those of INT stand in a report.
func TestBadVectorsAreEvents(t *testing.T) {
	broken := 0
	for _, v := range slices.Concat(test.Vectors(t, "bad_*"), test.Vectors(t, "tr20*")) {
		payload, points := v.Bytes, v.Points(t)
		switch {
		case v.StartsAt == "telemetry_report":
		case v.StartsAt == "int_shim_l4_v2":
			payload, points = reportOfShim(v.Bytes), reportPoints(t)
		default:
			continue
		}
		exporters := ledger.NewExporters(10)
		log := eventlog.New(10)
		scanner := NewScanner(&Collector{Exporters: []*ledger.Exporters{exporters}}, log)
		var batch telemetry.Batch
		var h telemetry.Header
		scanner.Scan(second)
		telemetry.NewDecoder(points).Decode(payload, netip.MustParseAddrPort("192.0.2.1:9"), 8555, &batch, &h)
		exporters.Observe([]telemetry.Header{h}, second+1)
		scanner.Scan(2 * second)
		list, _ := log.Events(nil, 10)
		expect, _ := v.Expect.(map[string]any)
		want, _ := expect["error"].(string)
		// in a report, which may be cut, its 13 words for records of 2 come first
		if v.Name == "bad_int21_length_overrun" {
			want = "stack_not_multiple"
		}
		if want == "" {
			if len(list) > 0 {
				t.Errorf("%s: got %s", v.Name, list[0].Text)
			}
			continue
		}
		broken++
		if len(list) != 1 || list[0].ReasonName != want || list[0].Count != 1 || !slices.Equal(list[0].Bytes, payload) {
			t.Errorf("%s: got %+v, want %s", v.Name, list, want)
		}
	}
	if broken < 15 {
		t.Errorf("%d vectors are broken: that proves little", broken)
	}
}

// reportOfShim puts an INT shim and what follows it into a report of version 2.0, behind Ethernet, IPv4 and UDP.
func reportOfShim(shim []byte) []byte {
	const ethernet = 8 + 4 // behind group and report header
	b := append(test.Report(test.Form20MD, 1, 1, 1)[:ethernet+14+20+8], shim...)
	binary.BigEndian.PutUint16(b[ethernet+14+2:], uint16(len(b)-ethernet-14))
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	b[8+1] = byte((len(b) - ethernet) / 4)
	return b
}

// A flow that arrived is judged by what arrives, whatever of it is dropped meanwhile, with other TTLs.
func TestDroppedAreNotJudgedAgain(t *testing.T) {
	s := NewShard(DefaultConfig())
	s.SetPolicy(policyOf(t, "rules: [{name: short, max_hops: 1}]\n"))
	hop := func(node uint32, more telemetry.Fields) telemetry.Hop {
		return telemetry.Hop{NodeID: node, EgressPort: 1, Has: telemetry.HasNode | telemetry.HasEgressPort | more}
	}
	report := func(ttl uint8, flags telemetry.Flags, hops ...telemetry.Hop) telemetry.Report {
		return telemetry.Report{
			Flags: telemetry.HasFlow | telemetry.Embedded | flags, Flow: telemetry.FlowKey{SrcPort: 1}, TTL: ttl,
			Hops: hops,
		}
	}
	for i := range int64(5) {
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{
			report(62, telemetry.Tracked, hop(1, 0), hop(2, 0), hop(3, 0)),
			report(63, telemetry.Dropped, hop(1, 0), hop(2, telemetry.HasDrop)),
		}}, (1000+i)*second)
	}
	if list := s.Observe(1005*second, 0).Findings; len(list) != 1 || list[0].Count != 1 {
		t.Errorf("found %+v, want one flow", list)
	}
}
