package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/lab"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// labNetwork is a leaf-spine of six kernel switches, up to the list of its traffic.
const labNetwork = `
topology:
  leaf_spine:
    {leaves: 4, spines: 2, hosts: 2, host_link: {rate: 20M}, fabric_link: {rate: 40M}}
switch: {buffer: 200kB}
routing: {reconvergence: 300ms}
truth: {sample_packets: 1}
traffic:
`

// labScenario is a leaf-spine of six kernel switches, on which all happens that a kernel can lose packets by, to those
// of IPv4 and of IPv6.
const labScenario = "\nduration: 4500ms\n" + labNetwork + `  - {constant: {from: h1, to: h3}, rate: 400k, packet: 500, port: 6001}
  - {constant: {from: h2, to: h5}, rate: 400k, packet: 500, port: 6002, ip: "6"}
  - {constant: {from: h4, to: h7}, rate: 400k, packet: 500, port: 6003}
  - {constant: {from: h6, to: h1}, rate: 400k, packet: 500, port: 6004}
  - {constant: {from: h3, to: h8}, rate: 400k, packet: 500, port: 6005, ip: "6"}
  - {poisson: {load: 2%, sizes: web_search, max_size: 50kB}, ip: mixed}
  - {incast: {senders: [h1, h3, h5], to: h8, bytes: 120kB}, transport: udp, start: 300ms, port: 9000, ip: mixed}
faults:
  - {at: 1s, for: 600ms, link_down: {link: [leaf1, spine1]}} # one of the two hits each flow of leaf1
  - {at: 1400ms, for: 400ms, gray_link: {link: [leaf2, spine1], drop: 20%}}
  - {at: 1400ms, for: 400ms, gray_link: {link: [leaf2, spine2], drop: 20%}}
  - {at: 2300ms, for: 600ms, link_down: {link: [leaf1, spine2]}}
  - {at: 3s, for: 400ms, blackhole: {node: leaf4, prefix: 10.0.4.0/24}}
  - {at: 3s, for: 400ms, blackhole: {node: leaf4, prefix: "fd00:0:0:4::/64"}}
  - {at: 3s, for: 400ms, mitigate: {node: leaf3, protocol: udp, port: 6002}}
  - {at: 3s, for: 400ms, mitigate: {node: leaf1, protocol: udp, port: 6004}}
  - {at: 3700ms, for: 300ms, ddos: {from: [h1, h7], to: h4, rate: 15M, packet: 500, port: 53}}
  - {at: 3700ms, for: 300ms, ddos: {from: [h5], to: h4, rate: 15M, packet: 500, port: 53, ip: "6"}}
`

// TestLab compares what serve says of real kernels with what captures at their interfaces saw: paths, drops by place
// and reason, who made bursts, and how flows went around a link that failed. One mode runs with each commit.
func TestLab(t *testing.T) {
	if test.RaceDetector {
		t.Skip("captures do not keep up with it")
	}
	needLab(t)
	modes := []labMode{
		{"md", "mode: md", labScenario},
		{"mx", "mode: mx", labScenario},
		{"xd", "mode: xd", labScenario},
		{"clones", "clone: true", labScenario},
		{"geneve", "version: 2016", labTunnels("geneve")},
		{"vxlan-gpe", "version: 2016\ncarrier: vxlan-gpe", labTunnels("vxlan_gpe")},
		{"vxlan", "carrier: vxlan-gpe", labTunnels("vxlan")},
		{"1.0", "version: 1.0", labScenario},
	}
	chosen, all := test.Seed(t)
	for i, m := range modes {
		if !all && uint64(i) != chosen%uint64(len(modes)) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			for try := 1; !proveLab(t, m); try++ {
				if try == 5 {
					t.Fatal("the machine was too busy for captures, or for what was to happen")
				}
			}
		})
	}
}

// needLab skips a test that makes a lab where that is not possible, and says so.
func needLab(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: network namespaces and programs in the kernel are for root. Run: sudo make test")
	}
	for _, tool := range []string{"ip", "tc", "ethtool", "nft"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("not run: no %s. Run: sudo scripts/setup test", tool)
		}
	}
}

