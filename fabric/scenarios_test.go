package fabric

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
)

// A view is a truth, sorted for questions.
type view struct {
	*testing.T
	list  []truth.Record
	end   *truth.End
	flows map[uint32]*truth.Flow
	paths map[uint32][]*truth.Path
	nodes map[string]uint32
}

// claims has for each file of scenarios/ what its comment says that happens, as questions to the truth.
var claims = map[string]func(v *view){
	"steady": func(v *view) {
		v.onlyDrops("")
		v.onePathEach()
		perSpine := map[uint32]int{}
		for _, paths := range v.paths {
			if len(paths[0].Hops) == 3 {
				perSpine[paths[0].Hops[1].Node] += int(paths[0].Packets)
			}
		}
		for _, n := range perSpine {
			v.between("packets of a spine, share", float64(n)/float64(v.end.Delivered), 0.1, 0.35)
		}
		kinds := map[string]bool{}
		for _, fl := range v.flows {
			kind := "IPv4"
			if strings.Contains(fl.Src, ":") {
				kind = "IPv6"
			}
			if fl.Inner != nil {
				kind += " " + fl.Inner.Tunnel
			}
			kinds[kind] = true
		}
		v.equal("kinds of packets", len(kinds), 5)
	},

	"incast": func(v *view) {
		v.onlyDrops("queue traffic_manager leaf1 3")
		rounds := 0
		for _, b := range of[*truth.Burst](v.list) {
			if b.Node == v.nodes["leaf1"] && b.Port == 3 && len(b.Flows) >= 10 {
				rounds++
				v.between("start of a burst in its half second, ms", float64(b.StartNs%500e6)/1e6, 250, 252)
				v.between("length of a burst, ms", float64(b.EndNs-b.StartNs)/1e6, 50, 120)
				v.between("the largest of twelve flows, share", float64(b.Flows[0].Bytes)/float64(b.Bytes), 0.05, 0.2)
			}
		}
		v.equal("rounds", rounds, 10)
	},

	"microburst": func(v *view) {
		v.onlyDrops("")
		bursts := 0
		for _, b := range of[*truth.Burst](v.list) {
			if b.Node == v.nodes["leaf4"] && b.Port == 6 {
				bursts++
				v.between("start of a burst in its 200 ms", float64(b.StartNs%200e6)/1e6, 100, 102)
				v.between("length of a burst, ms", float64(b.EndNs-b.StartNs)/1e6, 2, 5)
				v.between("peak of a burst, kB", float64(b.Peak)/1e3, 30, 60)
				v.between("the third sender, kB", float64(b.Flows[2].Bytes)/1e3, 10, 22)
			}
		}
		v.equal("bursts", bursts, 25)
	},

	"link-failure": func(v *view) {
		v.onlyDrops("egress port_down leaf1 1", "egress port_down spine1 1", "link link_down leaf1 1",
			"link link_down spine1 1")
		for _, d := range of[*truth.Drop](v.list) {
			v.between("time of a drop, s", float64(d.TimeNs)/1e9, 2, 2.2)
		}
		moved := 0
		leaf1, spine1 := v.nodes["leaf1"], v.nodes["spine1"]
		for _, paths := range v.paths {
			for _, p := range paths {
				on := crosses(p, leaf1, spine1)
				if on && p.UntilNs > 2.2e9 && p.FromNs < 2.2e9 || on && p.FromNs > 2.2e9 && p.FromNs < 5.15e9 {
					v.Errorf("a path by the link that is down: %+v", *p)
				}
			}
			if len(paths) == 3 && crosses(paths[0], leaf1, spine1) && crosses(paths[2], leaf1, spine1) {
				moved++
				v.between("start of the way around, s", float64(paths[1].FromNs)/1e9, 2.19, 2.4)
				v.between("start of the way back, s", float64(paths[2].FromNs)/1e9, 5.19, 5.4)
			}
		}
		v.between("flows that move and come back", float64(moved), 1, 100)
	},

	"destination-headers": func(v *view) {
		v.onlyDrops("link gray_link leaf1 1", "link gray_link spine1 1")
		v.onePathEach()
		over := 0
		for _, p := range of[*truth.Path](v.list) {
			if crosses(p, v.nodes["leaf1"], v.nodes["spine2"]) || crosses(p, v.nodes["leaf3"], v.nodes["spine2"]) {
				over++
			}
		}
		if over == 0 {
			v.Error("no flow passes the switch without INT")
		}
	},

	"follow-ups": func(v *view) {
		v.onePathEach()
		// each packet that passes a spine has one follow-up, which its sink takes out
		over := 0
		for _, p := range of[*truth.Path](v.list) {
			if len(p.Hops) == 3 {
				over += int(p.Packets)
			}
		}
		v.equal("follow-ups", int(v.end.Copies), over)
		for _, d := range of[*truth.Drop](v.list) {
			if d.CopyOf == 0 || d.Reason != "discarded" {
				v.Errorf("no follow-up: %+v", *d)
			}
			over--
		}
		v.equal("follow-ups that stayed", over, 0)
	},

	"replication": func(v *view) {
		v.onePathEach()
		// one for each other link that leads where the packet goes, at the three switches that have such links
		copies := 0
		for _, p := range of[*truth.Path](v.list) {
			for _, h := range p.Hops {
				switch {
				case h.Node == v.nodes["agg1"] && h.Out <= 3: // two links to core1, one to core2
					copies += 2 * int(p.Packets)
				case h.Node == v.nodes["agg2"] && h.Out <= 2, h.Node == v.nodes["core1"] && h.Out <= 2:
					copies += int(p.Packets)
				}
			}
		}
		v.equal("copies", int(v.end.Copies), copies)
		for _, d := range of[*truth.Drop](v.list) {
			if d.CopyOf == 0 || d.Reason != "discarded" {
				v.Errorf("no copy: %+v", *d)
			}
			copies--
		}
		v.equal("copies that stayed", copies, 0)
	},

	"gray-link": func(v *view) {
		v.onlyDrops("link gray_link leaf2 1", "link gray_link spine1 2")
		v.between("drops", float64(v.dropped("gray_link")), 50, 1000)
		lost, kept := 0.0, 0
		for id, fl := range v.flows {
			if strings.HasPrefix(fl.Traffic, "traffic[0]") {
				continue
			}
			if crosses(v.paths[id][0], v.nodes["leaf2"], v.nodes["spine1"]) {
				lost += float64(fl.PacketsDropped) / float64(fl.PacketsSent)
				v.between("loss on the link, of 4 s in 8", float64(fl.PacketsDropped)/float64(fl.PacketsSent), 0.005,
					0.015)
			} else {
				kept++
				v.equal("loss beside the link", int(fl.PacketsDropped), 0)
			}
		}
		if lost == 0 || kept == 0 {
			v.Errorf("steady flows beside the link: %d; loss of those on it: %v", kept, lost)
		}
		v.onePathEach()
	},

	"loop": func(v *view) {
		v.onlyDrops("ingress ttl spine1 0", "queue traffic_manager leaf1 1", "queue traffic_manager spine1 1")
		v.between("drops for TTL", float64(v.dropped("ttl")), 500, 2000)
		for _, d := range of[*truth.Drop](v.list) {
			fl := v.flows[d.Flow]
			v.between("time of a drop, s", float64(d.TimeNs)/1e9, 2, 3.1)
			if d.Reason == "ttl" && !strings.HasPrefix(fl.Dst, "10.0.3.") {
				v.Errorf("a packet to %s in the loop", fl.Dst)
			}
		}
		for _, fl := range v.flows {
			if strings.HasPrefix(fl.Dst, "fd00:0:0:3:") && fl.Traffic == "traffic[3] constant" {
				v.equal("lost packets of IPv6 to the same hosts", int(fl.PacketsDropped), 0)
			}
		}
	},

	"blackhole": func(v *view) {
		v.onlyDrops("ingress routing_miss spine2 0")
		for _, d := range of[*truth.Drop](v.list) {
			v.between("time of a drop, s", float64(d.TimeNs)/1e9, 2, 4)
			if dst := v.flows[d.Flow].Dst; !strings.HasPrefix(dst, "10.0.3.") {
				v.Errorf("a packet to %s was dropped", dst)
			}
		}
		dead, well := 0, 0
		for id, fl := range v.flows {
			if !strings.HasSuffix(fl.Traffic, "constant") {
				continue
			}
			if v.paths[id][0].Hops[1].Node == v.nodes["spine2"] {
				dead++
				v.between("loss by spine2, of 2 s in 6", float64(fl.PacketsDropped)/float64(fl.PacketsSent), 0.32, 0.35)
			} else {
				well++
				v.equal("loss by spine1", int(fl.PacketsDropped), 0)
			}
		}
		if dead == 0 || well == 0 {
			v.Errorf("%d steady flows by spine2, %d by spine1", dead, well)
		}
	},

	"slow-switch": func(v *view) {
		v.onlyDrops("")
		slow, spine1 := 0, v.nodes["spine1"]
		for _, h := range of[*truth.Hop](v.list) {
			if h.Depth > 0 {
				continue // waited for others too
			}
			inside := h.Node == spine1 && h.InNs >= 2e9 && h.InNs < 4e9
			if inside {
				slow++
				v.between("latency of spine1, us", float64(h.LatencyNs)/1e3, 500, 1200)
			} else if h.InNs < 4e9 || h.InNs > 4.01e9 {
				v.between("latency elsewhere, us", float64(h.LatencyNs)/1e3, 0.8, 130)
			}
		}
		v.between("slow hops", float64(slow), 10, 1e6)
	},

	"clock-skew": func(v *view) {
		v.onlyDrops("")
		for _, h := range of[*truth.Hop](v.list) {
			off := float64(int64(h.InClock) - 1767225600e9 - h.InNs)
			low, high := -31e3, 31e3 // 1 us and 5 ppm of 6 s
			if h.Node == v.nodes["spine1"] && h.InNs >= 2e9 {
				drift := 3e6 + float64(h.InNs-2e9)*200e-6
				low, high = low+drift, high+drift
			}
			v.between("a clock is wrong by, ns", off, low, high)
			v.between("latency by the clock, of the true one", float64(h.OutClock-h.InClock)/float64(h.LatencyNs),
				0.999, 1.001+2/float64(h.LatencyNs))
		}
	},

	"ddos": func(v *view) {
		v.onlyDrops("queue traffic_manager core 3", "ingress acl_deny agg1 0", "ingress acl_deny agg2 0")
		for _, d := range of[*truth.Drop](v.list) {
			if s := float64(d.TimeNs) / 1e9; d.Reason == "acl_deny" {
				v.between("time of a mitigated packet, s", s, 6, 12.1)
			} else {
				v.between("time of a drop for want of room, s", s, 3, 6.2)
			}
		}
		attackers := map[string]bool{}
		for _, fl := range v.flows {
			if strings.HasSuffix(fl.Traffic, "ddos") {
				attackers[fl.Src] = true
				v.equal("bytes of the victim", strings.Compare(fl.Dst, "192.0.2.80"), 0)
			}
		}
		v.equal("attackers", len(attackers), 4)
	},

	"transparent-security": func(v *view) {
		v.onlyDrops("queue traffic_manager core 2")
		attackers, suffer := map[string]bool{}, 0
		for _, fl := range v.flows {
			if strings.HasSuffix(fl.Traffic, "ddos") {
				attackers[fl.Src] = true
				v.equal("another target", strings.Compare(fl.Dst, "192.0.2.80"), 0)
			}
		}
		for _, d := range of[*truth.Drop](v.list) {
			v.between("time of a drop, s", float64(d.TimeNs)/1e9, 4, 24.1)
			if !strings.HasSuffix(v.flows[d.Flow].Traffic, "ddos") {
				suffer++
			}
		}
		v.equal("attackers", len(attackers), 4)
		v.between("packets of others that were dropped", float64(suffer), 100, 5000)
	},

	"report-loss": func(v *view) {
		v.onlyDrops("")
		v.equal("faults", len(of[*truth.Fault](v.list)), 3)
	},

	"ioam": func(v *view) {
		v.onlyDrops("ingress routing_miss spine2 0")
		v.onePathEach()
		for _, d := range of[*truth.Drop](v.list) {
			v.between("time of a drop, s", float64(d.TimeNs)/1e9, 2.5, 3.51)
			if dst := v.flows[d.Flow].Dst; !strings.HasPrefix(dst, "fd00:0:0:3:") {
				v.Errorf("a packet to %s was dropped", dst)
			}
		}
	},

	"p4-2016": func(v *view) {
		v.onlyDrops("")
		v.onePathEach()
		for _, fl := range v.flows {
			if fl.Inner == nil || fl.Inner.Tunnel != "vxlan-gpe" || fl.DstPort != 4790 {
				v.Errorf("not in VXLAN-GPE: %+v", *fl)
			}
		}
		rounds := 0
		for _, b := range of[*truth.Burst](v.list) {
			if b.Node == v.nodes["leaf1"] && b.Port == 3 && len(b.Flows) >= 6 {
				rounds++
				v.between("start of a burst in its half second, ms", float64(b.StartNs%500e6)/1e6, 250, 252)
			}
		}
		v.equal("rounds", rounds, 8)
	},

	"polarisation": func(v *view) {
		type half struct{ node, out uint32 }
		before, after := map[half]uint64{}, map[half]uint64{}
		for _, h := range of[*truth.Hop](v.list) {
			if h.Hop != 1 || h.Node == 0 || h.Out < 3 || h.Node > 16 { // aggregation: ports 3 and 4 lead to cores
				continue
			}
			if h.InNs < 2e9 {
				before[half{h.Node, h.Out}]++
			} else if h.InNs > 2.01e9 {
				after[half{h.Node, h.Out}]++
			}
		}
		v.equal("links to cores before", len(before), 16)
		v.equal("links to cores after", len(after), 8)
	},

	"all-reduce": func(v *view) {
		bytes := map[uint64]int{}
		for _, fl := range v.flows {
			if fl.DstPort == 4791 {
				bytes[fl.Bytes]++
			}
		}
		v.equal("flows with equal bytes", len(bytes), 1)
		v.equal("flows of the ring", bytes[16*14*125000], 8)
	},

	"demo": func(v *view) {
		v.onlyDrops("egress port_down leaf1 1", "egress port_down spine1 1", "link link_down leaf1 1",
			"link link_down spine1 1",
			"link gray_link leaf2 1", "link gray_link spine1 2", "queue traffic_manager leaf1 6")
		for _, d := range of[*truth.Drop](v.list) {
			span := map[string][2]float64{
				"port_down": {20, 20.5}, "link_down": {20, 20.5}, "gray_link": {34, 42},
				"traffic_manager": {48, 53.1},
			}[d.Reason]
			v.between("time of "+d.Reason+", s", float64(d.TimeNs)/1e9, span[0], span[1])
		}
	},
}

