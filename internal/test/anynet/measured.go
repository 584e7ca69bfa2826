package anynet

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Measured draws a scenario of 12 seconds for what is estimated: clocks that are wrong, of which one may be set, short
// links and long ones, traffic in both directions or in one, and up to two links that lose packets.
func Measured(r *rand.Rand) string {
	g := &network{Rand: r, long: true}
	if r.IntN(3) == 0 {
		g.far = 1 + r.IntN(100)
	}
	var b strings.Builder
	say := func(format string, v ...any) { fmt.Fprintf(&b, format+"\n", v...) }
	say("name: measured\nduration: 12s")
	g.writeTopology(say)
	say("clocks: {offset: %s, drift: %d}", g.of("5us", "3ms", "2s"), g.IntN(2)*g.IntN(60))
	say("traffic:")
	if g.IntN(4) == 0 {
		for range 1 + g.IntN(4) {
			g.writeOneWay(say)
		}
	} else {
		for range 1 + g.IntN(3) {
			g.slow = g.IntN(4) == 0
			g.writeTraffic(say)
		}
	}
	var faults []string
	add := func(format string, v ...any) { faults = append(faults, fmt.Sprintf(format, v...)) }
	for _, i := range g.Perm(len(g.links))[:min(g.IntN(3), len(g.links))] {
		link := g.links[i]
		add("{gray_link: {link: [%s, %s], drop: %.2f%%}}", link[0], link[1],
			0.1+20*g.Float64()*g.Float64()*g.Float64())
	}
	if g.IntN(2) == 0 {
		// By more than packets take there and back: what is less may not show, and how fast a clock goes does so over
		// seconds only.
		step := (20e6 + 1e9*g.Float64()*g.Float64()*g.Float64()) * float64(1-2*g.IntN(2))
		add("{at: %dms, clock: {node: %s, offset: %dns, drift: %d}}", 3000+g.IntN(6000), g.of(g.switches...), int(step),
			g.IntN(2)*(g.IntN(300)-150))
	}
	if len(faults) > 0 {
		say("faults:\n  - %s", strings.Join(faults, "\n  - "))
	}
	return b.String()
}

// writeOneWay draws traffic that nobody answers, from a host to one behind it in the list.
func (g *network) writeOneWay(say func(string, ...any)) {
	p := g.Perm(len(g.hosts))
	a, b := min(p[0], p[1]), max(p[0], p[1])
	say("  - {constant: {from: %s, to: %s}, rate: %dk, packet: %d, port: %d, ip: %q}", g.hosts[a], g.hosts[b],
		20+g.IntN(2000), 150+g.IntN(1100), 1000+g.IntN(60000), g.of("4", "6"))
}
