package scenario

import (
	"fmt"
	"net/netip"
	"strings"
)

// A Fault breaks something for some time. It has one of the keys after the first three.
type Fault struct {
	At    Duration `yaml:"at"`    // when it begins
	For   Duration `yaml:"for"`   // how long it lasts; default: to the end
	Every Duration `yaml:"every"` // it begins again at this interval; default: it does not

	LinkDown     *LinkDown     `yaml:"link_down"`
	GrayLink     *GrayLink     `yaml:"gray_link"`
	Blackhole    *Blackhole    `yaml:"blackhole"`
	Loop         *Loop         `yaml:"loop"`
	Polarisation *Polarisation `yaml:"polarisation"`
	SlowSwitch   *SlowSwitch   `yaml:"slow_switch"`
	Buffer       *BufferFault  `yaml:"buffer"`
	NoINT        *NoINT        `yaml:"no_int"`
	Clock        *ClockFault   `yaml:"clock"`
	ReportLoss   *ReportLoss   `yaml:"report_loss"`
	DDoS         *DDoS         `yaml:"ddos"`
	Mitigate     *Mitigate     `yaml:"mitigate"`
}

// A LinkDown cuts a link: what is on it or waits for it is lost. Routes follow after Routing.Reconvergence.
type LinkDown struct {
	Link Ends `yaml:"link"` // its two nodes
}

// A GrayLink is a link that loses packets, either way, and stays up.
type GrayLink struct {
	Link Ends  `yaml:"link"`
	Drop Share `yaml:"drop"`
}

// A Blackhole is a switch without a route for a prefix that it should have.
type Blackhole struct {
	Node   string `yaml:"node"`
	Prefix Prefix `yaml:"prefix"`
	Silent bool   `yaml:"silent"` // telemetry is not told, as of faults inside a chip
}

// A Loop is a number of neighbours of which each sends a prefix to the next, and the last to the first.
type Loop struct {
	Nodes  []string `yaml:"nodes"`
	Prefix Prefix   `yaml:"prefix"`
}

// A Polarisation gives all switches the same hash for ECMP: what hashes alike once does so again at the next tier.
type Polarisation struct{}

// A SlowSwitch is a switch with more latency than it should have.
type SlowSwitch struct {
	Node  string   `yaml:"node"`
	Extra Duration `yaml:"extra"`
}

// A BufferFault is a switch with a wrong buffer configuration.
type BufferFault struct {
	Node   string `yaml:"node"`
	Buffer Bytes  `yaml:"buffer"` // default: as it is
	Alpha  Number `yaml:"alpha"`  // default: as it is
}

// A NoINT is a switch that forgets telemetry and only forwards.
type NoINT struct {
	Node string `yaml:"node"`
}

// A ClockFault is a switch with a wrong clock. Its values are added to those that it has.
type ClockFault struct {
	Node  string `yaml:"node"`
	Clock `yaml:",inline"`
}

// A ReportLoss throws telemetry reports away on their way to the collector.
type ReportLoss struct {
	Nodes []string `yaml:"nodes"` // default: all switches
	Every Count    `yaml:"every"` // each k-th report of all these nodes together, or
	Drop  Share    `yaml:"drop"`  // this share of them at random
}

// A DDoS lets devices flood a victim.
type DDoS struct {
	From   []string `yaml:"from"` // hosts
	To     string   `yaml:"to"`   // host
	Rate   Rate     `yaml:"rate"` // of each
	Packet Bytes    `yaml:"packet"`
	Port   Count    `yaml:"port"` // destination port; default 53
	IP     string   `yaml:"ip"`   // 4 or 6; default 4
	Send   string   `yaml:"send"` // one of Floods; default udp
	// Spoof says that each packet claims to come from another address. Its MAC address is right.
	Spoof bool `yaml:"spoof"`
}

// Floods are what a DDoS may send.
const (
	FloodUDP        = "udp"
	FloodSYN        = "syn"        // TCP that asks for connections
	FloodReflection = "reflection" // UDP from port 53
	FloodICMP       = "icmp"       // echo requests
	FloodFragments  = "fragments"  // of UDP, none of which is the first: without ports
)

// A Mitigate lets a switch drop what matches, with the reason acl_deny.
type Mitigate struct {
	Node     string   `yaml:"node"`
	From     []Prefix `yaml:"from"`     // default: any
	To       []Prefix `yaml:"to"`       // default: any
	Protocol string   `yaml:"protocol"` // udp or tcp; default: any
	Port     Count    `yaml:"port"`     // destination port; default: any
}

// Kind returns the key of what breaks, for example "gray_link".
func (f *Fault) Kind() string {
	kinds := f.kinds()
	if len(kinds) == 0 {
		return ""
	}
	return kinds[0]
}

// kinds returns the keys that f has.
func (f *Fault) kinds() (keys []string) {
	for _, k := range []struct {
		key     string
		present bool
	}{
		{"link_down", f.LinkDown != nil},
		{"gray_link", f.GrayLink != nil},
		{"blackhole", f.Blackhole != nil},
		{"loop", f.Loop != nil},
		{"polarisation", f.Polarisation != nil},
		{"slow_switch", f.SlowSwitch != nil},
		{"buffer", f.Buffer != nil},
		{"no_int", f.NoINT != nil},
		{"clock", f.Clock != nil},
		{"report_loss", f.ReportLoss != nil},
		{"ddos", f.DDoS != nil},
		{"mitigate", f.Mitigate != nil},
	} {
		if k.present {
			keys = append(keys, k.key)
		}
	}
	return keys
}

