package analyze

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// deviceIDs lets sources say which device a packet comes from, as Transparent Security does.
const deviceIDs = "domain: 0x5453\nds_instruction: 0x8000\nds_flags: 0x4000\n"

// attackLimits are those of an access network.
func attackLimits() attack.Config {
	c := attack.DefaultConfig()
	c.Floor = attack.Limit{BPS: 4e6, PPS: 1500}
	c.Learn, c.EndAfter = 2*time.Second, 3*time.Second
	return c
}

// servers of an access network; those of the carpet are in one /24, all others in others.
var servers = map[string]string{
	"udp": "192.0.2.1", "syn": "192.0.3.1", "mirror": "192.0.4.1", "few": "192.0.5.1", "pulse": "192.0.6.1",
	"shop": "192.0.7.1", "slow": "192.0.8.1", "forged": "192.0.9.1", "files": "192.0.10.1", "stream": "192.0.11.1",
	"ping": "192.0.12.1", "fragments": "192.0.13.1", "speed": "192.0.14.1", "backup": "192.0.15.1",
	"live": "192.0.16.1",
}

const carpetHosts = 12

// An access is a network of customers: gateways with ten devices each, two aggregates and a core with servers. times is
// how many times there is more of everything, links too; each device that floods sends at least so many packets a
// second.
type access struct{ gateways, times, packets int }

