package telemetry

import (
	"net/netip"
	"time"
)

// A Topology is what is attached to what, as packets showed it. A switch that tells nothing of itself is not in it.
type Topology struct {
	Nodes []TopologyNode `json:"nodes"`
	Links []Link         `json:"links"`
	Hosts []Host         `json:"hosts"`
	// HostsLeftOut counts ends of flows whose hosts are missing because there are too many.
	HostsLeftOut int `json:"hosts_left_out,omitempty"`
}

// A TopologyNode is a device with its ports.
type TopologyNode struct {
	ID      uint32     `json:"id" filter:"node,alias=id" kind:"node" doc:"the node"`
	Name    string     `json:"name,omitempty" doc:"its name, if it has one"`
	Packets uint64     `json:"packets" doc:"packets on paths through it"`
	First   time.Time  `json:"first" doc:"when the first report about it was received"`
	Last    time.Time  `json:"last" doc:"when the latest report about it was received"`
	Ports   []NodePort `json:"ports"`
}

// A NodePort is a level 1 interface of a node. Behind it is a node, or hosts, or nobody knows.
type NodePort struct {
	Port        uint32       `json:"port" doc:"the port"`
	PortName    string       `json:"port_name,omitempty" filter:"-" doc:"its name, if the inventory has one"`
	Speed       uint64       `json:"speed_bps,omitempty" filter:"-" unit:"bit/s" doc:"what it carries at most, if the inventory or the device says so"`
	ToNode      *uint32      `json:"to_node,omitempty" kind:"node" doc:"the node behind it"`
	ToName      string       `json:"to_name,omitempty" doc:"name of that node, if it has one"`
	ToPort      *uint32      `json:"to_port,omitempty" doc:"the port of that node"`
	Hosts       int          `json:"hosts,omitempty" doc:"hosts behind it"`
	Received    uint64       `json:"received" doc:"packets that came in by it"`
	Sent        uint64       `json:"sent" doc:"packets that left by it"` // and that left by it
	Utilization *Utilization `json:"utilization,omitempty"`
	// of now only
	Counters *PortCounters `json:"counters,omitempty"`

	First time.Time `json:"first" doc:"when the first report about it was received"`
	Last  time.Time `json:"last" doc:"when the latest report about it was received"`
}

// A Host is an address that packets came from or went to, inside a tunnel if it has one.
type Host struct {
	Address  netip.Addr  `json:"address" table:"ADDRESS" doc:"the address"`
	HostName string      `json:"host_name,omitempty" filter:"-" host:"Address" doc:"its name, if the inventory has one"`
	Tunnel   string      `json:"tunnel,omitempty" table:"TUNNEL" doc:"kind of the tunnel that it is in"`
	TunnelID *uint32     `json:"tunnel_id,omitempty" doc:"number of the tunnel"`
	Places   []HostPlace `json:"places" doc:"where it was seen, the latest first"`
}

// A HostPlace is where a host is attached: the first node of what it sends, the last one of what it gets.
type HostPlace struct {
	Node     uint32  `json:"node"`
	Name     string  `json:"name,omitempty"`
	Port     *uint32 `json:"port"`
	PortName string  `json:"port_name,omitempty"`
	Packets  uint64  `json:"packets"`
	// Confidence is how sure it is that the host is there, from 0 to below 1: of its packets at all places of that
	// time, and one more that shows another place, the share that shows this one.
	Confidence float64   `json:"confidence"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
}
