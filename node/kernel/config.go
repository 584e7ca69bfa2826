package kernel

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/wire/packet"
)

// A Config is what a file says.
type Config struct {
	Name    string     `yaml:"name"`
	ID      uint32     `yaml:"id"`      // of the node, not 0, unique in the network
	Address netip.Addr `yaml:"address"` // that reports come from; default that of the route to the collector
	Ports   []Port     `yaml:"ports"`   // Ports[n-1] is port n
	// Local: what came by none of the ports is watched, too: packets of this machine, and of containers in it. They
	// stay as they are, and probe clones follow them.
	Local bool `yaml:"local"`
	// Pin: the programs stay at the interfaces when the process ends, also when it is killed, and the next one replaces
	// them.
	Pin bool `yaml:"pin"`
	API *API `yaml:"api"` // nil: none but the local socket
	// what docs/reference/node.md says
	INT conf.Raw `yaml:"int"`
	// Collectors get the reports; none: those that INT says.
	Collectors []netip.AddrPort `yaml:"-"`

	node   node.Config // of INT
	cloned bool        // ports of it, once attached
}

// A Port is an interface.
type Port struct {
	Interface string `yaml:"interface"`
	// Queue is a bridge with this interface only: it has the IP address, and the queue if packets wait anywhere. Then
	// latencies include that. None: the interface has the address, and latencies end in front of its queue.
	Queue string `yaml:"queue"`
	Edge  bool   `yaml:"edge"` // behind it are hosts
	// Clone: watched packets that come from this edge stay as they are, and probe clones follow them. nil: what is
	// right for what may come there, see sourceMode.
	Clone *bool `yaml:"clone"`
	// Fast: packets from one such port to another that the kernel would only forward leave at once, past its stack.
	Fast bool `yaml:"fast"`
}

// API says where the node answers over the network, with TLS.
type API struct {
	Listen    string `yaml:"listen"` // ADDRESS:PORT
	Cert      string `yaml:"cert"`   // file, PEM
	Key       string `yaml:"key"`
	TokenFile string `yaml:"token_file"` // file with what clients must have
}

// Load reads a file. The error says all that is wrong with it, with lines.
func Load(name string) (*Config, error) {
	text, err := conf.Kind{}.Read(name)
	if err != nil {
		return nil, err
	}
	c, err := Parse(text)
	return c, conf.InFile(name, err)
}

// Parse reads the text of a file. The error says all that is wrong with it, with lines.
func Parse(text []byte) (*Config, error) {
	c := &Config{}
	file, err := conf.Kind{Want: "id, ports and int"}.Parse("", text, c)
	if err != nil {
		return nil, err
	}
	c.check(file)
	if err := file.Err(); err != nil {
		return nil, err
	}
	if c.node, err = node.Load(c.INT.Text); err != nil {
		return nil, err
	}
	c.refuse(file)
	return c, file.Err()
}

// check says what is wrong with c, the part of the node left aside.
func (c *Config) check(file *conf.Document) {
	if c.ID == 0 {
		file.Say("id", "got 0, want the number of the node")
	}
	if len(c.Ports) == 0 {
		file.Say("ports", "there is none")
	}
	if a := c.API; a != nil {
		if _, err := netip.ParseAddrPort(a.Listen); err != nil {
			file.Say("api.listen", "got %q, want ADDRESS:PORT, such as 0.0.0.0:8556", a.Listen)
		}
		for key, name := range map[string]string{"cert": a.Cert, "key": a.Key, "token_file": a.TokenFile} {
			if name == "" {
				file.Say("api."+key, "it is missing; the API is never without TLS and a token")
			}
		}
	}
	seen := map[string]bool{}
	for i, p := range c.Ports {
		if p.Interface == "" {
			file.Say(fmt.Sprintf("ports[%d].interface", i), "it has no name")
		}
		for _, name := range []string{p.Interface, p.Queue} {
			if name != "" && seen[name] {
				file.Say(fmt.Sprintf("ports[%d]", i), "got %s twice", name)
			}
			seen[name] = true
		}
	}
}

// pointsOf are the code points by which the programs know INT, by carrier.
var pointsOf = map[string][]string{
	"dscp":     {"int_dscp", "int_dscp_mask"},
	"dst-port": {"int_udp_port"},
	"new-udp":  {"int_udp_port"},

	"vxlan-gpe": {"vxlan_gpe_int_next_protocols", "vxlan_gpe_next_protocol_5"},
	"geneve":    {"geneve_int_class"},
}

// announces are the code points of INT and IOAM in packets.
var announces = map[string]bool{
	"int_dscp": true, "int_dscp_mask": true, "int_udp_port": true, "probe_marker": true, "gre_int_protocol": true,
	"int_before_tcp_options": true, "vxlan_gpe_int_next_protocols": true, "vxlan_gpe_next_protocol_5": true,
	"vxlan_gpe_ioam_next_protocol": true, "geneve_int_class": true,
}

// carrier returns the carrier, also where the file leaves it to the version.
func (c *Config) carrier() string {
	switch {
	case c.node.Carrier != "":
		return c.node.Carrier
	case c.node.Version == "2016":
		return "geneve"
	}
	return "dscp"
}