func (n access) scenario(traffic, faults string) string {
	var b strings.Builder
	b.WriteString("name: access\nduration: 30s\ntopology:\n  graph:\n    switches:\n")
	for g := range n.gateways {
		fmt.Fprintf(&b, "      - {name: gw%d, role: gateway}\n", g+1)
	}
	b.WriteString("      - {name: agg1}\n      - {name: agg2}\n      - {name: core}\n    links:\n")
	link := func(between string, mbps int) {
		fmt.Fprintf(&b, "      - {between: [%s], rate: %dM, delay: 1ms}\n", between, mbps*n.times)
	}
	for g := range n.gateways {
		link(fmt.Sprintf("gw%d, agg%d", g+1, g%2+1), 100)
	}
	link("agg1, core", 4000)
	link("agg2, core", 4000)
	b.WriteString("    hosts:\n")
	for g := range n.gateways {
		for d := range 10 {
			fmt.Fprintf(&b, "      - {name: %s, at: gw%d, link: {rate: %dM}}\n", deviceName(10*g+d), g+1, 8*n.times)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		fmt.Fprintf(&b, "      - {name: %s, at: core, address: %s, link: {rate: %dM}}\n", name, servers[name],
			1000*n.times)
	}
	for i := range carpetHosts {
		fmt.Fprintf(&b, "      - {name: c%d, at: core, address: 192.0.20.%d, link: {rate: %dM}}\n", i, i+1,
			1000*n.times)
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

// attacks is the scenario with a flood of each kind, at times of which some are the same, and traffic that is none: a
// flash crowd, a download, a camera, a speed test, a backup of all homes and a premiere. Rates are as many times those
// of attackLimits as times says.
func (n access) attacks() string {
	devices := 10 * n.gateways
	each := func(total float64, devices int) string {
		bps := max(float64(n.times)*total/float64(devices), float64(n.packets)*8*500)
		return fmt.Sprintf("%.0fk", bps/1000)
	}
	var traffic, faults strings.Builder
	fmt.Fprintf(&traffic, `
  - {poisson: {load: 0.1%%, sizes: 20kB, from: [%[1]s], to: [udp, syn, shop]}, port: 443}
  - {poisson: {load: 6%%, sizes: 30kB, from: [%[1]s], to: [shop]}, start: 12s, stop: 16s, port: 443}
  - {constant: {from: files, to: d3}, transport: tcp, start: 6s, stop: 9s, port: 5001}
  - {constant: {from: d7, to: stream}, rate: %[2]dM, packet: 1000, start: 17s, stop: 20s, port: 5002}
`, devicesFrom(0, 20, devices/20), 6*n.times)
	talk := func(from, to, more string) {
		fmt.Fprintf(&traffic, "  - {constant: {from: %s, to: %s}, %s}\n", from, to, more)
	}
	for range 6 { // connections of a speed test, down and up
		talk("speed", "d9", "transport: tcp, start: 8s, stop: 10s, port: 8080")
		talk("d9", "speed", "transport: tcp, start: 10s, stop: 11500ms, port: 8080")
	}
	for i := range 12 {
		talk(deviceName(i*devices/20+6), "backup", "transport: tcp, start: 20s, stop: 20600ms, port: 873")
	}
	for i := range 10 { // all homes behind a gateway see it
		talk("live", deviceName(20+i), "rate: "+each(8e6, 10)+", packet: 1200, start: 24s, stop: 27s, port: 5004")
	}
	fault := func(at, lasts string, devices string, to, rate, more string) {
		fmt.Fprintf(&faults, "  - {at: %s, for: %s, ddos: {from: [%s], to: %s, rate: %s, packet: 500%s}}\n", at, lasts,
			devices, to, rate, more)
	}
	tenth := devices / 10
	fault("3.13s", "3s", devicesFrom(0, devices/5, 5), "udp", each(8e6, devices/5), ", port: 53")
	fault("3.4s", "4s", devicesFrom(1, tenth, 10), "syn", each(2e6, tenth), ", port: 443, send: syn")
	fault("5.2s", "3s", devicesFrom(6, tenth, 10), "fragments", each(9e6, tenth), ", send: fragments")
	fault("8.25s", "3s", devicesFrom(2, 10, tenth), "mirror", each(10e6, 10), ", port: 4444, send: reflection")
	fault("9s", "3s", devicesFrom(3, 10, tenth), "few", each(2e6, 10), ", port: 80")
	for _, at := range []string{"10s", "11.5s", "13s", "14.5s"} {
		fault(at, "700ms", devicesFrom(4, 20, devices/20), "pulse", each(12e6, 20), ", port: 27")
	}
	fault("13.07s", "3s", devicesFrom(0, devices, 1), "slow", each(8e6, devices), ", port: 8080")
	fault("17.5s", "3s", devicesFrom(5, 10, tenth), "forged", each(10e6, 10), ", port: 80, spoof: true")
	for i := range carpetHosts {
		fault("21.2s", "3s", devicesFrom(i%5, 10, tenth), fmt.Sprintf("c%d", i), each(0.8e6, 10), ", port: 9")
	}
	fault("22.4s", "3s", devicesFrom(7, tenth, 10), "ping", each(9e6, tenth), ", send: icmp")
	return n.scenario(traffic.String(), faults.String())
}

// A trueAttack is what the truth says of an attack.
type trueAttack struct {
	target         string
	kind           telemetry.AttackKind
	beginNs, endNs int64
	packets        uint64
	devices        map[string]uint64 // bytes
	gateways       map[uint32]uint64
}

// floods returns the attacks that the truth has, by their target: those of carpetHosts are one, as are pulses.
func (v *virtualCollector) floods() map[string]*trueAttack {
	all := map[string]*trueAttack{}
	hosts := map[string]*truth.Host{}
	for _, r := range v.truth.List {
		if h, ok := r.(*truth.Host); ok {
			hosts[h.Address] = h
		}
	}
	kinds := map[string]telemetry.AttackKind{
		servers["syn"]: telemetry.AttackSYN, servers["mirror"]: telemetry.AttackReflection,
		servers["ping"]: telemetry.AttackICMP, servers["fragments"]: telemetry.AttackFragments,
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
			a = &trueAttack{
				target: target, kind: kind, beginNs: f.StartNs, devices: map[string]uint64{},
				gateways: map[uint32]uint64{},
			}
			all[target] = a
		}
		a.beginNs, a.endNs = min(a.beginNs, f.StartNs), max(a.endNs, f.EndNs)
		a.packets += f.PacketsSent
		a.devices[hosts[f.Src].MAC] += f.PacketsSent
		a.gateways[hosts[f.Src].Node] += f.PacketsSent
	}
	return all
}

// attackAccuracy is how well attacks were found.
type attackAccuracy struct {
	found, right, wanted      int
	devices, rightly, accused uint64        // that flood; that were accused and do; that were accused
	packets, rightPackets     uint64        // of these; all are of the same size
	atGateways                uint64        // packets that are said to come by the gateway that they come by
	latestTold                time.Duration // behind the begin
	beginOff, packetsOff      float64       // s; share
	wrong                     []string
}

func (a *attackAccuracy) add(o *attackAccuracy) {
	a.found, a.right, a.wanted = a.found+o.found, a.right+o.right, a.wanted+o.wanted
	a.devices, a.rightly, a.accused = a.devices+o.devices, a.rightly+o.rightly, a.accused+o.accused
	a.packets, a.rightPackets = a.packets+o.packets, a.rightPackets+o.rightPackets
	a.atGateways += o.atGateways
	a.latestTold = max(a.latestTold, o.latestTold)
	a.beginOff, a.packetsOff = max(a.beginOff, o.beginOff), max(a.packetsOff, o.packetsOff)
	a.wrong = append(a.wrong, o.wrong...)
}

func share[T uint64 | int](part, whole T) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// String is a line of the table in docs/explanation/accuracy.md.
func (a *attackAccuracy) String() string {
	percent := func(part, whole uint64) string { return fmt.Sprintf("%.4g %%", 100*share(part, whole)) }
	return fmt.Sprintf("| %d of %d | %d | %.2f s | %.0f ms | %.2g %% | %s | %s | %s of %d |", a.right, a.wanted,
		a.found-a.right, a.latestTold.Seconds(), 1000*a.beginOff, 100*a.packetsOff, percent(a.rightly, a.devices),
		percent(a.rightPackets, a.packets), percent(a.rightly, a.accused), a.accused)
}

// An attackRun is a way of reporting attacks, and how well they must be found by it.
type attackRun struct {
	name   string
	nodes  string
	times  int // see access
	sample int
	kinds  int // of attacks that can be seen

	// packets a second of a device: of one of which nothing is reported nobody knows.
	packets int

	attacks, accused, devices, bytes, gateways float64 // shares, at least

	told, begin time.Duration // off, at most
}

// attackRuns are stacks in packets with a UDP header of their own, which ICMP has room for and fragments have not, and
// postcards, which tell no devices.
var attackRuns = []attackRun{
	{
		name: "1:1", nodes: deviceIDs + "carrier: new-udp\n", times: 1, sample: 1, kinds: 8,
		attacks: 1, accused: 0.99, devices: 0.95, bytes: 0.99, gateways: 0.99, told: time.Second, begin: quarter,
	},
	{
		name: "1:100", nodes: deviceIDs + "carrier: new-udp\n", times: 10, sample: 100, kinds: 8, packets: 130,
		attacks: 0.95, accused: 0.99, bytes: 0.9, gateways: 0.9, told: 3 * time.Second, begin: 2 * quarter,
	},
	{
		name: "1:1, postcards", nodes: "mode: xd\n", times: 1, sample: 1, kinds: 9,
		attacks: 1, accused: 1, gateways: 0.99, told: time.Second, begin: quarter,
	},
	{
		name: "1:1000", nodes: deviceIDs + "carrier: new-udp\n", times: 100, sample: 1000, kinds: 8,
		attacks: 0.95, accused: 0.99, told: 3 * time.Second, begin: 2 * quarter,
	},
}

const quarter = 250 * time.Millisecond

// find runs a scenario and compares what was found with the truth.
func (r *attackRun) find(t *testing.T, gateways int, seed uint64) *attackAccuracy {
	t.Helper()
	s, err := scenario.Parse("access", []byte(access{gateways, r.times, r.packets}.attacks()))
	if err != nil {
		t.Fatal(err)
	}
	s.INT.Text = []byte(r.nodes + fmt.Sprintf("watch: [{report_all: true, sample: %d}]\n", r.sample))
	c := attackLimits()
	c.Floor = attack.Limit{BPS: uint64(r.times) * c.Floor.BPS, PPS: uint64(r.times) * c.Floor.PPS}
	told := map[string]int64{} // by target, when it was told that there is an attack
	e := emulation{shards: 2, seed: seed + 1, attacks: &c, sample: telemetry.SampleRate(r.sample)}
	e.look = func(v *virtualCollector) {
		for _, a := range v.attackRecords() {
			if target := a.Target.String(); told[target] == 0 && a.Kind != telemetry.AttackSurge {
				told[target] = v.next - scan.TickNs - v.start
			}
		}
	}
	v := e.runScenario(t, s)
	sum := &attackAccuracy{}
	want := v.floods()
	if len(want) > r.kinds {
		delete(want, servers["fragments"])
	}
	sum.wanted = len(want)
	if sum.wanted != r.kinds {
		t.Fatalf("the truth has %d attacks, want %d", sum.wanted, r.kinds)
	}
	surges := map[string]bool{}
	for _, a := range v.attackRecords() {
		if a.State != telemetry.AttackEnded || a.End == nil {
			t.Errorf("goes on: %s", a.Text)
		}
		target := a.Target.String()
		if a.Kind == telemetry.AttackSurge {
			surges[target] = true
			continue
		}
		sum.found++
		f := want[target]
		if f == nil {
			sum.wrong = append(sum.wrong, fmt.Sprintf("made up at %.1f s: %s; %v",
				float64(a.Begin.UnixNano()-v.start)/1e9, a.Text, a.Evidence))
			continue
		}
		delete(want, target)
		// A sink alone sees the packets of its target; postcards come from all nodes on the way.
		postcards := len(a.Devices) == 0
		for _, of := range [][]telemetry.AttackSource{a.Devices, a.Addresses} {
			for i := range of {
				if of[i].OneExporter == postcards {
					t.Errorf("%s: source %d is told by one exporter: %v", a.Text, i, postcards)
				}
			}
		}
		one := v.compare(a, f)
		one.latestTold = time.Duration(told[target] - f.beginNs)
		sum.add(&one)
		t.Logf("%s: %+v", a.Text, one)
	}
	for target, f := range want {
		sum.wrong = append(sum.wrong, fmt.Sprintf("missed: %v of %s at %.1f s", f.kind, target,
			float64(f.beginNs)/1e9))
	}
	for _, name := range []string{"shop", "stream"} {
		if !surges[servers[name]] {
			sum.wrong = append(sum.wrong, "no surge towards "+name)
		}
	}
	return sum
}

// compare compares an attack with the one that it is.
func (v *virtualCollector) compare(a *telemetry.Attack, f *trueAttack) (one attackAccuracy) {
	one.right = 1
	if a.Kind != f.kind {
		one.wrong = append(one.wrong, fmt.Sprintf("%s is a %v, want %v", a.Text, a.Kind, f.kind))
	}
	one.beginOff = math.Abs(float64(a.Begin.UnixNano()-v.start-f.beginNs) / 1e9)
	one.packetsOff = math.Abs(float64(a.Packets)/float64(f.packets) - 1)
	isNamed := map[string]bool{}
	for i := range a.Devices {
		isNamed[a.Devices[i].Device] = true
	}
	for device, packets := range f.devices {
		one.devices++
		one.packets += packets
		if isNamed[device] {
			one.rightly++
			one.rightPackets += packets
		}
	}
	one.accused = uint64(len(a.Devices))
	for i := range a.Gateways {
		if node := a.Gateways[i].Node; node != nil && f.gateways[*node] > 0 {
			one.atGateways += f.gateways[*node]
		}
	}
	return one
}

// check fails if attacks were not found as well as they must be.
func (r *attackRun) check(t *testing.T, a *attackAccuracy) {
	t.Helper()
	t.Logf("| %s %v", r.name, a)
	if share(a.right, a.wanted) < r.attacks || share(a.right, a.found) < r.attacks ||
		len(a.wrong) > 0 && r.attacks == 1 {
		t.Errorf("%s: %v", r.name, strings.Join(a.wrong, "\n"))
	}
	if a.latestTold > r.told || a.beginOff > r.begin.Seconds() {
		t.Errorf("%s: told after %v, begin %.3f s off", r.name, a.latestTold, a.beginOff)
	}
	if share(a.rightly, a.accused) < r.accused || share(a.rightly, a.devices) < r.devices ||
		share(a.rightPackets, a.packets) < r.bytes || share(a.atGateways, a.packets) < r.gateways {
		t.Errorf("%s: of %d devices %d were found, and %d were accused; gateways with %d of %d packets", r.name,
			a.devices, a.rightly, a.accused, a.atGateways, a.packets)
	}
}

// attackRecords returns the attacks of the log.
func (v *virtualCollector) attackRecords() (list []*telemetry.Attack) {
	events, _ := v.log.Events(scan.IsAttack, 1000)
	for i := range events {
		list = append(list, events[i].Attack)
	}
	return list
}

// Attacks are found when they begin, as what they are, with the devices that send them; a crowd, a download, a camera,
// a speed test, a backup and a premiere are none. With all seeds the network is ten times as large.
func TestAttacks(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	seed, all := test.Seed(t)
	for i := range attackRuns {
		r := &attackRuns[i]
		switch {
		case all:
			t.Run(r.name, func(t *testing.T) {
				var sum attackAccuracy
				for seed := range uint64(10) {
					sum.add(r.find(t, 200, seed))
				}
				r.check(t, &sum)
			})
		case i == 0 || uint64(i) == 1+seed%2:
			r.check(t, r.find(t, 20, seed%10))
		}
	}
}

// Filters that drop an attack make it mitigated, not over: it is over when nothing of it comes any more, to the target
// or to a filter. What filters drop is counted packet by packet, and what they drop of others apart. Postcards tell the
// same but for the devices: nodes in front of a filter tell of the packets that it drops.
func TestAttackMitigated(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	t.Run("stacks", func(t *testing.T) { checkMitigated(t, deviceIDs+everyPacket, 4) })
	t.Run("postcards", func(t *testing.T) { checkMitigated(t, "mode: xd\nwatch: [{report_all: true}]\n", 0) })
}

func checkMitigated(t *testing.T, nodes string, devices int) {
	t.Helper()
	var states []string
	c := attackLimits()
	e := emulation{shards: 2, nodes: nodes, attacks: &c, look: func(v *virtualCollector) {
		for _, a := range v.attackRecords() {
			now := fmt.Sprintf("%v at %.0f", a.State, float64(v.next-scan.TickNs-v.start)/1e9)
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
	if len(a.Devices) != devices {
		t.Errorf("got %d devices, want %d", len(a.Devices), devices)
	}
	for _, s := range a.Devices {
		if want.devices[s.Device] == 0 {
			t.Errorf("%s is innocent", s.Device)
		}
		delete(want.devices, s.Device)
		if s.Share < 0.2 || s.Share > 0.3 || s.Node == nil || s.Path == "" || s.Filtered == 0 {
			t.Errorf("%+v", s)
		}
	}
	if devices > 0 && len(want.devices) > 0 || len(a.Gateways) != 3 {
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
		at := float64(v.next-scan.TickNs-v.start) / 1e9
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

// Where nodes have rates of their own, a packet stands for as many as that of its source says, whoever tells of it
// first and whether somebody looks before all have told.
func TestAttackPostcardsOfNodesWithRates(t *testing.T) {
	s := NewShard(DefaultConfig())
	s.attacks.sampling = map[uint32]telemetry.SampleRate{1: 10, 2: 100}
	var sum attack.Tally
	look := func() {
		for _, of := range s.TakeTallies(attack.Tallies{}).Targets {
			sum.Passed[attack.UDP].Packets += of.Passed[attack.UDP].Packets
		}
	}
	at := second
	tell := func(packet uint64, order ...int) {
		for _, i := range order {
			r := cardReport(packet, uint8(62-i), hopAt(uint32(1+i), 1000))
			s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, at)
			at += 1e6
			look()
		}
		endWait(s, at)
		at += second
		look()
	}
	tell(1, 0, 1)
	for packet := uint64(2); packet <= 20; packet++ {
		tell(packet, 1, 0)
	}
	if got := sum.Passed[attack.UDP].Packets; got != 200 {
		t.Errorf("20 packets of 1 in 10 stand for %d", got)
	}
}
