package anynet

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// What is an attack in the networks that Access draws: more than this to one address, or to one prefix, in a second.
const (
	FloorBPS = 4_000_000
	FloorPPS = 1500
)

// Access draws a scenario of 20 seconds: an access network with homes behind gateways, servers behind a core, traffic
// that somebody asked for, some of it much, and up to three floods of devices, some of which are less than an attack,
// and some of which a switch drops after a while. Links have room for all of it, but for those of some servers.
func Access(r *rand.Rand) string {
	a := access{network: network{Rand: r}}
	return a.write()
}

// An access is what has been drawn.
type access struct {
	network
	gateways, aggregates []string
	devices              []string
	servers              int // drawn so far
	hostLines, faults    []string
	traffic              []string
}

func (g *access) write() string {
	g.gateways = addNames(nil, "gw", 2+g.IntN(5))
	g.aggregates = addNames(nil, "agg", 1+g.IntN(2))
	perGateway := 4 + g.IntN(6)
	for i, gateway := range g.gateways {
		for d := range perGateway {
			name := fmt.Sprintf("d%d", i*perGateway+d+1)
			g.devices = append(g.devices, name)
			g.hostLines = append(g.hostLines, fmt.Sprintf("{name: %s, at: %s, link: {rate: 50M}}", name, gateway))
		}
	}
	g.writeWanted()
	for range 1 + g.IntN(3) {
		g.writeFlood()
	}
	var b strings.Builder
	say := func(format string, v ...any) { fmt.Fprintf(&b, format+"\n", v...) }
	say("name: access\nduration: 20s\nswitch: {buffer: %dkB}\ntopology:\n  graph:\n    switches:", 50+g.IntN(100))
	for _, name := range g.gateways {
		say("      - {name: %s, role: gateway}", name)
	}
	for _, name := range append(g.aggregates, "core") {
		say("      - {name: %s}", name)
	}
	say("    links:")
	for i, name := range g.gateways {
		say("      - {between: [%s, %s], rate: 500M, delay: %dus}", name, g.aggregates[i%len(g.aggregates)],
			100+g.IntN(2000))
	}
	for _, name := range g.aggregates {
		say("      - {between: [%s, core], rate: 2000M, delay: 1ms}", name)
	}
	for _, list := range []struct {
		head  string
		lines []string
	}{{"    hosts:", g.hostLines}, {"traffic:", g.traffic}, {"faults:", g.faults}} {
		say("%s", list.head)
		for _, line := range list.lines {
			say("      - %s", line)
		}
	}
	return b.String()
}

// server draws another server, in a prefix of its own, and returns its name.
func (g *access) server() string {
	g.servers++
	name := fmt.Sprintf("s%d", g.servers)
	rate := 1000
	if g.IntN(4) == 0 {
		rate = 10 + g.IntN(30)
	}
	g.addServer(name, fmt.Sprintf("192.0.%d.1", g.servers), fmt.Sprintf("2001:db8:%d::1", g.servers), rate)
	return name
}

func (g *access) addServer(name, address, address6 string, rate int) {
	g.hostLines = append(g.hostLines, fmt.Sprintf("{name: %s, at: core, address: %s, address6: %q, link: {rate: %dM}}",
		name, address, address6, rate))
}

