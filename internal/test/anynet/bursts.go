package anynet

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Bursts draws a scenario of one to two seconds whose queues are long now and then: many senders at once, one that
// sends more than a link takes, rounds of all at once, in one or several queues of a port, with and without room for
// it, short and long, beside traffic that makes no burst or none.
func Bursts(r *rand.Rand) string {
	g := bursts{network: network{Rand: r}, classes: r.IntN(3) == 0}
	return g.write()
}

// A bursts is what has been drawn.
type bursts struct {
	network
	classes  bool // ports have queues for some DSCP values
	duration int  // ms
}

func (g *bursts) write() string {
	var b strings.Builder
	say := func(format string, v ...any) { fmt.Fprintf(&b, format+"\n", v...) }
	g.duration = 1000 + g.IntN(1000)
	say("name: bursts\nduration: %dms", g.duration)
	g.writeTopology(say)
	// One queue takes half of the buffer at most: some are never full, some before they are long.
	say("switch:\n  buffer: %dkB\n  alpha: %d", []int{60, 100, 200, 1000}[g.IntN(4)]+g.IntN(50), 1+g.IntN(4))
	if g.classes {
		say("  queues: [{}, {dscp: [10], weight: %d}, {dscp: [46], strict: true}]", 1+g.IntN(4))
	}
	if g.IntN(2) == 0 {
		say("clocks: {offset: %dus, drift: %d}", g.IntN(3000), g.IntN(50))
	}
	say("traffic:")
	for range 1 + g.IntN(3) {
		g.writeBurst(say)
	}
	for range g.IntN(3) {
		g.writeBeside(say)
	}
	if g.IntN(8) == 0 {
		say("faults:\n  - {at: %dms, for: %dms, slow_switch: {node: %s, extra: %dus}}", g.IntN(g.duration/2),
			50+g.IntN(g.duration), g.of(g.switches...), 1+g.IntN(200))
	}
	return b.String()
}

// more draws what all traffic may have.
func (g *bursts) more() string {
	more := fmt.Sprintf("port: %d, ip: %q, dscp: %s", 1000+g.IntN(60000), g.of("4", "6", "mixed"),
		g.of("0", "0", "10", "46"))
	if g.IntN(6) == 0 {
		more += fmt.Sprintf(", tunnel: %s, vni: %d", g.of("vxlan", "geneve"), g.IntN(1<<24))
	}
	return more
}

// some draws up to n hosts, and another one.
func (g *bursts) some(n int) (from, to string) {
	p := g.Perm(len(g.hosts))
	var names []string
	for _, i := range p[1:min(1+n, len(p))] {
		names = append(names, g.hosts[i])
	}
	return strings.Join(names, ", "), g.hosts[p[0]]
}

// writeBurst draws traffic that fills queues.
func (g *bursts) writeBurst(say func(string, ...any)) {
	more := g.more()
	start := g.IntN(g.duration / 2)
	switch g.IntN(5) {
	case 0, 1: // many at once
		from, to := g.some(2 + g.IntN(12))
		say("  - {incast: {senders: [%s], to: %s, bytes: %dkB, every: %dms, jitter: %dus}, start: %dms, %s%s}",
			from, to, 5+g.IntN(80), 50+g.IntN(500), g.IntN(2)*g.IntN(3000), start, more,
			g.of("", ", transport: udp", fmt.Sprintf(", transport: udp, packet: %d", 300+g.IntN(1000))))
	case 2: // one that sends as much as it can for a while
		from, to := g.some(1)
		say("  - {constant: {from: %s, to: %s, bytes: %dkB}, start: %dms, %s%s}", from, to, 40+g.IntN(1500), start,
			more, g.of(", transport: tcp", fmt.Sprintf(", rate: %dM, packet: %d", 20+g.IntN(300), 500+g.IntN(900))))
	case 3: // some that meet for a while
		from, to := g.some(2 + g.IntN(3))
		for _, host := range strings.Split(from, ", ") {
			at := start + g.IntN(100)
			say("  - {constant: {from: %s, to: %s}, rate: %dM, packet: %d, start: %dms, stop: %dms, %s}", host, to,
				5+g.IntN(100), 500+g.IntN(900), at, at+5+g.IntN(200), more)
		}
	default: // all to the next one
		from, to := g.some(2 + g.IntN(6))
		say("  - {all_reduce: {hosts: [%s, %s], bytes: %dkB, every: %dms}, start: %dms, %s}", to, from, 20+g.IntN(600),
			50+g.IntN(400), start, more)
	}
}

// writeBeside draws traffic that fills no queue by itself.
func (g *bursts) writeBeside(say func(string, ...any)) {
	if g.IntN(2) == 0 {
		from, to := g.some(1)
		say("  - {constant: {from: %s, to: %s}, rate: %dk, packet: %d, %s}", from, to, 100+g.IntN(3000),
			150+g.IntN(1100), g.more())
		return
	}
	say("  - {poisson: {load: %d.%d%%, sizes: %s, max_size: 200kB}, %s}", g.IntN(6), 1+g.IntN(9),
		g.of("web_search", "data_mining", "10kB", "5kB"), g.more())
}
