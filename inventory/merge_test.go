package inventory

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

func number(n uint32) *uint32 { return &n }

// TestMerge: each value is of the first source that has it, and names stay unique.
func TestMerge(t *testing.T) {
	prefix := netip.MustParsePrefix
	file := &Known{
		Nodes: map[uint32]telemetry.InventoryNode{
			1: {Name: "leaf1", Site: "ams1", Ports: map[uint32]telemetry.InventoryPort{6: {Name: "uplink"}}},
		},
		Hosts: []telemetry.InventoryHost{{Prefix: prefix("10.0.0.0/8"), Name: "inside"}},
	}
	device := &Known{
		Nodes: map[uint32]telemetry.InventoryNode{
			1: {Name: "switch", Ports: map[uint32]telemetry.InventoryPort{
				6: {Name: "Ethernet6", Description: "to the spine", Speed: 25e9}, 7: {Name: "Ethernet7"},
			}},
			2: {Name: "leaf1", Role: "leaf"}, 3: {Name: "spine1"},
		},
		Hosts: []telemetry.InventoryHost{
			{Prefix: prefix("10.0.0.0/8"), Name: "other"}, {Prefix: prefix("10.0.0.1/32"), Name: "h1"},
		},
	}
	v := Merge([]Answer{{SNMP, device}, {File, file}})
	want := map[uint32]telemetry.InventoryNode{
		1: {
			Name: "leaf1", Site: "ams1", From: telemetry.NodeOrigins{Name: File, Site: File},
			Ports: map[uint32]telemetry.InventoryPort{
				6: {
					Name: "uplink", Description: "to the spine", Speed: 25e9,
					From: telemetry.PortOrigins{Name: File, Description: SNMP, Speed: SNMP},
				},
				7: {Name: "Ethernet7", From: telemetry.PortOrigins{Name: SNMP}},
			},
		},
		2: {Role: "leaf", From: telemetry.NodeOrigins{Role: SNMP}, Ports: map[uint32]telemetry.InventoryPort{}},
		3: {Name: "spine1", From: telemetry.NodeOrigins{Name: SNMP}, Ports: map[uint32]telemetry.InventoryPort{}},
	}
	if !reflect.DeepEqual(v.Nodes, want) {
		t.Errorf("got  %+v\nwant %+v", v.Nodes, want)
	}
	hosts := []telemetry.InventoryHost{
		{Prefix: prefix("10.0.0.1/32"), Name: "h1", From: SNMP},
		{Prefix: prefix("10.0.0.0/8"), Name: "inside", From: File},
	}
	if !reflect.DeepEqual(v.Hosts, hosts) {
		t.Errorf("got %+v, want %+v", v.Hosts, hosts)
	}
	if file.Nodes[1].Ports[6].Speed != 0 || len(file.Nodes[1].Ports) != 1 {
		t.Error("an answer was changed")
	}
}

// TestCables: the other end is found by its chassis, else by its name with or without a domain, and its port by any of
// its names, also if the file calls it otherwise.
func TestCables(t *testing.T) {
	ports := func(name string) map[uint32]telemetry.InventoryPort {
		return map[uint32]telemetry.InventoryPort{4: {Name: name}}
	}
	v := Merge([]Answer{
		{File, &Known{Nodes: map[uint32]telemetry.InventoryNode{2: {Name: "s2", Ports: ports("uplink")}}}},
		{SNMP, &Known{
			Nodes: map[uint32]telemetry.InventoryNode{
				1: {Name: "s1.example.net", Ports: ports("eth4")}, 2: {Name: "other", Ports: ports("Ethernet4")},
				3: {Name: "s3"},
			},
			Chassis: map[string]uint32{"mac 02:00:00:00:00:02": 2},
			Neighbours: []Neighbour{
				{
					Node: 1, Port: 4, Chassis: "mac 02:00:00:00:00:02", System: "nobody",
					Ports: []string{"02:00:00:00:00:07", "Ethernet4"},
				},
				{Node: 2, Port: 4, Chassis: "mac 02:00:00:00:00:01", System: "S1", Ports: []string{"eth4"}},
				{Node: 2, Port: 5, Chassis: "mac 02:00:00:00:00:09", System: "s3.example.net", Ports: []string{"p"}},
				{Node: 1, Port: 3, Chassis: "mac 02:00:00:00:00:08", System: "server", Ports: []string{"eno1"}},
			},
		}},
	})
	want := []telemetry.InventoryCable{
		{Node: 1, Port: 3, ToSystem: "server", ToPortName: "eno1", From: SNMP},
		{
			Node: 1, Port: 4, ToNode: number(2), ToPort: number(4), ToSystem: "nobody", ToPortName: "02:00:00:00:00:07",
			BothEnds: true, From: SNMP,
		},
		{Node: 2, Port: 5, ToNode: number(3), ToSystem: "s3.example.net", ToPortName: "p", From: SNMP},
	}
	if !reflect.DeepEqual(v.Cables, want) {
		t.Errorf("got  %+v\nwant %+v", v.Cables, want)
	}
}
