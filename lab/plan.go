//go:build linux

package lab

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/node/kernel"
)

// A router is a switch of the scenario.
type router struct {
	truth.Switch
	ns    *namespace
	ports []*port // number n is ports[n-1]

	routes map[netip.Prefix][]*port // as the kernel has them
	tables []table                  // all that it had, for the truth
	config *kernel.Config           // of its node; nil: none
	node   *runningNode             // nil: it does not run
}

// A port is an end of a link. A host has one, with number 0.
type port struct {
	id     uint32
	router *router // nil: of a host
	host   *host   // nil: of a router
	link   *link
	peer   *port
	mac    string
	limit  uint64 // bytes that may wait

	track queue // for the truth
}

// A host is a host of the scenario.
type host struct {
	truth.Host
	ns       *namespace
	port     *port
	v4, v6   netip.Addr
	nextPort uint16 // source port of the next conversation
}

// A link joins two ports.
type link struct {
	truth.Link
	a, b  *port
	gray  *wire         // nil: it never loses packets
	down  int           // faults that have it down
	up    chan struct{} // closed when the kernel knows that it is up again; nil: it was never down
	known bool          // routes take it for up
}

// names of the interfaces of a port
func (p *port) veth() string {
	if p.host != nil {
		return "eth0"
	}
	return fmt.Sprintf("eth%d", p.id)
}

// device is what has the address and the queue.
func (p *port) device() string {
	if p.host != nil {
		return "eth0"
	}
	return fmt.Sprintf("p%d", p.id)
}

func (p *port) ns() *namespace {
	if p.host != nil {
		return p.host.ns
	}
	return p.router.ns
}

func (p *port) name() string {
	if p.host != nil {
		return p.host.Name
	}
	return p.router.Name
}

// A topology takes the first records of an emulated run: numbers, names and addresses are those of the fabric.
type topology struct {
	run      truth.Run
	switches []*truth.Switch
	hosts    []*truth.Host
	links    []*truth.Link
}

func (t *topology) Write(b []byte) (int, error) { return len(b), nil }

// Record implements truth.Recorder.
func (t *topology) Record(r truth.Record) error {
	switch r := r.(type) {
	case *truth.Run:
		t.run = *r
	case *truth.Switch:
		t.switches = append(t.switches, r)
	case *truth.Host:
		t.hosts = append(t.hosts, r)
	case *truth.Link:
		t.links = append(t.links, r)
	}
	return nil
}

// plan makes routers, hosts and links of a scenario, on paper.
func (l *Lab) plan(s *scenario.Scenario) error {
	var t topology
	if _, err := fabric.New(s, fabric.Options{Truth: &t}); err != nil {
		return err
	}
	l.run = t.run
	for _, r := range t.switches {
		r.OffsetNs, r.DriftPPB, r.LatencyNs = 0, 0, 0 // the clock is that of the machine
		r.INT = !slices.ContainsFunc(s.Nodes, func(n scenario.Node) bool { return n.Name == r.Name && n.WithoutINT })
		l.routers = append(l.routers, &router{
			Switch: *r, ports: make([]*port, r.Ports), routes: map[netip.Prefix][]*port{},
		})
	}
	byPort := map[[2]uint32]*host{}
	for i, r := range t.hosts {
		h := &host{Host: *r, nextPort: firstPort}
		h.v4, h.v6 = netip.MustParseAddr(r.Address), netip.MustParseAddr(r.Address6)
		l.hosts = append(l.hosts, h)
		l.hostNamed[r.Name] = l.hosts[i]
		byPort[[2]uint32{r.Node, r.Port}] = h
	}
	for _, r := range t.links {
		k := &link{Link: *r, known: true}
		k.a, k.b = l.newPort(k, r.NodeA, r.PortA), l.newPort(k, r.NodeB, r.PortB)
		for _, ends := range [][2]*port{{k.a, k.b}, {k.b, k.a}} {
			if ends[0].router == nil {
				ends[0].host = byPort[[2]uint32{ends[1].router.Node, ends[1].id}]
				ends[0].host.port, ends[0].mac = ends[0], ends[0].host.MAC
			}
			ends[0].peer = ends[1]
		}
		for _, p := range []*port{k.a, k.b} {
			p.limit = l.room(s, p)
		}
		l.links = append(l.links, k)
	}
	for i := range s.Faults {
		if g := s.Faults[i].GrayLink; g != nil {
			l.linkBetween(g.Link).gray = &wire{}
		}
	}
	return nil
}

