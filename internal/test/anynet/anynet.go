// Package anynet draws scenarios that nobody has thought of: a network, its traffic, and faults.
package anynet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Short draws a scenario of one to three seconds with all that the truth can tell of, and up to three faults, which may
// overlap and be over in a moment.
func Short(r *rand.Rand) string { return (&network{Rand: r}).write() }

// Long draws a scenario of 12 seconds with one fault that lasts some of them, and with no flood and no incast, whose
// full queues would be incidents of their own.
func Long(r *rand.Rand) string { return (&network{Rand: r, long: true, faults: 1}).write() }

// Several draws a scenario of 20 seconds with two or three faults as those of Long, which may overlap.
func Several(r *rand.Rand) string {
	return (&network{Rand: r, long: true, faults: 2 + r.IntN(2)}).write()
}

// Slow draws a scenario as Long does in which few packets a second go from one host to another.
func Slow(r *rand.Rand) string { return (&network{Rand: r, long: true, slow: true, faults: 1}).write() }

// Partly draws a scenario as Long does in which one or two switches have no INT.
func Partly(r *rand.Rand) string {
	return (&network{Rand: r, long: true, partly: true, faults: 1}).write()
}

// A network is what has been drawn.
type network struct {
	*rand.Rand
	switches, hosts []string
	links           [][2]string // without two between the same switches
	long            bool
	slow, partly    bool
	faults          int // of a long one
	far             int // how many times longer than a few kilometres links are; 0: once
}

// of returns one of a list.
func (g *network) of(list ...string) string { return list[g.IntN(len(list))] }

// addNames adds names that are counted from 1.
func addNames(list []string, what string, n int) []string {
	for range n {
		list = append(list, fmt.Sprint(what, len(list)+1))
	}
	return list
}

// link draws the properties of a link.
func (g *network) link() string {
	return fmt.Sprintf("{rate: %dM, delay: %dus}", 20+g.IntN(380), g.delay())
}

// delay draws how many microseconds a link takes.
func (g *network) delay() int { return (1 + g.IntN(50)) * max(g.far, 1) }

func (g *network) write() string {
	var b strings.Builder
	say := func(format string, v ...any) { fmt.Fprintf(&b, format+"\n", v...) }
	duration := 12000
	if !g.long {
		duration = 1000 + g.IntN(2000)
	}
	if g.faults > 1 {
		duration = 20000
	}
	say("name: any\nduration: %dms", duration)
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
	flows, faults := 1+g.IntN(3), g.faults
	if g.long {
		flows++ // for faults to meet some
	}
	for range flows {
		g.writeTraffic(say)
	}
	if !g.long {
		faults = g.IntN(4)
	}
	if faults > 0 {
		say("faults:")
		for range faults {
			g.writeFault(say)
		}
	}
	if g.partly {
		say("nodes:")
		for _, i := range g.Perm(len(g.switches))[:1+g.IntN(min(2, len(g.switches)-1))] {
			say("  - {name: %s, without_int: true}", g.switches[i])
		}
	}
	return b.String()
}

func (g *network) writeTopology(say func(string, ...any)) {
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
				say("      - {between: [%s, %s], rate: %dM, delay: %dus}", key[0], key[1], 20+g.IntN(380), g.delay())
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
func (g *network) pair() (a, b string) {
	p := g.Perm(len(g.hosts))
	return g.hosts[p[0]], g.hosts[p[1]]
}

func (g *network) writeTraffic(say func(string, ...any)) {
	if g.slow {
		for range 1 + g.IntN(3) {
			a, b := g.pair()
			say("  - {constant: {from: %s, to: %s}, rate: %dk, packet: %d, port: %d, ip: %q}", a, b, 4+g.IntN(200),
				150+g.IntN(1100), 1000+g.IntN(60000), g.of("4", "6"))
		}
		return
	}
	more := fmt.Sprintf("port: %d, ip: %q, dscp: %d", 1000+g.IntN(60000), g.of("4", "6", "mixed"), g.IntN(2)*g.IntN(20))
	if g.IntN(3) == 0 {
		more += fmt.Sprintf(", tunnel: %s, vni: %d", g.of("vxlan", "geneve"), g.IntN(1<<24))
	}
	kind := g.IntN(4)
	if g.long && kind == 1 {
		kind = 2
	}
	switch kind {
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
func (g *network) beyond(of []string) string {
	for i, s := range g.switches {
		if !slices.Contains(of, s) {
			return fmt.Sprintf("10.0.%d.0/24", i+1)
		}
	}
	return "10.0.99.0/24" // nobody's
}

// around says whether there is a way around a link.
func (g *network) around(link [2]string) bool {
	reached := []string{link[0]}
	for i := 0; i < len(reached); i++ {
		for _, l := range g.links {
			for from, to := range map[string]string{l[0]: l[1], l[1]: l[0]} {
				if l != link && from == reached[i] && !slices.Contains(reached, to) {
					reached = append(reached, to)
				}
			}
		}
	}
	return slices.Contains(reached, link[1])
}

// writeFault draws one of the faults that the truth says everything of: it has no addresses that are forged, and does
// not know from when on a switch has no INT, or another clock.
func (g *network) writeFault(say func(string, ...any)) {
	when := fmt.Sprintf("at: %dms, for: %dms", 4000+g.IntN(1500), 3000+g.IntN(2000))
	if g.faults > 1 {
		when = fmt.Sprintf("at: %dms, for: %dms", 4000+g.IntN(6000), 3000+g.IntN(4000))
	}
	if !g.long {
		when = fmt.Sprintf("at: %dms", 100+g.IntN(700))
		if g.IntN(3) > 0 {
			when += fmt.Sprintf(", for: %dms", 50+g.IntN(800))
		}
	}
	link := g.links[g.IntN(len(g.links))]
	node := g.of(g.switches...)
	prefix := fmt.Sprintf("10.0.%d.0/24", 1+g.IntN(len(g.switches)))
	fault, kind := "", 0
	if g.long { // those that make one incident, and links the more often
		kind = []int{0, 0, 1, 1, 2, 2, 3, 5, 7, 8}[g.IntN(10)]
		if kind == 0 && !g.around(link) { // what its loss looks like nobody can tell from routes that are gone
			kind = 1
		}
	} else {
		kind = g.IntN(11)
	}
	switch kind {
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
