package api

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// TestInventory: every port and every host that a list has stands beside its name, and beside no other one's.
func TestInventory(t *testing.T) {
	f := newFeed()
	v := &telemetry.Inventory{Nodes: map[uint32]telemetry.InventoryNode{}}
	portName := func(node, port uint32) string { return fmt.Sprintf("n%d-p%d", node, port) }
	for node := range uint32(4) {
		ports := map[uint32]telemetry.InventoryPort{}
		for port := range uint32(8) {
			ports[port] = telemetry.InventoryPort{Name: portName(node, port), Speed: 25e9}
		}
		v.Nodes[node] = telemetry.InventoryNode{Role: "leaf", Ports: ports}
	}
	f.capture(t, "onos_v10_udp", "onos-int10-ver0")
	f.capture(t, "tps_v21_udp", "tps")
	hosts, _ := f.Hosts()
	for _, h := range hosts {
		v.Hosts = append(v.Hosts, telemetry.InventoryHost{
			Prefix: netip.PrefixFrom(h.Address, h.Address.BitLen()), Name: "host " + h.Address.String(),
		})
	}
	f.Configure(analyze.Configured{Names: f.Names(), Inventory: v})
	h := newHandler(testConfig(f.Collector))
	for list, pairs := range map[string][][2]string{ // the node and the port; the name stands beside the port
		"links":  {{"from", "from_port"}, {"to", "to_port"}},
		"hops":   {{"node", "ingress_port"}, {"node", "egress_port"}},
		"queues": {{"node", "port"}},
		"ports":  {{"node", "port"}},
	} {
		var answer map[string]json.RawMessage
		var items []map[string]any
		if err := json.Unmarshal(ask(h, "GET", "/api/v1/"+list).Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answer[list], &items); err != nil || len(items) == 0 {
			t.Errorf("%s: %v, %d items", list, err, len(items))
		}
		for _, item := range items {
			for _, pair := range pairs {
				node, port := item[pair[0]], item[pair[1]]
				if port == nil {
					continue
				}
				want := portName(uint32(node.(float64)), uint32(port.(float64)))
				if got := item[pair[1]+"_name"]; got != want {
					t.Errorf("%s: %s is %v, want %s", list, pair[1]+"_name", got, want)
				}
			}
		}
	}
	var flows types.FlowList
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/flows").Body.Bytes(), &flows); err != nil || len(flows.Flows) == 0 {
		t.Fatal(err)
	}
	for _, flow := range flows.Flows {
		if flow.SrcName != "host "+flow.Src.String() || flow.DstName != "host "+flow.Dst.String() {
			t.Errorf("got %q > %q", flow.SrcName, flow.DstName)
		}
	}
	var topology types.Topology
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/topology").Body.Bytes(), &topology); err != nil {
		t.Fatal(err)
	}
	for _, n := range topology.Nodes {
		for _, p := range n.Ports {
			if p.PortName != portName(n.ID, p.Port) || p.Speed != 25e9 {
				t.Errorf("topology: port %d of %d is %q", p.Port, n.ID, p.PortName)
			}
		}
	}
	for _, host := range topology.Hosts {
		at := host.Places[0]
		if host.HostName != "host "+host.Address.String() ||
			at.Port != nil && at.PortName != portName(at.Node, *at.Port) {
			t.Errorf("topology: %v is %q at %q", host.Address, host.HostName, at.PortName)
		}
	}
	var inventory types.Inventory
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/inventory").Body.Bytes(), &inventory); err != nil {
		t.Fatal(err)
	}
	if len(inventory.Nodes) < 4 || inventory.Nodes[1].Name != "s1" || inventory.Nodes[1].Role != "leaf" ||
		len(inventory.Nodes[3].Ports) != 8 || inventory.Nodes[3].Ports[2].Name != "n3-p2" ||
		len(inventory.Hosts) != len(hosts) {
		t.Errorf("got %+v", inventory)
	}
	behind := 0
	for _, n := range topology.Nodes {
		for _, p := range n.Ports {
			if p.ToNode != nil && p.ToPort != nil {
				behind++
				to := inventory.Nodes[n.ID].Ports[p.Port].To
				if want := fmt.Sprintf("s%d %s", *p.ToNode, portName(*p.ToNode, *p.ToPort)); to != want {
					t.Errorf("behind port %d of %d is %q, want %q", p.Port, n.ID, to, want)
				}
			}
		}
	}
	for _, host := range topology.Hosts {
		if at := host.Places[0]; at.Port != nil {
			behind++
			if to := inventory.Nodes[at.Node].Ports[*at.Port].To; to != host.HostName {
				t.Errorf("behind %s of %d is %q, want %q", at.PortName, at.Node, to, host.HostName)
			}
		}
	}
	if behind == 0 {
		t.Error("nothing is behind any port")
	}

	// Without a file, it has what reports name.
	f.Configure(analyze.Configured{Names: f.Names()})
	inventory = types.Inventory{}
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/inventory").Body.Bytes(), &inventory); err != nil {
		t.Fatal(err)
	}
	if len(inventory.Nodes) != len(topology.Nodes) || inventory.Nodes[0].Role != "" || len(inventory.Hosts) != 0 {
		t.Errorf("without a file: %+v", inventory)
	}
}
