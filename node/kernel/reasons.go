package kernel

import (
	"strings"

	"github.com/waybill-int/waybill/node"
)

// reasons translates the kernel's reasons for drops to numbers of the table waybill-fabric of wire/report. What it does
// not have is 0, unknown.
var reasons = map[string]uint8{
	"IP_INNOROUTES": 29, "IP_OUTNOROUTES": 29, "IP_INADDRERRORS": 29,
	"PKT_TOO_BIG": 50,
	"QDISC_DROP":  51, "QDISC_OVERLIMIT": 51, "QDISC_BURST_DROP": 51,
	"IP_RPFILTER":    62,
	"NETFILTER_DROP": 100,
	"NEIGH_FAILED":   101, "NEIGH_CREATEFAIL": 101, "NEIGH_QUEUEFULL": 101, "NEIGH_DEAD": 101, "NEIGH_HH_FILLFAIL": 101,
	"IP_INHDR": 102, "IP_CSUM": 102, "PKT_TOO_SMALL": 102, "HDR_TRUNC": 102,
	"TCP_CSUM": 103, "UDP_CSUM": 103, "ICMP_CSUM": 103, "SKB_CSUM": 103,
	"TC_INGRESS": 104, "TC_EGRESS": 104, "XDP": 104, "SOCKET_FILTER": 104, "BPF_CGROUP_EGRESS": 104,
	"NO_SOCKET":      105,
	"SOCKET_RCVBUFF": 106, "SOCKET_BACKLOG": 106, "PROTO_MEM": 106,
	"QDISC_CONGESTED": 107, "DUALPI2_STEP_DROP": 107, "CAKE_FLOOD": 107, "FQ_FLOW_LIMIT": 107, "FQ_BAND_LIMIT": 107,
	"CPU_BACKLOG": 108,
	"FULL_RING":   109,
	"DEV_READY":   200,
	"NO_CARRIER":  200,
}

const (
	expired  = 26 // TTL
	filtered = 60 // a filter of this node, or INT that comes from outside
)

// where says where a packet was lost and why, in reports; ttl is what the packet had then.
func where(name string, ttl uint8) (node.Place, uint8) {
	switch {
	case name == "IP_INHDR" && ttl <= 1: // the kernel does not tell them apart
		return node.PlaceIngress, expired
	case strings.HasPrefix(name, "QDISC_") || reasons[name] == 107:
		return node.PlaceQueue, reasons[name]
	case strings.HasPrefix(name, "NEIGH_") || name == "TC_EGRESS" || name == "DEV_READY" || name == "NO_CARRIER" ||
		name == "FULL_RING":
		return node.PlaceEgress, reasons[name]
	}
	return node.PlaceIngress, reasons[name]
}

// fullReasons returns the kernel's numbers of drops for want of room in a queue.
func fullReasons(names map[uint16]string) (list []uint16) {
	const ttl = 64 // any that has not expired
	for n, name := range names {
		if place, _ := where(name, ttl); place == node.PlaceQueue {
			list = append(list, n)
		}
	}
	return list
}
