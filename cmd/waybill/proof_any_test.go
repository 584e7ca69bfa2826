package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
)

// TestProofAny is TestProof with a network, traffic and faults that nobody has thought of.
func TestProofAny(t *testing.T) {
	seed, all := test.Seed(t)
	n := uint64(5)
	if all {
		seed, n = 0, 1000
	}
	var usual []*dialectOfProof
	for i := range dialects {
		if d := &dialects[i]; d.only == "" {
			usual = append(usual, d)
		}
	}
	for seed := 1000 * seed; n > 0; seed, n = seed+1, n-1 {
		g := &anyScenario{Rand: rand.New(rand.NewPCG(seed, 1))}
		d := usual[g.IntN(len(usual))]
		t.Run(fmt.Sprint(seed, "/", d.name), func(t *testing.T) {
			file, text := g.file(t)
			proveUndisturbed(t, func() (string, bool) { return prove(t, file, d, nil) })
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// TestStoreAnyAnswers is TestStoreAnswers with such a network, and every event that is told is one that happened.
func TestStoreAnyAnswers(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	seed, all := test.Seed(t)
	n := uint64(1)
	if all {
		seed, n = 0, 50
	}
	for ; n > 0; seed, n = seed+1, n-1 {
		g := &anyScenario{Rand: rand.New(rand.NewPCG(seed, 1))}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			file, text := g.file(t)
			proveStore(t, file, 6*time.Second, true)
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// An anyScenario draws a scenario.
type anyScenario struct {
	*rand.Rand
	switches, hosts []string
	links           [][2]string // without two between the same switches
}

// of returns one of a list.
func (g *anyScenario) of(list ...string) string { return list[g.IntN(len(list))] }

// file draws a scenario, and returns a file with it and its text.
func (g *anyScenario) file(t *testing.T) (file, text string) {
	t.Helper()
	file, text = filepath.Join(t.TempDir(), "scenario.yaml"), g.write()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, text
}

// addNames adds names that are counted from 1.
func addNames(list []string, what string, n int) []string {
	for range n {
		list = append(list, fmt.Sprint(what, len(list)+1))
	}
	return list
}

// link draws the properties of a link.
func (g *anyScenario) link() string {
	return fmt.Sprintf("{rate: %dM, delay: %dus}", 20+g.IntN(380), 1+g.IntN(50))
}

func (g *anyScenario) write() string {
	var b strings.Builder
	say := func(format string, v ...any) { fmt.Fprintf(&b, format+"\n", v...) }
	say("name: any\nduration: %dms", 1000+g.IntN(2000))
	g.writeTopology(say)
	if g.IntN(2) == 0 {
		say("switch: {buffer: %dkB}", 20+g.IntN(500))
	}
	if g.IntN(2) == 0 {
		say("clocks: {offset: %dus, drift: %d}", g.IntN(3000), g.IntN(50))
	}
	if g.IntN(2) == 0 {
		say("routing: {reconvergence: %dms}", 1+g.IntN(500))
	}
	say("traffic:")
	for range 1 + g.IntN(3) {
		g.writeTraffic(say)
	}
	if n := g.IntN(4); n > 0 {
		say("faults:")
		for range n {
			g.writeFault(say)
		}
	}
	return b.String()
}

func (g *anyScenario) writeTopology(say func(string, ...any)) {
	switch g.IntN(3) {
	case 0:
		leaves, spines, hosts := 2+g.IntN(3), 1+g.IntN(3), 1+g.IntN(4)
		say("topology: {leaf_spine: {leaves: %d, spines: %d, hosts: %d, host_link: %s, fabric_link: %s}}", leaves,
			spines, hosts, g.link(), g.link())
		l, s := addNames(nil, "leaf", leaves), addNames(nil, "spine", spines)
		for _, leaf := range l {
			for _, spine := range s {
				g.links = append(g.links, [2]string{leaf, spine})
			}
		}
		g.switches, g.hosts = slices.Concat(l, s), addNames(nil, "h", leaves*hosts)
	case 1:
		nodes, hosts := 3+g.IntN(4), 1+g.IntN(3)
		say("topology: {ring: {nodes: %d, hosts: %d, host_link: %s, ring_link: %s}}", nodes, hosts, g.link(), g.link())
		g.switches, g.hosts = addNames(nil, "pop", nodes), addNames(nil, "h", nodes*hosts)
		for i := range nodes {
			g.links = append(g.links, [2]string{g.switches[i], g.switches[(i+1)%nodes]})
		}
	default: // a tree with some more links
		g.switches = addNames(nil, "s", 2+g.IntN(6))
		say("topology:\n  graph:\n    switches:")
		for _, s := range g.switches {
			say("      - {name: %s}", s)
		}
		say("    links:")
		has := map[[2]string]bool{}
		add := func(i, j int) {
			if key := [2]string{g.switches[min(i, j)], g.switches[max(i, j)]}; i != j && !has[key] {
				has[key] = true
				g.links = append(g.links, key)
				say("      - {between: [%s, %s], rate: %dM, delay: %dus}", key[0], key[1], 20+g.IntN(380), 1+g.IntN(50))
			}
		}
		for i := 1; i < len(g.switches); i++ {
			add(i, g.IntN(i))
		}
		for range g.IntN(len(g.switches)) {
			add(g.IntN(len(g.switches)), g.IntN(len(g.switches)))
		}
		say("    hosts:")
		g.hosts = addNames(nil, "h", 2+g.IntN(7))
		for i, h := range g.hosts {
			at := g.of(g.switches...)
			if i < 2 { // so that two are at different switches
				at = g.switches[i]
			}
			say("      - {name: %s, at: %s, link: %s}", h, at, g.link())
		}
	}
}

// pair draws two hosts.
func (g *anyScenario) pair() (a, b string) {
	p := g.Perm(len(g.hosts))
	return g.hosts[p[0]], g.hosts[p[1]]
}

func (g *anyScenario) writeTraffic(say func(string, ...any)) {
	more := fmt.Sprintf("port: %d, ip: %q, dscp: %d", 1000+g.IntN(60000), g.of("4", "6", "mixed"), g.IntN(2)*g.IntN(20))
	if g.IntN(3) == 0 {
		more += fmt.Sprintf(", tunnel: %s, vni: %d", g.of("vxlan", "geneve"), g.IntN(1<<24))
	}
	switch g.IntN(4) {
	case 0:
		a, b := g.pair()
		say("  - {constant: {from: %s, to: %s}, rate: %dk, packet: %d, %s}", a, b, 200+g.IntN(4000), 150+g.IntN(1100),
			more)
	case 1:
		p := g.Perm(len(g.hosts))
		var from []string
		for _, i := range p[1:] {
			from = append(from, g.hosts[i])
		}
		say("  - {incast: {senders: [%s], to: %s, bytes: %dkB, every: %dms, jitter: %dus}, %s%s}",
			strings.Join(from, ", "), g.hosts[p[0]], 1+g.IntN(60), 100+g.IntN(900), g.IntN(1000), more,
			g.of("", ", transport: udp"))
	default:
		if g.IntN(3) == 0 {
			more += fmt.Sprintf(", transport: udp, rate: %dk", 300+g.IntN(3000))
		}
		say("  - {poisson: {load: %d.%d%%, sizes: %s, max_size: 100kB}, %s}", g.IntN(4), 1+g.IntN(9),
			g.of("web_search", "data_mining", "10kB", "5kB"), more)
	}
}

// beyond returns the prefix of hosts at a switch that is none of some. A switch that sends away what is for its own
// hosts puts a stack into packets that had none: the collector takes those without for no packets then.
func (g *anyScenario) beyond(of []string) string {
	for i, s := range g.switches {
		if !slices.Contains(of, s) {
			return fmt.Sprintf("10.0.%d.0/24", i+1)
		}
	}
	return "10.0.99.0/24" // nobody's
}

// writeFault draws one of the faults that the truth says everything of: it has no addresses that are forged, and does
// not know from when on a switch has no INT, or another clock.
func (g *anyScenario) writeFault(say func(string, ...any)) {
	when := fmt.Sprintf("at: %dms", 100+g.IntN(700))
	if g.IntN(3) > 0 {
		when += fmt.Sprintf(", for: %dms", 50+g.IntN(800))
	}
	link := g.links[g.IntN(len(g.links))]
	node := g.of(g.switches...)
	prefix := fmt.Sprintf("10.0.%d.0/24", 1+g.IntN(len(g.switches)))
	fault := ""
	switch g.IntN(11) {
	case 0:
		fault = fmt.Sprintf("link_down: {link: [%s, %s]}", link[0], link[1])
	case 1:
		fault = fmt.Sprintf("gray_link: {link: [%s, %s], drop: %d%%}", link[0], link[1], 1+g.IntN(60))
	case 2:
		fault = fmt.Sprintf("blackhole: {node: %s, prefix: %s, silent: %v}", node, prefix, g.IntN(3) == 0)
	case 3:
		fault = fmt.Sprintf("loop: {nodes: [%s, %s], prefix: %s}", link[0], link[1], g.beyond(link[:]))
	case 4:
		fault = "polarisation: {}"
	case 5:
		fault = fmt.Sprintf("slow_switch: {node: %s, extra: %dus}", node, 10+g.IntN(2000))
	case 6:
		fault = fmt.Sprintf("buffer: {node: %s, buffer: %dkB}", node, 2+g.IntN(20))
	case 7:
		fault = fmt.Sprintf("report_loss: {drop: %d%%}", 1+g.IntN(50))
	case 8:
		fault = fmt.Sprintf("report_loss: {nodes: [%s], every: %d}", node, 2+g.IntN(10))
	case 9:
		fault = fmt.Sprintf("mitigate: {node: %s, to: [%s], protocol: %s}", node, prefix, g.of("udp", "tcp"))
	default:
		a, b := g.pair()
		fault = fmt.Sprintf("ddos: {from: [%s], to: %s, rate: %dM, packet: %d, ip: %q, send: %s}", a, b,
			1+g.IntN(8), 100+g.IntN(900), g.of("4", "6"), g.of("udp", "syn", "reflection"))
	}
	say("  - {%s, %s}", when, fault)
}