// some draws n different devices, as a list of YAML.
func (g *access) some(n int) string {
	p := g.Perm(len(g.devices))[:min(n, len(g.devices))]
	names := make([]string, len(p))
	for i, at := range p {
		names[i] = g.devices[at]
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// writeWanted draws traffic that somebody asked for.
func (g *access) writeWanted() {
	say := func(format string, v ...any) { g.traffic = append(g.traffic, fmt.Sprintf(format, v...)) }
	say("{poisson: {load: 0.%d%%, sizes: %dkB, from: %s, to: [%s, %s]}, port: 443, ip: %q}", 1+g.IntN(9), 10+g.IntN(40),
		g.some(len(g.devices)), g.server(), g.server(), g.of("4", "6", "mixed"))
	for range g.IntN(4) {
		start := 2500 + g.IntN(9000)
		when := fmt.Sprintf("start: %dms, stop: %dms", start, start+1000+g.IntN(4000))
		device := g.of(g.devices...)
		switch g.IntN(5) {
		case 0: // a crowd
			say("{poisson: {load: %d%%, sizes: 30kB, from: %s, to: [%s]}, port: 443, %s}", 2+g.IntN(5),
				g.some(len(g.devices)), g.server(), when)
		case 1: // a download, or an upload
			from, to := g.server(), device
			if g.IntN(2) == 0 {
				from, to = to, from
			}
			say("{constant: {from: %s, to: %s}, transport: tcp, port: 5001, %s}", from, to, when)
		case 2: // a camera
			say("{constant: {from: %s, to: %s}, rate: %dk, packet: 1000, port: 8554, %s}", device, g.server(),
				500+g.IntN(9000), when)
		case 3: // a film that several homes see
			from := g.server()
			for _, i := range g.Perm(len(g.devices))[:2+g.IntN(6)] {
				say("{constant: {from: %s, to: %s}, rate: %dk, packet: 1200, port: 5004, %s}", from, g.devices[i],
					500+g.IntN(3000), when)
			}
		default: // a backup of some homes
			to := g.server()
			for _, i := range g.Perm(len(g.devices))[:2+g.IntN(8)] {
				say("{constant: {from: %s, to: %s}, transport: tcp, port: 873, %s}", g.devices[i], to, when)
			}
		}
	}
}

// writeFlood draws a flood, of devices or of prefixes that one comes from, and perhaps a switch that drops it.
func (g *access) writeFlood() {
	at, lasts := 3500+g.IntN(6000), 1500+g.IntN(4000)
	devices := 2 + g.IntN(min(20, len(g.devices)-2))
	from, ip := g.some(devices), g.of("4", "4", "4", "6")
	send := g.of("udp", "udp", "syn", "reflection", "icmp", "fragments", "forged")
	packet := 100 + g.IntN(1100)
	if send == "syn" {
		packet = 100
	}
	// From less than half of what is an attack up to five times as much; not about as much.
	times := 0.2 + 0.3*g.Float64()
	if g.IntN(5) > 0 {
		times = 1.6 + 3.4*g.Float64()
	}
	bits := times * min(FloorBPS, FloorPPS*8*float64(packet))
	more := fmt.Sprintf("packet: %d, port: %d, ip: %q, send: %s", packet, 1+g.IntN(60000), ip, send)
	if send == "forged" {
		more = strings.Replace(more, "send: forged", "spoof: true", 1)
	}
	flood := func(at, lasts int, to string, bits float64) {
		g.faults = append(g.faults, fmt.Sprintf("{at: %dms, for: %dms, ddos: {from: %s, to: %s, rate: %.0fk, %s}}", at,
			lasts, from, to, bits/1000/float64(devices), more))
	}
	switch g.IntN(6) {
	case 0: // carpet bombing
		g.servers++
		hosts := 9 + g.IntN(8)
		for i := range hosts {
			name := fmt.Sprintf("s%dc%d", g.servers, i+1)
			g.addServer(name, fmt.Sprintf("192.0.%d.%d", g.servers, i+1),
				fmt.Sprintf("2001:db8:%d::%d", g.servers, i+1), 1000)
			flood(at, lasts, name, bits/float64(hosts))
		}
	case 1: // pulses
		to := g.server()
		for range 2 + g.IntN(3) {
			lasts = 500 + g.IntN(700)
			flood(at, lasts, to, bits)
			at += lasts + 500 + g.IntN(1500)
		}
	default:
		to, prefix := g.server(), fmt.Sprintf("192.0.%d.1/32", g.servers)
		flood(at, lasts, to, bits)
		if ip == "6" {
			prefix = fmt.Sprintf("2001:db8:%d::1/128", g.servers)
		}
		if g.IntN(2) > 0 {
			return
		}
		filter := g.of(append(g.gateways, g.aggregates...)...)
		begin := at + 800 + g.IntN(lasts-800)
		g.faults = append(g.faults, fmt.Sprintf("{at: %dms, for: %dms, mitigate: {node: %s, to: [%q]}}", begin,
			500+g.IntN(5000), filter, prefix))
	}
}