func (f *Fault) check(c *checker, i int, g *Graph, names map[string]bool) {
	place := fmt.Sprintf("faults[%d]", i)
	kinds := f.kinds()
	if len(kinds) != 1 {
		c.Say(place, "got %d kinds of fault (%s), want one", len(kinds), strings.Join(kinds, ", "))
		return
	}
	if f.Every != 0 && (f.For == 0 || f.Every <= f.For) {
		c.Say(place+".every", "a fault that comes again ends before: want it longer than for")
	}
	place += "." + kinds[0]
	node := func(name string) {
		if !names[name] {
			c.Say(place+".node", "got %q, want the name of a switch", name)
		}
	}
	switch {
	case f.LinkDown != nil:
		f.link(c, place, g, f.LinkDown.Link)
	case f.GrayLink != nil:
		f.link(c, place, g, f.GrayLink.Link)
		if f.GrayLink.Drop == 0 {
			c.Say(place+".drop", "want the share of packets that it loses, for example 2%%")
		}
	case f.Blackhole != nil:
		node(f.Blackhole.Node)
		prefix(c, place+".prefix", f.Blackhole.Prefix)
	case f.Loop != nil:
		f.Loop.check(c, place, g, names)
	case f.SlowSwitch != nil:
		node(f.SlowSwitch.Node)
		if f.SlowSwitch.Extra <= 0 || f.SlowSwitch.Extra > 1e9 {
			c.Say(place+".extra", "want more than 0s, at most 1s")
		}
	case f.Buffer != nil:
		node(f.Buffer.Node)
		f.Buffer.check(c, place)
	case f.NoINT != nil:
		node(f.NoINT.Node)
	case f.Clock != nil:
		node(f.Clock.Node)
		f.Clock.Clock.check(c, place)
	case f.ReportLoss != nil:
		f.ReportLoss.check(c, place, names)
	case f.DDoS != nil:
		f.DDoS.check(c, place, names)
	case f.Mitigate != nil:
		node(f.Mitigate.Node)
		f.Mitigate.check(c, place)
	}
}

func (f *Fault) link(c *checker, place string, g *Graph, link [2]string) {
	switch n := g.links(link[0], link[1]); n {
	case 0:
		c.Say(place+".link", "got [%s, %s], want two nodes that have a link", link[0], link[1])
	case 1:
	default:
		c.Say(place+".link", "got [%s, %s], want two nodes that have one link, and not %d", link[0], link[1], n)
	}
}

func (l *Loop) check(c *checker, place string, g *Graph, names map[string]bool) {
	prefix(c, place+".prefix", l.Prefix)
	if len(l.Nodes) < 2 {
		c.Say(place+".nodes", "got %d, want at least 2", len(l.Nodes))
		return
	}
	for i, name := range l.Nodes {
		next := l.Nodes[(i+1)%len(l.Nodes)]
		if !names[name] || g.links(name, next) == 0 {
			c.Say(place+".nodes", "got %q, want the name of a switch with a link to the next one, %q", name, next)
			return
		}
	}
}

func (b *BufferFault) check(c *checker, place string) {
	all := defaultSwitch()
	if b.Buffer != 0 {
		all.Buffer = b.Buffer
	}
	if b.Alpha != 0 {
		all.Alpha = b.Alpha
	}
	if b.Buffer == 0 && b.Alpha == 0 {
		c.Say(place, "want buffer, alpha or both")
	}
	checkSwitch(c, place, all.Latency, all.Buffer, all.Alpha)
}

func (r *ReportLoss) check(c *checker, place string, names map[string]bool) {
	for _, name := range r.Nodes {
		if !names[name] {
			c.Say(place+".nodes", "got %q, want names of switches", name)
		}
	}
	if (r.Every == 0) == (r.Drop == 0) {
		c.Say(place, "want either every, a number, or drop, a share")
	}
}

func (d *DDoS) check(c *checker, place string, names map[string]bool) {
	hosts(c, place+".from", d.From, names)
	hosts(c, place+".to", []string{d.To}, names)
	if len(d.From) == 0 || d.Rate == 0 {
		c.Say(place, "want at least one host in from, and a rate")
	}
	if d.Port == 0 {
		d.Port = 53
	}
	if d.Packet == 0 {
		d.Packet = 1000
	}
	if d.IP == "" {
		d.IP = "4"
	}
	if d.Send == "" {
		d.Send = FloodUDP
	}
	oneOf(c, place+".send", d.Send, FloodUDP, FloodSYN, FloodReflection, FloodICMP, FloodFragments)
	within(c, place+".port", d.Port, 1, 1<<16-1)
	within(c, place+".packet", Count(d.Packet), 100, maxMTU)
	oneOf(c, place+".ip", d.IP, "4", "6")
}

func (m *Mitigate) check(c *checker, place string) {
	if m.Protocol != "" {
		oneOf(c, place+".protocol", m.Protocol, "tcp", "udp")
	}
	within(c, place+".port", m.Port, 0, 1<<16-1)
	if len(m.From)+len(m.To) == 0 && m.Protocol == "" && m.Port == 0 {
		c.Say(place, "would drop everything: want from, to, protocol or port")
	}
}

// prefix reports a prefix that is missing.
func prefix(c *checker, place string, p Prefix) {
	if p.Prefix == (netip.Prefix{}) {
		c.Say(place, "want an IP prefix, for example 10.0.3.0/24")
	}
}
