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
	ID      uint32     `json:"id"`
	Name    string     `json:"name,omitempty"`
	Packets uint64     `json:"packets"`
	First   time.Time  `json:"first"`
	Last    time.Time  `json:"last"`
	Ports   []NodePort `json:"ports"`
}

// A NodePort is a level 1 interface of a node. Behind it is a node, or hosts, or nobody knows.
type NodePort struct {
	Port        uint32       `json:"port"`
	ToNode      *uint32      `json:"to_node,omitempty"`
	ToName      string       `json:"to_name,omitempty"`
	ToPort      *uint32      `json:"to_port,omitempty"`
	Hosts       int          `json:"hosts,omitempty"`
	Received    uint64       `json:"received"` // packets that came in by it
	Sent        uint64       `json:"sent"`     // and that left by it
	Utilization *Utilization `json:"utilization,omitempty"`
	First       time.Time    `json:"first"`
	Last        time.Time    `json:"last"`
}

// A Host is an address that packets came from or went to, inside a tunnel if it has one.
type Host struct {
	Address  netip.Addr  `json:"address"`
	Tunnel   string      `json:"tunnel,omitempty"`
	TunnelID *uint32     `json:"tunnel_id,omitempty"`
	Places   []HostPlace `json:"places"` // where it was seen, the latest first
}

// A HostPlace is where a host is attached: the first node of what it sends, the last one of what it gets.
type HostPlace struct {
	Node    uint32  `json:"node"`
	Name    string  `json:"name,omitempty"`
	Port    *uint32 `json:"port"`
	Packets uint64  `json:"packets"`
	// Confidence is how sure it is that the host is there, from 0 to below 1: of its packets at all places of that time, and
	// one more that shows another place, the share that shows this one.
	Confidence float64   `json:"confidence"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
}