func (c *Config) byDSCP() bool { return c.carrier() == "dscp" }

func (c *Config) inTunnels() bool { return c.carrier() == "vxlan-gpe" || c.carrier() == "geneve" }

// refuse names what the programs in the kernel do not do.
func (c *Config) refuse(file *conf.Document) {
	n := &c.node
	for _, r := range []struct {
		key  string
		bad  bool
		want string
	}{
		{"mode", n.Mode == "ioam", "md, mx or xd"},
		{"version", n.Version == "0.5", "2016, 1.0, 2.0 or 2.1"},
		{"destination", len(n.Destination) > 0, "none"},
		{"least_hops", n.LeastHops > 0, "0"},
		{"edge_int", c.inTunnels() && c.edgeINT() == "accept", "drop with INT in tunnels"},
		{"replicas", n.Replicas != "none", "none"},
		{"replicate", n.Replicate, "false"},
		{"slow_path", n.SlowPath, "false"},
		{"carrier", pointsOf[c.carrier()] == nil, "dscp, dst-port, new-udp, vxlan-gpe or geneve"},
		{"new_ip", n.NewIP, "false"},
		{"clone", n.Clone && !c.byDSCP(), "false with carrier " + c.carrier()},
		{"dialect", n.Dialect != "", "none"},
		{"domain", n.Domain != 0 && !c.namesDevice(), "0, or 0x5453 with ds_instruction 0x8000"},
		{"clone", n.Domain != 0 && n.Clone, "false in domain 0x5453"},
		{"ds_metadata", len(n.DSMetadata) > 0, "none"},
		{"clone", n.Clone && n.Mode == "mx", "false in mode mx"},
		{"ds_mark", n.DSMark != 0, "0"},
		{"checksum_complement", n.Complement, "false"},
	} {
		if r.bad {
			file.Say("int."+r.key, "the node in the kernel does not do that yet, want %s", r.want)
		}
	}
	if c.Local && n.Domain != 0 {
		file.Say("local", "got true in domain %#04x; who sent a packet is only known where it arrives", n.Domain)
	}
	if c.Local && n.Mode != "md" {
		file.Say("local", "got true in mode %s; packets of this machine get clones, which are of mode md", n.Mode)
	}
	if c.Local && !c.byDSCP() {
		file.Say("local", "got true with carrier %s; packets of this machine get clones, which are of dscp",
			c.carrier())
	}
	if c.Local && n.Version == "1.0" {
		file.Say("local", "got true in version 1.0; packets of this machine get clones, which are of 2.x")
	}
	for i, p := range c.Ports {
		if why := c.cannotClone(); p.Clone != nil && *p.Clone && why != "" {
			file.Say(fmt.Sprintf("ports[%d].clone", i), "got true; %s", why)
		}
	}
	c.refuseFast(file)
	if _, named := n.Points["geneve_int_class"]; named {
		if d, err := c.newNode(); err == nil && len(d.Domain().OwnGeneveClasses()) > 1 {
			file.Say("int.points.geneve_int_class", "the node in the kernel knows one class, from 2.0 on 0x0103")
		}
	}
	for key := range n.Points {
		if known := pointsOf[c.carrier()]; announces[key] && !slices.Contains(known, key) {
			file.Say("int.points."+key, "the node in the kernel knows INT of its own domain only, by %s",
				strings.Join(known, ", "))
		}
	}
	for i := range n.Queues {
		if q := n.Queues[i].Queue; q != nil && *q != 0 {
			file.Say(fmt.Sprintf("int.queues[%d]", i), "queue: got %d; the node in the kernel knows queue 0 only", *q)
		}
	}
	for i := range n.Drops {
		switch e := &n.Drops[i]; {
		case e.VLAN != nil && *e.VLAN != 0:
			file.Say(fmt.Sprintf("int.drops[%d]", i), "vlan: the kernel has taken the tag off when it drops a packet")
		case e.VNI != nil:
			file.Say(fmt.Sprintf("int.drops[%d]", i), "vni: the node in the kernel does not do that yet")
		}
	}
	for i := range n.Watch {
		if wrong := c.refuseEntry(&n.Watch[i]); wrong != nil {
			file.Say(fmt.Sprintf("int.watch[%d]", i), "%s", wrong)
		}
	}
}

// refuseFast says where packets cannot go past the kernel's stack.
func (c *Config) refuseFast(file *conf.Document) {
	fast := 0
	for i, p := range c.Ports {
		if !p.Fast {
			continue
		}
		fast++
		for _, r := range []struct {
			bad bool
			why string
		}{
			{p.Edge, "at an edge packets need the egress behind the kernel: INT begins and ends there"},
			{p.Queue != "", "packets would not wait in queue " + p.Queue},
			{
				slices.ContainsFunc(c.node.Queues, func(q node.Queue) bool { return q.Port == uint32(i+1) }),
				"packets wait in no queue, and int.queues would not see them",
			},
			{c.Pin, "with pin nobody would look whether the driver takes packets"},
		} {
			if r.bad {
				file.Say(fmt.Sprintf("ports[%d].fast", i), "got true; %s", r.why)
			}
		}
	}
	if fast == 1 {
		file.Say("ports", "fast: got one port, want none or two at least; it is for packets from one to another")
	}
}