// between fails unless low <= got <= high.
func (v *view) between(what string, got, low, high float64) {
	v.Helper()
	if got < low || got > high {
		v.Errorf("%s: got %v, want %v to %v", what, got, low, high)
	}
}

func (v *view) equal(what string, got, want int) {
	v.Helper()
	if got != want {
		v.Errorf("%s: got %d, want %d", what, got, want)
	}
}

// dropped counts the packets that were dropped for a reason.
func (v *view) dropped(reason string) (n uint64) {
	for _, r := range v.end.Dropped {
		if r.Reason == reason {
			n += r.Packets
		}
	}
	return n
}

// onlyDrops fails unless all drops are at one of these places, "place reason switch port", and there are some at the
// first.
func (v *view) onlyDrops(places ...string) {
	v.Helper()
	counts := map[string]int{}
	names := map[uint32]string{}
	for name, node := range v.nodes {
		names[node] = name
	}
	for _, d := range of[*truth.Drop](v.list) {
		counts[strings.Join([]string{d.Place, d.Reason, names[d.Node], string(rune('0' + d.Out))}, " ")]++
	}
	if places[0] != "" && counts[places[0]] == 0 {
		v.Errorf("no drops at %s: %v", places[0], counts)
	}
	for _, place := range places {
		delete(counts, place)
	}
	if len(counts) > 0 {
		v.Errorf("drops at other places: %v", counts)
	}
}

