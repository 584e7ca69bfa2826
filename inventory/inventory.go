// Package inventory reads what is known of devices beside what they report: names of their ports and of hosts, speeds,
// sites, what is plugged into them. docs/reference/configuration.md describes the file, which names the other sources.
//
// To add a source: 1. a file here with its part of the file of the inventory and a type that is a Source, 2. a field of
// it in file, and its sources in file.sources, 3. its origin in precedence, 4. its part of configuration.md.
package inventory

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

type file struct {
	Nodes map[uint32]node `yaml:"nodes"`
	Hosts []host          `yaml:"hosts"`
	SNMP  []snmpDevices   `yaml:"snmp"`
	GNMI  []gnmiDevices   `yaml:"gnmi"`

	NetBox []netBox `yaml:"netbox"`
}

// sources returns the others that f names.
func (f *file) sources(d *conf.Document) (list []Source) {
	for i := range f.NetBox {
		list = append(list, f.NetBox[i].sources(d, fmt.Sprintf("netbox[%d]", i))...)
	}
	for i := range f.GNMI {
		list = append(list, f.GNMI[i].sources(d, fmt.Sprintf("gnmi[%d]", i))...)
	}
	for i := range f.SNMP {
		list = append(list, f.SNMP[i].sources(d, fmt.Sprintf("snmp[%d]", i))...)
	}
	seen := map[string]bool{}
	for _, s := range list {
		if name := s.String(); seen[name] {
			d.Say("", "%s is there twice", name)
		} else {
			seen[name] = true
		}
	}
	if len(list) > maxSources {
		d.Say("", "%d devices and servers to ask, want at most %d", len(list), maxSources)
	}
	return list
}

// A Config is what a file says. nil is one that says nothing.
type Config struct {
	Inventory *telemetry.Inventory // of the file alone
	Sources   []Source             // the others
	file      *Known
}

// Known returns what is known of the file alone; nil: nothing.
func (c *Config) Known() *telemetry.Inventory {
	if c == nil {
		return nil
	}
	return c.Inventory
}

type node struct {
	Name  string               `yaml:"name"`
	Role  string               `yaml:"role"`
	Site  string               `yaml:"site"`
	Unit  *telemetry.QueueUnit `yaml:"queue_unit"`
	Ports map[uint32]port      `yaml:"ports"`
}

type port struct {
	Name      string     `yaml:"name"`
	Speed     unit.Rate  `yaml:"speed"`
	QueueSize unit.Bytes `yaml:"queue_size"`
}

type host struct {
	Address unit.Prefix `yaml:"address"`
	Name    string      `yaml:"name"`
	Site    string      `yaml:"site"`
}

// kind is large enough for 100,000 ports.
var kind = conf.Kind{Limit: 16 << 20, Want: "nodes, hosts, netbox, gnmi or snmp"}

// Load reads a file. The error has a line for each thing that is wrong.
func Load(name string) (*Config, error) {
	text, err := kind.Read(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, text)
}

// Parse reads the text of a file; name is that of the file in errors.
func Parse(name string, text []byte) (*Config, error) {
	var f file
	d, err := kind.Parse(name, text, &f)
	if err != nil && !d.IsRead() {
		return nil, err
	}
	v := &Known{Nodes: map[uint32]telemetry.InventoryNode{}}
	names := map[string]uint32{}
	for _, id := range slices.Sorted(maps.Keys(f.Nodes)) {
		n, key := f.Nodes[id], fmt.Sprintf("nodes.%d", id)
		checkName(d, key+".name", n.Name, true)
		checkName(d, key+".role", n.Role, true)
		checkName(d, key+".site", n.Site, true)
		if other, taken := names[n.Name]; taken && n.Name != "" {
			d.Say(key+".name", "%q is the name of node %d too, want another one", n.Name, other)
		}
		if _, err := strconv.ParseUint(n.Name, 0, 64); err == nil {
			d.Say(key+".name", "got %q, want a name that is no number", n.Name)
		}
		names[n.Name] = id
		v.Nodes[id] = telemetry.InventoryNode{
			Name: n.Name, Role: n.Role, Site: n.Site, Unit: n.Unit, Ports: portsOf(d, key, n.Ports),
		}
	}
	for i, h := range f.Hosts {
		key := fmt.Sprintf("hosts[%d]", i)
		if h.Address.IsZero() {
			d.Say(key+".address", "want an address such as 10.0.1.4, or a prefix such as 10.0.2.0/24")
		}
		checkName(d, key+".name", h.Name, false)
		checkName(d, key+".site", h.Site, true)
		if slices.ContainsFunc(f.Hosts[:i], func(other host) bool { return other.Address == h.Address }) {
			d.Say(key+".address", "%v is there twice", h.Address)
		}
		v.Hosts = append(v.Hosts, telemetry.InventoryHost{Prefix: h.Address.Prefix, Name: h.Name, Site: h.Site})
	}
	sources := f.sources(d)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return &Config{Merge([]Answer{{Origin: File, Known: v}}), sources, v}, nil
}

func portsOf(d *conf.Document, node string, of map[uint32]port) map[uint32]telemetry.InventoryPort {
	ports, names := map[uint32]telemetry.InventoryPort{}, map[string]uint32{}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		p, key := of[id], fmt.Sprintf("%s.ports.%d", node, id)
		checkName(d, key+".name", p.Name, true)
		if other, taken := names[p.Name]; taken && p.Name != "" {
			d.Say(key+".name", "%q is the name of port %d too, want another one", p.Name, other)
		}
		names[p.Name] = id
		ports[id] = telemetry.InventoryPort{Name: p.Name, Speed: uint64(p.Speed), QueueSize: uint64(p.QueueSize)}
	}
	return ports
}

// maxName is how many bytes a name has at most.
const maxName = 64

func checkName(d *conf.Document, key, name string, mayMiss bool) {
	if name == "" && !mayMiss || name != "" && !isName(name) {
		d.Say(key, "got %q, want a name of at most %d bytes", name, maxName)
	}
}

func isName(name string) bool {
	return name != "" && len(name) <= maxName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