// A labMode is what TestLab does.
type labMode struct{ name, text, scenario string }

// tunnelled says whether INT is in tunnels.
func (m *labMode) tunnelled() bool { return m.scenario != labScenario }

// labTunnels is a leaf-spine as that of labScenario, whose hosts send tunnels.
func labTunnels(kind string) string {
	text := "\nduration: 3s\n" + labNetwork
	for i, ends := range []string{"h1, to: h3", "h2, to: h5", "h4, to: h7", "h6, to: h1", "h3, to: h8"} {
		text += fmt.Sprintf("  - {constant: {from: %s}, transport: udp, rate: 400k, packet: 500, port: %d, "+
			"ip: \"%d\", tunnel: %s, vni: 77}\n", ends, 6001+i, 4+i%2*2, kind)
	}
	return text + `
faults:
  - {at: 800ms, for: 500ms, link_down: {link: [leaf1, spine1]}}
  - {at: 1800ms, for: 500ms, link_down: {link: [leaf1, spine2]}}
`
}

// proveLab is false if the machine was so busy that captures missed something, or that floods did not fill a queue.
func proveLab(t *testing.T, m labMode) bool {
	s, err := scenario.Parse("lab.yaml", []byte(m.scenario))
	if err != nil {
		t.Fatal(err)
	}
	text := "watch: [{report_all: true}]\ndrops: [{protocol: tcp}, {protocol: udp}]\n" + m.text + "\n"
	s.INT = scenario.Raw{Text: []byte(text)}
	domain, err := node.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	points, err := domain.CodePoints()
	if err != nil {
		t.Fatal(err)
	}
	names := map[uint32]string{}
	for i, spec := range s.Graph.Switches {
		names[uint32(i+1)] = spec.Name
	}
	r := startServer(t, func(c *serve.Config) {
		c.Names, c.Workers, c.Points.Points = names, 1, points
	})
	var written bytes.Buffer
	l, err := lab.New(s, lab.Options{
		Reports: netip.MustParseAddrPort(r.udp(0)), Truth: &written,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err = l.Start(t.Context()); err == nil {
		err = l.Run(t.Context(), nil)
	}
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	sum := l.Summary()
	t.Logf("%+v, %+v", *sum.Packets, sum.Nodes)
	if untold := sum.Nodes["kernel_drops_untold"]; len(sum.Doubts) > 0 || untold > 0 {
		t.Logf("again: captures %v, nodes were not told of %d drops", sum.Doubts, untold)
		r.stop()
		return false
	}
	test.Eventually(t, "receiving what nodes sent", func() bool { return r.total().Received == sum.Nodes["datagrams"] })
	r.join()
	want := readLab(t, &written, m)
	if missing := want.missing(); missing != "" && !m.tunnelled() {
		t.Logf("again: no packets of IPv4 or none of IPv6 were dropped by %s", missing)
		r.stop()
		return false
	}
	want.unseen = sum.Nodes["kernel_noted"] - sum.Nodes["kernel_noted_left"] - sum.Nodes["kernel_noted_dropped"]
	got := r.answers()
	want.compareDrops(t, got)
	want.compareFlows(t, got)
	// who reports in parts may lose a part when the machine is busy
	if m.name != "mx" && m.name != "xd" && m.name != "clones" {
		want.comparePaths(t, got)
	}
	if m.name != "clones" && !m.tunnelled() {
		want.compareBursts(t, r)
	}
	r.stop()
	return true
}

// A labTruth is what captures saw.
type labTruth struct {
	flows  map[uint32]*truth.Flow
	paths  []*truth.Path
	hops   map[uint64][]*truth.Hop // by packet
	drops  []*truth.Drop
	bursts []*truth.Burst
	faults map[string]int // phases
	end    *truth.End
	mode   string
	untold uint64 // drops that nodes were not told of
	unseen uint64 // packets that by the counters of nodes neither left them nor were dropped

	epochNs int64
}

// readTruth reads a truth without packets that are on their way.
func readTruth(t *testing.T, file io.Reader) *labTruth {
	t.Helper()
	w := &labTruth{flows: map[uint32]*truth.Flow{}, hops: map[uint64][]*truth.Hop{}, faults: map[string]int{}}
	for reader := truth.NewReader(file); ; {
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := record.(type) {
		case *truth.Flow:
			w.flows[v.Flow] = v
		case *truth.Path:
			w.paths = append(w.paths, v)
		case *truth.Hop:
			w.hops[v.Packet] = append(w.hops[v.Packet], v)
		case *truth.Drop:
			w.drops = append(w.drops, v)
		case *truth.Burst:
			w.bursts = append(w.bursts, v)
		case *truth.Fault:
			w.faults[v.Kind+" "+v.Phase]++
		case *truth.End:
			w.end = v
		case *truth.Run:
			w.epochNs = int64(v.EpochNs)
		}
	}
	if w.end == nil || w.end.InFlight > 0 || w.end.Delivered == 0 {
		t.Fatalf("the truth is not whole: %+v", w.end)
	}
	return w
}

func readLab(t *testing.T, file io.Reader, m labMode) *labTruth {
	t.Helper()
	w := readTruth(t, file)
	w.mode = m.name
	if m.tunnelled() {
		return w
	}
	// Everything that was to happen did.
	for kind, n := range map[string]int{"link_down": 2, "gray_link": 2, "blackhole": 2, "mitigate": 2, "ddos": 2} {
		if w.faults[kind+" start"] != n || w.faults[kind+" end"] != n {
			t.Errorf("fault %s: %v", kind, w.faults)
		}
	}
	return w
}

// missing returns a reason for which packets of both versions of IP were to be dropped, by what captures saw, and were
// not; "" if there is none.
func (w *labTruth) missing() string {
	dropped := map[string]bool{}
	for _, d := range w.drops {
		version := "IPv4 "
		if strings.Contains(w.flows[d.Flow].Src, ":") {
			version = "IPv6 "
		}
		dropped[version+d.Reason] = true
	}
	for _, reason := range []string{"port_down", "gray_link", "routing_miss", "acl_deny", "traffic_manager"} {
		if !dropped["IPv4 "+reason] || !dropped["IPv6 "+reason] {
			return reason
		}
	}
	return ""
}

func (w *labTruth) name(flow uint32) string {
	f := w.key(flow)
	return fmt.Sprintf("%s:%d > %s:%d %s", f.Src, f.SrcPort, f.Dst, f.DstPort, telemetry.ProtocolName(f.Protocol))
}

// key returns that of the packets in a tunnel, if a flow has one.
func (w *labTruth) key(flow uint32) truth.Inner {
	f := w.flows[flow]
	if f.Inner != nil {
		return *f.Inner
	}
	return truth.Inner{Src: f.Src, Dst: f.Dst, Protocol: f.Protocol, SrcPort: f.SrcPort, DstPort: f.DstPort}
}

func nameOf(e *telemetry.Endpoints) string {
	return fmt.Sprintf("%s:%d > %s:%d %s", e.Src, e.SrcPort, e.Dst, e.DstPort, e.Protocol)
}

// labDiffers reports where two maps differ.
func labDiffers[V comparable](t *testing.T, what string, got, want map[string]V) {
	t.Helper()
	shown := 0
	keys := maps.Clone(want)
	maps.Copy(keys, got)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if got[k] != want[k] {
			if shown++; shown <= 10 {
				t.Errorf("%s %s: got %v, want %v", what, k, got[k], want[k])
			}
		}
	}
	if shown > 10 {
		t.Errorf("and %d more %ss", shown-10, what)
	}
	if len(want) == 0 {
		t.Errorf("no %ss: nothing was compared", what)
	}
}

// kernelReasons are the numbers that the kernel has for reasons of the truth, where it has others.
var kernelReasons = map[string]uint8{"acl_deny": 100}

// compareDrops compares drops by place and reason. What a link loses no switch can tell. Where the kernel does not tell
// the program that follows drops of one, the node has a packet that neither left nor was dropped (see
// docs/reference/node.md): by that it knows how many these are, but for packets of which it has noted nothing.
func (w *labTruth) compareDrops(t *testing.T, got *expect.Answers) {
	want, have := map[string]uint64{}, map[string]uint64{}
	between := map[string]uint64{} // lost when a link went down: by one of its two ports
	for _, d := range w.drops {
		if d.Seen {
			code := d.Code
			if other, ok := kernelReasons[d.Reason]; ok {
				code = other
			}
			want[fmt.Sprintf("%d:%d>%d reason %d", d.Node, d.In, d.Out, code)]++
		}
		if d.Reason == "link_down" {
			between[fmt.Sprintf("%d:%d>%d reason 200", d.Node, d.In, d.Out)]++
		}
	}
	for _, d := range got.Drops {
		if *d.IngressPort == 0 {
			continue // an error message that a switch wanted to send to a host
		}
		out := uint32(0)
		if d.EgressPort != nil {
			out = *d.EgressPort
		}
		have[fmt.Sprintf("%d:%d>%d reason %d", *d.Node, *d.IngressPort, out, d.Reason)] += d.Packets
	}
	for name, n := range between {
		want[name] += min(n, max(have[name], want[name])-want[name])
	}
	all, noted := uint64(0), uint64(0)
	for name, n := range want {
		all += n
		missing := n - min(n, have[name])
		w.untold += missing
		if w.mode != "clones" && !strings.HasSuffix(name, " reason 29") {
			noted += missing
		}
	}
	allowed := w.unseen + 2
	if w.mode == "clones" { // switches behind the source know nothing of packets
		allowed = max(2, all/100)
	}
	if noted > w.unseen {
		t.Errorf("nodes were not told of %d drops, and know of %d", noted, w.unseen)
	} else if w.untold > 0 && w.untold <= allowed {
		t.Logf("nodes were not told of %d of %d drops; %d packets neither left nor were dropped", w.untold, all,
			w.unseen)
		for name := range want {
			want[name] = min(want[name], have[name])
		}
		maps.DeleteFunc(want, func(_ string, n uint64) bool { return n == 0 })
	}
	labDiffers(t, "drop", have, want)
}

// twice says whether a node has reported a packet before it was dropped: where there is no route it takes INT out, as
// docs/reference/node.md says.
func (w *labTruth) twice(d *truth.Drop) bool {
	return w.mode != "xd" && w.mode != "clones" && d.Reason == "routing_miss"
}

// compareFlows compares how many packets of each flow were seen, and the ways that the long ones took. In modes in
// which every node reports, what links lose was seen on a part of its way.
func (w *labTruth) compareFlows(t *testing.T, got *expect.Answers) {
	t.Helper()
	postcards := w.mode == "xd" || w.mode == "mx"
	want, have := map[string]uint64{}, map[string]uint64{}
	unclear := map[string]bool{} // flows of which it is not known how many reports a packet has
	for id, f := range w.flows {
		want[w.name(id)] += f.PacketsDelivered
	}
	for _, d := range w.drops {
		if d.Seen || postcards && len(w.hops[d.Packet]) > 0 {
			want[w.name(d.Flow)]++
		}
		if w.twice(d) {
			want[w.name(d.Flow)]++
			unclear[w.name(d.Flow)] = unclear[w.name(d.Flow)] || postcards
		}
		// A port without carrier may be told of after the packet has left by it.
		if d.Reason == "link_down" || !postcards && d.Seen && w.untold > 0 || postcards && (d.Reason == "ttl" || d.Reason == "port_down") {
			unclear[w.name(d.Flow)] = true
		}
	}
	for _, p := range w.paths { // routes change one after the other, and packets circle meanwhile
		if postcards && len(p.Hops) > 4 {
			unclear[w.name(p.Flow)] = true
		}
	}
	took := map[string][]string{}
	for i := range got.Flows {
		f := &got.Flows[i]
		if f.Protocol != "udp" && f.Protocol != "tcp" {
			continue
		}
		name := nameOf(&f.Endpoints)
		have[name] = f.Packets
		for _, p := range slices.Backward(f.Paths) {
			if route := routeOf(p.Hops); !strings.ContainsAny(route, "!?") && !strings.Contains(route, ">0") {
				took[name] = append(took[name], route)
			}
		}
	}
	for _, counts := range []map[string]uint64{want, have} {
		maps.DeleteFunc(counts, func(name string, _ uint64) bool {
			// Some packets of TCP are told apart by nothing that a postcard holds.
			return unclear[name] || postcards && strings.HasSuffix(name, "tcp")
		})
	}
	if w.mode != "clones" { // they are probes of their flows, which a collector counts apart
		labDiffers(t, "flow", have, want)
	}
	if w.mode == "clones" { // its last ways are those of drops
		took = map[string][]string{}
		for i := range got.Paths {
			for id := range w.flows {
				took[w.name(id)] = append(took[w.name(id)], routeOf(got.Paths[i].Hops))
			}
		}
	}
	ways := map[string][]string{}
	for _, p := range w.paths {
		if f := w.key(p.Flow); f.DstPort >= 6001 && f.DstPort <= 6005 {
			ways[w.name(p.Flow)] = append(ways[w.name(p.Flow)], routeOfTruth(p.Hops))
		}
	}
	rerouted := 0
	for name, want := range ways { // a collector keeps the last ones
		got := took[name]
		strange := w.mode != "clones" && slices.ContainsFunc(got, func(way string) bool {
			return !slices.ContainsFunc(want, func(whole string) bool {
				return way == whole || postcards && strings.HasPrefix(whole, way)
			})
		})
		if strange || !slices.Contains(got, want[len(want)-1]) {
			t.Errorf("ways of %s: got %q, want %q", name, got, want)
		}
		if len(want) > 1 && want[0] != want[1] {
			rerouted++
		}
	}
	if rerouted == 0 {
		t.Errorf("no flow took another way: %v", ways)
	}
}

func routeOfTruth(hops []truth.PathHop) string {
	list := make([]string, len(hops))
	for i, h := range hops {
		list[i] = fmt.Sprintf("%d:%d>%d", h.Node, h.In, h.Out)
	}
	return strings.Join(list, " ")
}

func routeOf(hops []telemetry.PathHop) string {
	number := func(n *uint32) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	list := make([]string, len(hops))
	for i, h := range hops {
		list[i] = fmt.Sprintf("%s:%s>%s", number(h.Node), number(h.IngressPort), number(h.EgressPort))
		if h.Dropped {
			list[i] += "!"
		}
	}
	return strings.Join(list, " ")
}

// A packet that circled while routes changed has more hops than it has room for records: maxRecords by max_hops of
// nodes, fewer where its carrier has less room, but always minRecords.
const minRecords, maxRecords = 4, 16

// comparePaths compares how many packets took each path to its end.
func (w *labTruth) comparePaths(t *testing.T, got *expect.Answers) {
	want, have := map[string]uint64{}, map[string]uint64{}
	circled := map[string]bool{} // what is told of packets that circled
	for _, p := range got.Paths {
		records := slices.IndexFunc(p.Hops, func(h telemetry.PathHop) bool { return h.Node == nil })
		circled[routeOf(p.Hops)] = records >= minRecords && records == len(p.Hops)-2
	}
	for _, p := range w.paths {
		route, last := routeOfTruth(p.Hops), len(p.Hops)-1
		for n := min(maxRecords, last-1); n >= minRecords; n-- {
			cut := routeOfTruth(p.Hops[:n]) + " ?:?>? " + routeOfTruth(p.Hops[last:])
			if circled[cut] || n == maxRecords {
				route = cut
			}
		}
		want[route] += p.Packets
	}
	for _, d := range w.drops {
		if w.twice(d) {
			var hops []truth.PathHop
			for _, h := range w.hops[d.Packet] {
				hops = append(hops, truth.PathHop{Node: h.Node, In: h.In, Out: h.Out})
			}
			want[routeOfTruth(append(hops, truth.PathHop{Node: d.Node, In: d.In}))]++
		}
	}
	for _, p := range got.Paths {
		if route := routeOf(p.Hops); !strings.Contains(route, "!") {
			have[route] += p.Packets
		}
	}
	labDiffers(t, "path", have, want)
}

// compareBursts looks for those of captures that are so high that a packet more or less is no matter: who made them is
// the same.
func (w *labTruth) compareBursts(t *testing.T, r *running) {
	var bursts []telemetry.Burst
	r.get("/api/v1/bursts?limit=1000", "bursts", &bursts)
	compared := 0
	for _, b := range w.bursts {
		if b.Peak < 60_000 || b.Open {
			continue
		}
		compared++
		at := slices.IndexFunc(bursts, func(g telemetry.Burst) bool {
			peak := g.Peak.UnixNano() - w.epochNs
			return g.Node == b.Node && g.Port == b.Port && peak >= b.StartNs && peak <= b.EndNs
		})
		if at < 0 {
			t.Errorf("missed: %+v", *b)
			continue
		}
		g := &bursts[at]
		want, have := map[string]bool{}, map[string]bool{}
		for _, f := range b.Flows {
			if f.Bytes*10 >= b.Bytes {
				want[w.name(f.Flow)] = true
			}
		}
		for _, c := range g.Culprits {
			if c.Bytes*10 >= g.Bytes {
				have[nameOf(c.Flow)] = true
			}
		}
		labDiffers(t, fmt.Sprintf("culprit at %d:%d", b.Node, b.Port), have, want)
		t.Logf("burst at %d:%d, %v: peak %d and %d bytes, %d and %d packets, %d and %d drops, %d culprits",
			b.Node, b.Port, time.Duration(b.EndNs-b.StartNs), b.Peak, g.PeakDepth, b.Packets, g.Packets, b.Drops,
			g.Drops, len(want))
	}
	if compared == 0 {
		t.Errorf("no burst was high enough: %v", w.bursts)
	}
}

// TestLabKilled kills a lab in the middle. The next one takes its name, and leaves nothing behind.
func TestLabKilled(t *testing.T) {
	if test.RaceDetector {
		t.Skip("what it waits for is a process of its own")
	}
	if os.Geteuid() != 0 {
		t.Skip("not run: network namespaces and programs in the kernel are for root. Run: sudo make test")
	}
	file := filepath.Join(t.TempDir(), "small.yaml")
	text := "duration: 1m\ntopology: {ring: {nodes: 3, hosts: 1}}\ntraffic:\n" +
		"  - {constant: {from: h1, to: h2}, rate: 1M, packet: 500}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) (*exec.Cmd, *bufio.Scanner) {
		t.Helper()
		cmd := runSelf(append([]string{"lab", file}, args...)...)
		log, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd, bufio.NewScanner(log)
	}
	ready := func(lines *bufio.Scanner) string { // the name of the lab
		for lines.Scan() {
			var line struct{ Msg, Lab string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "ready" {
				return line.Lab
			}
			t.Log(lines.Text())
		}
		t.Fatal("it did not begin")
		return ""
	}
	left := func(name string) (list []string) {
		for _, pattern := range []string{"/run/netns/%s-*", "/run/waybill/%s-*", "/run/waybill/%s.lock"} {
			some, err := filepath.Glob(fmt.Sprintf(pattern, name))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, some...)
		}
		return list
	}
	cmd, lines := start()
	killed := ready(lines)
	if got := left(killed); len(got) != 3+3+1+3+1 { // switches, hosts, the wires, sockets, the lock
		t.Errorf("got %q", got)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	cmd, lines = start("--truth", filepath.Join(t.TempDir(), "truth.ndjson"))
	next := ready(lines)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Log(lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	if got := append(left(killed), left(next)...); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
}
