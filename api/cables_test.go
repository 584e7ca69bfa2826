package api

import (
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// TestCables: a cable that telemetry never takes, and a link that LLDP does not tell of, are told apart from what
// nobody can know.
func TestCables(t *testing.T) {
	n := func(n uint32) *uint32 { return &n }
	v := &telemetry.Inventory{
		Nodes: map[uint32]telemetry.InventoryNode{
			1: {Neighbours: true},
			2: {Neighbours: true, Ports: map[uint32]telemetry.InventoryPort{1: {Name: "Ethernet1"}}},
		},
		Cables: []telemetry.InventoryCable{
			{Node: 1, Port: 1, ToNode: n(2), ToPort: n(1), ToSystem: "two.example", BothEnds: true, From: "snmp"},
			{Node: 1, Port: 2, ToNode: n(2), ToPort: n(2), From: "snmp"},
			{Node: 1, Port: 3, ToSystem: "server", ToPortName: "eno1", From: "snmp"},
			{Node: 1, Port: 4, ToNode: n(9), ToPort: n(1), From: "snmp"},
		},
	}
	links := []telemetry.Link{
		{From: 2, FromPort: n(1), To: 1, ToPort: n(1), Packets: 5},
		{From: 1, FromPort: n(1), To: 2, ToPort: n(1), Packets: 7},
		{From: 3, FromPort: n(8), To: 2, ToPort: n(5), Packets: 11},
		{From: 3, FromPort: n(7), To: 4, ToPort: n(7), Packets: 13}, // nobody was asked there
		{From: 1, To: 2, Packets: 17},                               // by a port that is not known
	}
	want := []telemetry.Cable{
		{
			Node: 1, Port: 1, To: n(2), ToName: "leaf2", ToPort: n(1), ToPortName: "Ethernet1",
			State: telemetry.CableUsed, Packets: 12, BothEnds: true, Origin: "snmp",
		},
		{Node: 1, Port: 2, To: n(2), ToName: "leaf2", ToPort: n(2), State: telemetry.CableUnused, Origin: "snmp"},
		{Node: 1, Port: 3, ToName: "server", ToPortName: "eno1", State: telemetry.CableOneEnd, Origin: "snmp"},
		{Node: 1, Port: 4, To: n(9), ToPort: n(1), State: telemetry.CableNoReport, Origin: "snmp"},
		{Node: 2, Name: "leaf2", Port: 5, To: n(3), ToPort: n(8), State: telemetry.CableNotTold, Packets: 11},
	}
	if got := compareCables(v, map[uint32]string{2: "leaf2"}, links); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := compareCables(nil, nil, links); len(got) != 0 {
		t.Errorf("without an inventory: %+v", got)
	}
}
