package inventory

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

const example = `nodes:
  1:
    name: leaf1
    role: leaf
    site: ams1
    queue_unit: cells:80
    ports:
      6: {name: Ethernet6, speed: 25G, queue_size: 12MB}
      7: {name: Ethernet7}
  5: {name: spine1}
hosts:
- {address: 10.0.2.0/24, name: rack 2, site: ams1}
- {address: 10.0.1.4, name: h4}
- {address: 2001:db8::/32, name: outside}
`

func TestParse(t *testing.T) {
	c, err := Parse("i.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	v := c.Inventory
	number := func(n uint32) *uint32 { return &n }
	for _, c := range []struct {
		node, port *uint32
		want       telemetry.InventoryPort
	}{
		{number(1), number(6), telemetry.InventoryPort{
			Name: "Ethernet6", Speed: 25e9, QueueSize: 12e6,
			From: telemetry.PortOrigins{Name: File, Speed: File, QueueSize: File},
		}},
		{number(1), number(7), telemetry.InventoryPort{
			Name: "Ethernet7", From: telemetry.PortOrigins{Name: File},
		}},
		{number(1), number(8), telemetry.InventoryPort{}},
		{number(9), number(6), telemetry.InventoryPort{}},
		{number(1), nil, telemetry.InventoryPort{}},
		{nil, number(6), telemetry.InventoryPort{}},
	} {
		if got := v.Port(c.node, c.port); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
	for address, want := range map[string]string{
		"10.0.1.4": "h4", "10.0.2.77": "rack 2", "::ffff:10.0.1.4": "h4", "2001:db8::1": "outside", "10.0.3.1": "",
	} {
		if got := v.Host(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
	if n := v.Nodes[1]; n.Name != "leaf1" || n.Role != "leaf" || n.Site != "ams1" || n.Unit.String() != "cells:80" {
		t.Errorf("got %+v", n)
	}
	var none *telemetry.Inventory
	if !reflect.DeepEqual(none.Port(number(1), number(6)), telemetry.InventoryPort{}) ||
		none.Host(netip.MustParseAddr("10.0.1.4")) != "" {
		t.Error("no inventory knows something")
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "i.yaml:1: the file is empty, want nodes, hosts, netbox, gnmi or snmp",
		"nodes:\n  1: {nam: a}":                  `i.yaml:2: nodes.1: unknown key "nam"; did you mean name?`,
		"nodes:\n  1: {name: a}\n  2: {name: a}": `i.yaml:3: nodes.2.name: "a" is the name of node 1 too, want another one`,
		"nodes:\n  1: {name: 7}":                 `i.yaml:2: nodes.1.name: got "7", want a name that is no number`,
		"nodes:\n  1:\n    ports:\n      6: {speed: fast}": "i.yaml:4: nodes.1.ports.6.speed: got \"fast\", want ",
		"nodes:\n  1:\n    ports:\n      6: {name: x}\n      7: {name: x}": "i.yaml:5: nodes.1.ports.7.name: \"x\" is " +
			"the name of port 6 too",
		"netbox:\n- {url: 'http://netbox.example', token_file: inventory.go, hosts: true}": "i.yaml:2: netbox[0].url: " +
			"want https://, as token_file would be sent in the clear",
		"hosts:\n- {name: a}":           "i.yaml:2: hosts[0].address: want an address",
		"hosts:\n- {address: 10.0.0.1}": "i.yaml:2: hosts[0].name: got \"\", want a name of at most 64 bytes",
		"hosts:\n- {address: 10.0.0.1, name: a}\n- {address: 10.0.0.1/32, name: b}": "i.yaml:3: hosts[1].address: 10.0.0.1",
		"nodes: {1: {queue_unit: stones}}\nhosts: [{name: a}]":                      "i.yaml:2: hosts[0].address: want an address",
	} {
		_, err := Parse("i.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzParse: whatever a file has, it is read or refused with a line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("nodes: {1: {ports: {1: {name: a}}}}\nhosts: []\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse("i.yaml", text)
		if (v == nil) == (err == nil) {
			t.Fatalf("got %v and %v", v, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "i.yaml") {
			t.Errorf("no place in %v", err)
		}
	})
}
