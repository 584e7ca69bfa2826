package analyze

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// deviceIDs lets sources say which device a packet comes from, as Transparent Security does.
const deviceIDs = "domain: 0x5453\nds_instruction: 0x8000\nds_flags: 0x4000\n"

// attackLimits are those of the network of accessNetwork.
func attackLimits() attack.Config {
	c := attack.DefaultConfig()
	c.Floor = attack.Limit{BPS: 4e6, PPS: 1500}
	c.Learn, c.EndAfter = 2*time.Second, 3*time.Second
	return c
}

// servers of accessNetwork; those of the carpet are in one /24, all others in others.
var servers = map[string]string{
	"udp": "192.0.2.1", "syn": "192.0.3.1", "mirror": "192.0.4.1", "few": "192.0.5.1", "pulse": "192.0.6.1",
	"shop": "192.0.7.1", "slow": "192.0.8.1", "forged": "192.0.9.1", "files": "192.0.10.1", "stream": "192.0.11.1",
}

const carpetHosts = 12

// accessNetwork is a network of customers: gateways with ten devices each, two aggregates and a core with servers.
func accessNetwork(gateways int, traffic, faults string) string {
	var b strings.Builder
	b.WriteString("name: access\nduration: 30s\ntopology:\n  graph:\n    switches:\n")
	for g := range gateways {
		fmt.Fprintf(&b, "      - {name: gw%d, role: gateway}\n", g+1)
	}
	b.WriteString("      - {name: agg1}\n      - {name: agg2}\n      - {name: core}\n    links:\n")
	for g := range gateways {
		fmt.Fprintf(&b, "      - {between: [gw%d, agg%d], rate: 100M, delay: 1ms}\n", g+1, g%2+1)
	}
	b.WriteString("      - {between: [agg1, core], rate: 4G, delay: 1ms}\n")
	b.WriteString("      - {between: [agg2, core], rate: 4G, delay: 1ms}\n")
	b.WriteString("    hosts:\n")
	for g := range gateways {
		for d := range 10 {
			fmt.Fprintf(&b, "      - {name: %s, at: gw%d, link: {rate: 50M}}\n", deviceName(10*g+d), g+1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		fmt.Fprintf(&b, "      - {name: %s, at: core, address: %s, link: {rate: 1G}}\n", name, servers[name])
	}
	for i := range carpetHosts {
		fmt.Fprintf(&b, "      - {name: c%d, at: core, address: 192.0.20.%d, link: {rate: 1G}}\n", i, i+1)
	}
	b.WriteString("traffic:\n" + traffic + "faults:\n" + faults)
	return b.String()
}

func deviceName(n int) string { return fmt.Sprintf("d%d", n) }

// devicesFrom names n devices, as a list of YAML, each step-th from one on.
func devicesFrom(first, n, step int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = deviceName(first + i*step)
	}
	return strings.Join(names, ", ")
}

// allAttacks are a fault of each kind, at times of which some are the same, and traffic that is none.
// Rates are as many times those of attackLimits as times says.
func allAttacks(gateways, times int) string {
	n := 10 * gateways
	each := func(total float64, devices int) string {
		return fmt.Sprintf("%.0fk", float64(times)*total/float64(devices)/1000)
	}
	traffic := fmt.Sprintf(`
  - {poisson: {load: 0.02%%, sizes: 20kB, from: [%[1]s], to: [udp, syn, shop]}, port: 443}
  - {poisson: {load: %[3]d%%, sizes: 30kB, from: [%[1]s], to: [shop]}, start: 12s, stop: 16s, port: 443}
  - {constant: {from: files, to: d3}, transport: tcp, start: 6s, stop: 9s, port: 5001}
  - {constant: {from: d7, to: stream}, rate: %[2]dM, packet: 1000, start: 17s, stop: 20s, port: 5002}
`, devicesFrom(0, 20, n/20), 8*min(times, 5), 3*times)
	var b strings.Builder
	fault := func(at, lasts string, devices string, to, rate, more string) {
		fmt.Fprintf(&b, "  - {at: %s, for: %s, ddos: {from: [%s], to: %s, rate: %s, packet: 500%s}}\n", at, lasts,
			devices, to, rate, more)
	}
	fault("3.13s", "3s", devicesFrom(0, n/5, 5), "udp", each(8e6, n/5), ", port: 53")
	fault("3.4s", "4s", devicesFrom(1, n/10, 10), "syn", each(2e6, n/10), ", port: 443, send: syn")
	fault("8.25s", "3s", devicesFrom(2, 10, n/10), "mirror", each(10e6, 10), ", port: 4444, send: reflection")
	fault("9s", "3s", devicesFrom(3, 10, n/10), "few", each(2e6, 10), ", port: 80")
	for _, at := range []string{"10s", "11.5s", "13s", "14.5s"} {
		fault(at, "700ms", devicesFrom(4, 20, n/20), "pulse", each(12e6, 20), ", port: 27")
	}
	fault("13.07s", "3s", devicesFrom(0, n, 1), "slow", each(8e6, n), ", port: 8080")
	fault("17.5s", "3s", devicesFrom(5, 10, n/10), "forged", each(10e6, 10), ", port: 80, spoof: true")
	for i := range carpetHosts {
		fault("21.2s", "3s", devicesFrom(i%5, 10, n/10), fmt.Sprintf("c%d", i), each(0.8e6, 10), ", port: 9")
	}
	return accessNetwork(gateways, traffic, b.String())
}

// A trueAttack is what the truth says of an attack.
type trueAttack struct {
	target         string
	kind           telemetry.AttackKind
	beginNs, endNs int64
	devices        map[string]uint64 // bytes
}

// floods returns the attacks that the truth has, by their target: those of carpetHosts are one, as are pulses.
func (v *virtualCollector) floods() map[string]*trueAttack {
	all := map[string]*trueAttack{}
	macs, byAddress := map[string]string{}, map[string]string{}
	for _, r := range v.truth.List {
		if h, ok := r.(*truth.Host); ok {
			macs[h.Name], byAddress[h.Address] = h.MAC, h.MAC
		}
	}
	kinds := map[string]telemetry.AttackKind{
		servers["syn"]: telemetry.AttackSYN, servers["mirror"]: telemetry.AttackReflection,
		"192.0.20.0": telemetry.AttackCarpet,
	}
	for _, r := range v.truth.List {
		f, ok := r.(*truth.Flow)
		if !ok || !strings.HasSuffix(f.Traffic, "ddos") || f.Dst == servers["few"] {
			continue
		}
		target := f.Dst
		if strings.HasPrefix(target, "192.0.20.") {
			target = "192.0.20.0"
		}
		a := all[target]
		if a == nil {
			kind := kinds[target]
			if kind == 0 {
				kind = telemetry.AttackUDP
			}
			a = &trueAttack{target: target, kind: kind, beginNs: f.StartNs, devices: map[string]uint64{}}
			all[target] = a
		}
		a.beginNs, a.endNs = min(a.beginNs, f.StartNs), max(a.endNs, f.EndNs)
		a.devices[byAddress[f.Src]] += max(f.Bytes, f.PacketsSent)
	}
	return all
}

// attackAccuracy is how well attacks were found.
type attackAccuracy struct {
	found, right, wanted      int
	devices, rightly, accused uint64 // that flood; that were accused and do; that were accused
	bytes, rightBytes         uint64
	latestTold                time.Duration // behind the begin
	beginOff, packetsOff      float64       // s; share
	missed, made, wrong       []string
}

func share(part, whole uint64) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// findAttacks runs a scenario and compares what was found with the truth.
func findAttacks(t *testing.T, s *scenario.Scenario, seed uint64, sample int, c attack.Config,
) (*virtualCollector, *attackAccuracy) {
	t.Helper()
	s.INT.Text = []byte(deviceIDs + "watch: [{report_all: true}]\n")
	if sample > 1 {
		s.INT.Text = []byte(deviceIDs + fmt.Sprintf("watch: [{report_all: true, sample: %d}]\n", sample))
	}
	told := map[string]int64{} // by target, when it was told that there is an attack
	e := emulation{shards: 2, seed: seed, attacks: &c, sample: telemetry.SampleRate(sample)}
	e.look = func(v *virtualCollector) {
		for _, a := range v.attackRecords() {
			if target := a.Target.String(); told[target] == 0 && a.Kind != telemetry.AttackSurge {
				told[target] = v.next - TickNs - v.start
			}
		}
	}
	v := e.runScenario(t, s)
	sum := &attackAccuracy{}
	want := v.floods()
	seen := map[string]bool{}
	for _, a := range v.attackRecords() {
		if a.Kind == telemetry.AttackSurge {
			continue
		}
		sum.found++
		target := a.Target.String()
		f := want[target]
		if f == nil || seen[target] {
			sum.made = append(sum.made, fmt.Sprintf("%v %s", a.Begin, a.Text))
			continue
		}
		seen[target] = true
		sum.right++
		if a.Kind != f.kind {
			sum.wrong = append(sum.wrong, fmt.Sprintf("%s is a %v, want %v", a.Text, a.Kind, f.kind))
		}
		late := time.Duration(told[target] - f.beginNs)
		sum.latestTold = max(sum.latestTold, late)
		sum.beginOff = max(sum.beginOff, math.Abs(float64(a.Begin.UnixNano()-v.start-f.beginNs)/1e9))
		var packets uint64
		for _, r := range v.truth.List {
			if fl, ok := r.(*truth.Flow); ok && strings.HasSuffix(fl.Traffic, "ddos") &&
				(fl.Dst == target || target == "192.0.20.0" && strings.HasPrefix(fl.Dst, "192.0.20.")) {
				packets += fl.PacketsSent
			}
		}
		sum.packetsOff = max(sum.packetsOff, math.Abs(float64(a.Packets)/float64(packets)-1))
		for device, bytes := range f.devices {
			sum.devices++
			sum.bytes += bytes
			if slices.ContainsFunc(a.Devices, func(s telemetry.AttackSource) bool { return s.Device == device }) {
				sum.rightly++
				sum.rightBytes += bytes
			}
		}
		sum.accused += uint64(len(a.Devices))
		t.Logf("%s: told after %v, began %.3f s off; packets %d of %d; devices %d of %d; %v", a.Text, late,
			float64(a.Begin.UnixNano()-v.start-f.beginNs)/1e9, a.Packets, packets, len(a.Devices), len(f.devices),
			a.Evidence)
	}
	for target, f := range want {
		if sum.wanted++; !seen[target] {
			sum.missed = append(sum.missed, fmt.Sprintf("%v of %s at %.1f s", f.kind, target, float64(f.beginNs)/1e9))
		}
	}
	return v, sum
}

// attackRecords returns the attacks of the log.
func (v *virtualCollector) attackRecords() (list []*telemetry.Attack) {
	events, _ := v.log.Events(isAttack, 1000)
	for i := range events {
		list = append(list, events[i].Attack)
	}
	return list
}

// Attacks are found when they begin, as what they are, with the devices that send them; a crowd, a download and a
// stream are none.
func TestAttacks(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	s, err := scenario.Parse("access", []byte(allAttacks(20, 1)))
	if err != nil {
		t.Fatal(err)
	}
	v, a := findAttacks(t, s, 0, 1, attackLimits())
	t.Logf("%+v", *a)
	if a.found != a.wanted || a.right != a.wanted || a.wanted != 7 {
		t.Errorf("missed %v, made up %v", a.missed, a.made)
	}
	if len(a.wrong) > 0 {
		t.Errorf("%v", a.wrong)
	}
	if a.latestTold > time.Second || a.beginOff > 0.25 || a.packetsOff > 0.02 {
		t.Errorf("told after %v, begin %.3f s off, packets %.3f off", a.latestTold, a.beginOff, a.packetsOff)
	}
	if share(a.rightly, a.accused) < 0.99 || share(a.rightly, a.devices) < 0.95 ||
		share(a.rightBytes, a.bytes) < 0.99 {
		t.Errorf("of %d devices %d were found, and %d were accused", a.devices, a.rightly, a.accused)
	}
	var surges []string
	for _, r := range v.attackRecords() {
		if r.Kind == telemetry.AttackSurge {
			surges = append(surges, r.Target.String())
		}
		if r.State != telemetry.AttackEnded || r.End == nil {
			t.Errorf("goes on: %s", r.Text)
		}
	}
	slices.Sort(surges)
	if want := []string{servers["stream"], servers["shop"]}; !slices.Equal(surges, want) {
		t.Errorf("surges towards %v, want %v", surges, want)
	}
}

// sampledTimes is how many times there is more where 1 packet in 100 is reported: of a device of which nothing is
// reported nobody knows.
const sampledTimes = 10

// Where 1 packet in 100 is reported, attacks are found within three seconds, and what they send is known as exactly as
// is told.
func TestAttacksSampled(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	s, err := scenario.Parse("access", []byte(allAttacks(20, sampledTimes)))
	if err != nil {
		t.Fatal(err)
	}
	c := attackLimits()
	c.Floor = attack.Limit{BPS: sampledTimes * c.Floor.BPS, PPS: sampledTimes * c.Floor.PPS}
	_, a := findAttacks(t, s, 0, 100, c)
	t.Logf("%+v", *a)
	if share(uint64(a.right), uint64(a.wanted)) < 0.95 || share(uint64(a.right), uint64(a.found)) < 0.95 ||
		a.wanted != 7 {
		t.Errorf("missed %v, made up %v", a.missed, a.made)
	}
	if a.latestTold > 3*time.Second || share(a.rightBytes, a.bytes) < 0.9 {
		t.Errorf("told after %v, devices with %d of %d bytes", a.latestTold, a.rightBytes, a.bytes)
	}
}

// Filters that drop an attack make it mitigated, not over: it is over when nothing of it comes any more, to the target
// or to a filter. What filters drop is counted packet by packet, and what they drop of others apart.
func TestAttackMitigated(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	var states []string
	c := attackLimits()
	e := emulation{shards: 2, nodes: deviceIDs + everyPacket, attacks: &c, look: func(v *virtualCollector) {
		for _, a := range v.attackRecords() {
			now := fmt.Sprintf("%v at %.0f", a.State, float64(v.next-TickNs-v.start)/1e9)
			if n := len(states); n == 0 || strings.Fields(states[n-1])[0] != a.State.String() {
				states = append(states, now)
			}
		}
	}}
	v := e.run(t, "ddos")
	if want := []string{"active at 4", "mitigated at 7", "ended at 15"}; !slices.Equal(states, want) {
		t.Errorf("got %v, want %v", states, want)
	}
	records := v.attackRecords()
	if len(records) != 1 {
		t.Fatalf("got %d attacks, want one", len(records))
	}
	a := records[0]
	want := v.floods()["192.0.2.80"]
	for _, s := range a.Devices {
		if want.devices[s.Device] == 0 {
			t.Errorf("%s is innocent", s.Device)
		}
		delete(want.devices, s.Device)
		if s.Share < 0.2 || s.Share > 0.3 || s.Node == nil || s.Path == "" || s.Filtered == 0 {
			t.Errorf("%+v", s)
		}
	}
	if len(want.devices) > 0 || len(a.Gateways) != 3 {
		t.Errorf("missing %v; got %d gateways, want 3", want.devices, len(a.Gateways))
	}
	var filtered, full uint64
	byNode := map[uint32]uint64{}
	for _, r := range v.truth.List {
		switch d, ok := r.(*truth.Drop); {
		case ok && d.Reason == "acl_deny":
			filtered++
			byNode[d.Node]++
		case ok:
			full++
		}
	}
	if a.FilteredPackets != filtered || len(a.Filters) != len(byNode) || a.Collateral != 0 {
		t.Errorf("filters dropped %d by %v and %d of others, want %d by %v and none", a.FilteredPackets, a.Filters,
			a.Collateral, filtered, byNode)
	}
	if a.Lost == 0 || a.Lost > full {
		t.Errorf("%d packets to the target were lost otherwise, want %d at most", a.Lost, full)
	}
	if a.Effectiveness == nil || *a.Effectiveness < 0.99 {
		t.Errorf("got an effectiveness of %v", a.Effectiveness)
	}
	from, to := a.Begin.UnixNano()-v.start-3e9, a.End.UnixNano()-v.start-12e9
	if from < -1e8 || from > 1e8 || to < -3e8 || to > 3e8 {
		t.Errorf("from %v to %v, want 3 s to 12 s", a.Begin, a.End)
	}
	t.Log(a.Text)
}

// What an attack is can change while one goes on: it is one from then on, as what was usual is known.
func TestAttacksReconfigured(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	c := attackLimits()
	c.Floor.BPS, c.Floor.PPS = 1e12, 0
	begun := 0.0
	e := emulation{shards: 2, nodes: deviceIDs + everyPacket, attacks: &c, duration: 6 * time.Second}
	e.look = func(v *virtualCollector) {
		at := float64(v.next-TickNs-v.start) / 1e9
		if at > 5 {
			v.scanner.ConfigureAttacks(attackLimits())
		}
		if begun == 0 && len(v.attackRecords()) > 0 {
			begun = at
		}
	}
	e.run(t, "ddos")
	if begun < 5 || begun > 6 {
		t.Errorf("an attack is told at %v s, want 5 to 6", begun)
	}
}

// The text of an attack counts the gateways by which it comes, and not those by which a few packets of others do.
func TestAttackTextCountsGateways(t *testing.T) {
	r := telemetry.Attack{
		Kind: telemetry.AttackUDP, Target: netip.MustParseAddr("192.0.2.80"), PeakBPS: 16_100_000,
		Gateways: []telemetry.AttackSource{{Share: 0.6}, {Share: 0.3997}, {Share: 0.0003}},
	}
	if got := attackText(&r); got != "udp flood of 192.0.2.80 by way of 2 gateways, at most 16.1 Mbit/s" {
		t.Errorf("got %s", got)
	}
	r.DevicesTotal = 1
	if got := attackText(&r); got != "udp flood of 192.0.2.80 by 1 device behind 2 gateways, at most 16.1 Mbit/s" {
		t.Errorf("got %s", got)
	}
}