// onePathEach fails if a flow changes its path.
func (v *view) onePathEach() {
	v.Helper()
	for flow, paths := range v.paths {
		if len(paths) != 1 {
			v.Errorf("flow %d has %d paths", flow, len(paths))
		}
	}
}

// crosses says whether a path has two switches one behind the other.
func crosses(p *truth.Path, a, b uint32) bool {
	for i := 1; i < len(p.Hops); i++ {
		x, y := p.Hops[i-1].Node, p.Hops[i].Node
		if x == a && y == b || x == b && y == a {
			return true
		}
	}
	return false
}

// Each scenario runs, and its truth shows what its comment claims.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../scenarios/*.yaml")
	if err != nil || len(files) != len(claims) {
		t.Fatalf("%d scenarios, claims of %d, %v", len(files), len(claims), err)
	}
	if test.RaceDetector {
		t.Skip("a fabric runs in one goroutine: the race detector would only make this take a minute")
	}
	for _, file := range files {
		s, err := scenario.Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			if s.Name+".yaml" != filepath.Base(file) || claims[s.Name] == nil {
				t.Fatalf("%s: its name is %q, and there are claims: %v", file, s.Name, claims[s.Name] != nil)
			}
			until := time.Duration(s.Duration)
			switch s.Name {
			case "steady":
				until = 4 * time.Second
			case "demo":
				until = 58 * time.Second
			}
			var out bytes.Buffer
			o := Options{Truth: &out}
			if s.Name == "follow-ups" || s.Name == "replication" { // INT makes some of the packets
				if o.Device, err = INTDevices(s); err != nil {
					t.Fatal(err)
				}
			}
			f, err := New(s, o)
			if err != nil {
				t.Fatal(err)
			}
			run(t, f, until)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			v := &view{T: t, list: records(t, out.Bytes()), flows: map[uint32]*truth.Flow{}, nodes: map[string]uint32{}}
			v.end = of[*truth.End](v.list)[0]
			v.paths = pathsOf(v.list)
			for _, fl := range of[*truth.Flow](v.list) {
				v.flows[fl.Flow] = fl
			}
			for _, n := range of[*truth.Switch](v.list) {
				v.nodes[n.Name] = n.Node
			}
			claims[s.Name](v)
			if e := v.end; e.Sent == 0 || float64(e.Delivered) < 0.3*float64(e.Sent) {
				t.Errorf("end %+v", *e)
			}
		})
	}
}
