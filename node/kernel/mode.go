//go:build linux

package kernel

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/internal/conf"
)

// virtual are drivers behind which are sockets of this machine: containers, virtual machines. Their packets may come
// without a checksum, or several in one, as those sockets leave them to a network card.
var virtual = map[string]bool{
	"veth": true, "tun": true, "bridge": true, "netkit": true, "macvlan": true, "ipvlan": true, "openvswitch": true,
}

// sourceMode says whether watched packets that come by a port stay as they are, and clones follow them, and why. It
// looks at the interface, in the network namespace of this thread.
func (c *Config) sourceMode(p *Port) (clone bool, why string) {
	joined := joinedBelow(p.Interface)
	switch {
	case !p.Edge:
		return false, "no edge: packets have INT already, or get none here"
	case c.node.Mode == "xd":
		return false, "mode xd: packets stay as they are"
	case p.Clone != nil:
		return *p.Clone, "the file says so"
	case c.node.Clone:
		return true, "int.clone says so"
	case c.cannotClone() != "":
		return false, c.cannotClone()
	case virtual[driver(p.Interface)]:
		return true, driver(p.Interface) + ": packets of sockets behind it may have no checksum yet"
	case joined != "":
		return true, "packets are joined before they come to it (GRO of " + joined + ")"
	}
	return false, "a link: packets have their checksums, and come one by one"
}

// mayClone says whether there can be ports with clones.
func (c *Config) mayClone() bool {
	return c.node.Clone || c.cannotClone() == "" && slices.ContainsFunc(c.Ports, func(p Port) bool { return p.Edge })
}

// Dump returns the file of c as it counts on this machine, with all defaults, and beside each port why its packets get
// INT, or clones.
func (c *Config) Dump() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "name: %q\nid: %d\n", c.Name, c.ID)
	if c.Address.IsValid() {
		fmt.Fprintf(&b, "address: %s\n", c.Address)
	}
	b.WriteString("ports:\n")
	for i := range c.Ports {
		p := &c.Ports[i]
		clone, why := c.sourceMode(p)
		fmt.Fprintf(&b, "  - {interface: %q", p.Interface)
		if p.Queue != "" {
			fmt.Fprintf(&b, ", queue: %q", p.Queue)
		}
		if p.Edge {
			fmt.Fprintf(&b, ", edge: true, clone: %v", clone)
		}
		if p.Fast {
			b.WriteString(", fast: true")
		}
		fmt.Fprintf(&b, "} # %s\n", why)
	}
	fmt.Fprintf(&b, "local: %v\npin: %v\n", c.Local, c.Pin)
	if a := c.API; a != nil {
		text, err := conf.Format(map[string]*API{"api": a})
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	text, err := conf.Format(&c.node)
	if err != nil {
		return nil, err
	}
	b.WriteString("int:\n")
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, ": null\n") && !strings.HasSuffix(line, ": ''\n") { // a key without a value is none
			b.WriteString("  " + line)
		}
	}
	return b.Bytes(), nil
}