func (l *Lab) newPort(k *link, node, number uint32) *port {
	p := &port{id: number, link: k}
	if node > 0 {
		p.router = l.routers[node-1]
		p.mac = fmt.Sprintf("02:01:%02x:%02x:%02x:%02x", node>>8, node&0xFF, number>>8, number&0xFF)
		p.router.ports[number-1] = p
	}
	return p
}

// room is how many bytes may wait at a port: what the dynamic threshold of a buffer leaves for one queue alone.
func (l *Lab) room(s *scenario.Scenario, p *port) uint64 {
	buffer, alpha := s.Switch.Buffer, s.Switch.Alpha
	if p.host != nil {
		return uint64(s.Host.Queue)
	}
	for _, n := range s.Nodes {
		if n.Name == p.router.Name {
			if n.Buffer != nil {
				buffer = *n.Buffer
			}
			if n.Alpha != nil {
				alpha = *n.Alpha
			}
		}
	}
	return roomOf(uint64(buffer), alpha)
}

func roomOf(buffer uint64, alpha float64) uint64 {
	return uint64(float64(buffer) * alpha / (1 + alpha))
}

func (l *Lab) linkBetween(ends scenario.Ends) *link {
	i := slices.IndexFunc(l.links, func(k *link) bool {
		a, b := k.a.name(), k.b.name()
		return ends == scenario.Ends{a, b} || ends == scenario.Ends{b, a}
	})
	return l.links[i] // the scenario was checked
}

func (l *Lab) routerNamed(name string) *router {
	i := slices.IndexFunc(l.routers, func(r *router) bool { return r.Name == name })
	return l.routers[i]
}

// hostsNamed returns hosts by their names, all if there are none.
func (l *Lab) hostsNamed(names []string) []*host {
	if len(names) == 0 {
		return l.hosts
	}
	list := make([]*host, len(names))
	for i, name := range names {
		list[i] = l.hostNamed[name]
	}
	return list
}

// missing lists what s has that kernels do not do, or do otherwise.
func missing(s *scenario.Scenario) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if len(s.Switch.Queues) > 1 {
		say("switch.queues: every port has one queue; DSCP makes no difference")
	}
	say("switch.buffer: every port has a queue of its own of %d bytes, which is what one congested port would get",
		roomOf(uint64(s.Switch.Buffer), s.Switch.Alpha))
	say("switch.latency, delays of links: they are those of this machine")
	own := func(n scenario.Node) bool { return n.Clock != nil }
	if s.Clocks.Offset != 0 || s.Clocks.Drift != 0 || slices.ContainsFunc(s.Nodes, own) {
		say("clocks: all switches have the clock of this machine")
	}
	if s.Reports.Delay != 0 {
		say("reports.delay: reports go straight to the collector")
	}
	for i, t := range s.Traffic {
		if t.Tunnel != "" && t.Transport != "udp" {
			say("traffic[%d]: left out; in tunnels is UDP only", i)
		}
	}
	for i := range s.Faults {
		if why := cannot(&s.Faults[i]); why != "" {
			say("faults[%d] %s: left out; %s", i, s.Faults[i].Kind(), why)
		}
	}
	return list
}

// cannot says why a fault is left out, "" if it is not.
func cannot(f *scenario.Fault) string {
	switch {
	case f.SlowSwitch != nil:
		return "a kernel takes no longer than it takes"
	case f.Clock != nil:
		return "all switches have the clock of this machine"
	case f.ReportLoss != nil:
		return "reports go straight to the collector"
	case f.Blackhole != nil && f.Blackhole.Silent:
		return "a kernel tells its node of everything that it drops"
	case f.DDoS != nil && f.DDoS.Spoof && f.DDoS.Send == scenario.FloodSYN:
		return "forged addresses are of udp only"
	case f.DDoS != nil && (f.DDoS.Send == scenario.FloodICMP || f.DDoS.Send == scenario.FloodFragments):
		return "floods are of UDP and SYN only"
	}
	return ""
}