// hasFast says whether there are ports with fast.
func (c *Config) hasFast() bool {
	return slices.ContainsFunc(c.Ports, func(p Port) bool { return p.Fast })
}

// cannotClone says why there can be no clones, "" if there can.
func (c *Config) cannotClone() string {
	n := &c.node
	switch {
	case n.Mode != "md":
		return "clones are of mode md"
	case !c.byDSCP():
		return "clones are of carrier dscp"
	case n.Version == "1.0" || n.Version == "2016":
		return "clones are of version 2.x"
	case n.Domain != 0:
		return fmt.Sprintf("there are no clones in domain %#04x", n.Domain)
	}
	for i := range n.Watch {
		if n.Watch[i].Mode == watch.ModeMX {
			return "clones are of mode md, and an entry of int.watch is of mode mx"
		}
	}
	return ""
}

// namesDevice says whether packets get the id of the device that sent them, and nothing else of a domain.
func (c *Config) namesDevice() bool {
	if n, err := c.newNode(); err == nil {
		return n.NamesDevice()
	}
	return false
}

// refuseEntry says what of an entry of the flow watchlist the programs do not do.
func (c *Config) refuseEntry(e *watch.Entry) error {
	switch {
	case (c.node.Clone || c.Local || c.cloned) && e.Mode == watch.ModeMX:
		return errors.New("mode: clones are of mode md here")
	case e.VNI != nil && !c.inTunnels():
		return errors.New("vni: the node in the kernel looks into tunnels with carrier vxlan-gpe or geneve only")
	}
	return nil
}

// newNode returns the node that decides about reports. It samples nothing: the programs have done that.
func (c *Config) newNode() (*node.Node, error) {
	config := c.node
	config.Omit = append(slices.Clone(config.Omit), "buffer", "l2_interfaces", "queue_congestion", "egress_tx_util")
	config.Watch = c.unsampled()
	if o, ok := config.Nodes[c.Name]; ok && o.Omit != nil {
		return nil, fmt.Errorf("nodes.%s.omit: write it to omit", c.Name)
	}
	return node.New(config, c.spec())
}

// unsampled returns the flow watchlist for who gets the packets that have been chosen already.
func (c *Config) unsampled() []watch.Entry {
	entries := slices.Clone(c.node.Watch)
	for i := range entries {
		entries[i].Sample = 0
	}
	return entries
}

// differs returns the first key besides the watchlists in which o is not like c, "" if there is none.
func (c *Config) differs(o *Config) string {
	a, b := c.node, o.node
	a.Watch, b.Watch, a.Drops, b.Drops = nil, nil, nil, nil
	switch {
	case c.Name != o.Name:
		return "name"
	case c.ID != o.ID:
		return "id"
	case c.Address != o.Address:
		return "address"
	case !reflect.DeepEqual(c.Ports, o.Ports):
		return "ports"
	case c.Local != o.Local:
		return "local"
	case c.Pin != o.Pin:
		return "pin"
	case !reflect.DeepEqual(c.API, o.API):
		return "api"
	case !reflect.DeepEqual(a, b):
		return "int"
	}
	return ""
}

// spec returns the switch that the node is part of. Addresses that the machine has are only known when a report is
// sent: until then others stand in for them.
func (c *Config) spec() node.Spec {
	s := node.Spec{
		NodeID: c.ID, Name: c.Name, Queues: 1, Seed: uint64(c.ID), Collectors: c.Collectors,
		Source: netip.AddrFrom4([4]byte{192, 0, 2, 1}), Source6: netip.MustParseAddr("2001:db8::1"),
	}
	switch {
	case c.Address.Is4():
		s.Source = c.Address
	case c.Address.Is6():
		s.Source6 = c.Address
	}
	for _, p := range c.Ports {
		s.Ports = append(s.Ports, node.Port{Edge: p.Edge})
	}
	return s
}

// watched returns how many entries the flow watchlist may have later.
func (c *Config) watched() int { return 2 * len(c.node.Watch) }

// payload returns the UDP payload of a report and where it goes to; frame is Ethernet, IP without options and UDP.
func payload(frame []byte) (b []byte, to netip.AddrPort, err error) {
	var eth packet.Ethernet
	n, err := eth.Decode(frame)
	if err != nil {
		return nil, to, err
	}
	var address netip.Addr
	var m int
	if eth.EtherType == packet.EtherTypeIPv6 {
		var ip packet.IPv6
		m, err = ip.Decode(frame[n:])
		address = netip.AddrFrom16(ip.Dst)
	} else {
		var ip packet.IPv4
		m, err = ip.Decode(frame[n:])
		address = netip.AddrFrom4(ip.Dst)
	}
	if err != nil {
		return nil, to, err
	}
	var udp packet.UDP
	k, err := udp.Decode(frame[n+m:])
	return frame[n+m+k:], netip.AddrPortFrom(address, udp.DstPort), err
}
