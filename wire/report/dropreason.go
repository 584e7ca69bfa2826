package report

import (
	"slices"
)

// A DropReason is what a drop reason number means.
type DropReason struct {
	Name string // snake_case, stable: for JSON, filters and counters
	Text string // for people
}

// A ReasonTable maps drop reason numbers to their meaning for one kind of sender. All versions of the specification
// point to the numbers of p4lang/switch, but the numbers of other implementations contradict them (29 to 31, for
// example), so there is no global table: each node has the one it is configured with. An unknown number is the zero
// DropReason.
type ReasonTable map[uint8]DropReason

// DropReasons returns the table with a name of DropReasonTables, and whether there is one. The table is shared: do not
// change it.
func DropReasons(table string) (ReasonTable, bool) {
	t, ok := reasonTables[table]
	return t, ok
}

// DropReasonTables returns the names of the tables that DropReasons knows. Their places never change: others keep them.
func DropReasonTables() []string { return slices.Clone(tableNames) }

var tableNames = []string{
	"fabric-tna", "int-host-reporter", "p4lang-switch", "transparent-security", "waybill-fabric", "host-int",
	"switch-p4-16", "sflow", "netflow",
}

// To add a table: its numbers here, named after the program that sends them, with its own words as names, and its name
// at the end of tableNames.
var reasonTables = map[string]ReasonTable{
	// github.com/p4lang/switch, p4src/includes/drop_reason_codes.h
	"p4lang-switch": {
		0:  {"unknown", "unknown"},
		10: {"outer_src_mac_zero", "outer source MAC address is zero"},
		11: {"outer_src_mac_multicast", "outer source MAC address is multicast"},
		12: {"outer_dst_mac_zero", "outer destination MAC address is zero"},
		13: {"outer_ethernet_miss", "outer Ethernet header not recognised"},
		14: {"src_mac_zero", "source MAC address is zero"},
		15: {"src_mac_multicast", "source MAC address is multicast"},
		16: {"dst_mac_zero", "destination MAC address is zero"},
		25: {"outer_ip_version_invalid", "outer IP version is invalid"},
		26: {"outer_ip_ttl_zero", "outer IP TTL is zero"},
		27: {"outer_ip_src_multicast", "outer IP source address is multicast"},
		28: {"outer_ip_src_loopback", "outer IP source address is loopback"},
		29: {"outer_ip_miss", "outer IP header not recognised"},
		30: {"ip_version_invalid", "IP version is invalid"},
		31: {"ip_ttl_zero", "IP TTL is zero"},
		32: {"ip_src_multicast", "IP source address is multicast"},
		33: {"ip_src_loopback", "IP source address is loopback"},
		40: {"port_vlan_mapping_miss", "no mapping for the port and VLAN"},
		41: {"stp_state_learning", "spanning tree state is learning"},
		42: {"stp_state_blocking", "spanning tree state is blocking"},
		43: {"same_ifindex", "would leave through the interface it came from"},
		44: {"multicast_snooping_enabled", "multicast snooping"},
		50: {"mtu_check_fail", "larger than the MTU"},
		51: {"traffic_manager", "dropped by the traffic manager: queue or buffer full"},
		60: {"acl_deny", "denied by an ACL"},
		61: {"racl_deny", "denied by a router ACL"},
		62: {"urpf_check_fail", "reverse path check failed"},
		63: {"ipsg_miss", "not allowed by IP source guard"},
		64: {"ifindex", "dropped by interface index"},
	},
	// github.com/stratum/fabric-tna, p4src/shared/define.p4, its last version (in versions before the user plane
	// function was renamed from SPGW to UPF, 132 and 133 are a missing downlink and uplink PDR and 134 is a missing
	// FAR)
	"fabric-tna": {
		0:   {"unknown", "unknown"},
		26:  {"ip_ttl_zero", "IP TTL is zero"},
		29:  {"routing_miss", "no route (IPv4 or IPv6)"},
		55:  {"port_vlan_mapping_miss", "no mapping for the port and VLAN"},
		71:  {"traffic_manager", "dropped by the traffic manager: queue or buffer full"},
		80:  {"acl_deny", "denied by an ACL"},
		89:  {"bridging_miss", "no bridging entry for the destination"},
		128: {"next_id_miss", "next id not found"},
		129: {"mpls_miss", "no entry for the MPLS label"},
		130: {"egress_next_miss", "next id not found in the egress pipeline"},
		131: {"mpls_ttl_zero", "MPLS TTL is zero"},
		132: {"upf_dl_session_miss", "user plane: no downlink session"},
		133: {"upf_dl_session_drop", "user plane: downlink session says drop"},
		134: {"upf_ul_session_miss", "user plane: no uplink session"},
		135: {"upf_ul_session_drop", "user plane: uplink session says drop"},
		136: {"upf_dl_session_drop_buff", "user plane: downlink session says drop from the buffer"},
		137: {"upf_dl_termination_miss", "user plane: no downlink termination"},
		138: {"upf_dl_termination_drop", "user plane: downlink termination says drop"},
		139: {"upf_ul_termination_miss", "user plane: no uplink termination"},
		140: {"upf_ul_termination_drop", "user plane: uplink termination says drop"},
		150: {"upf_uplink_recirc_deny", "user plane: uplink recirculation denied"},
		160: {"ingress_qos_meter", "over the rate of an ingress meter"},
		170: {"routing_v4_drop", "IPv4 route says drop"},
		171: {"routing_v6_drop", "IPv6 route says drop"},
	},
	// github.com/opennetworkinglab/int-host-reporter, pkg/common
	"int-host-reporter": {
		0:   {"unknown", "unknown"},
		25:  {"ip_version_invalid", "IP version is invalid"},
		26:  {"ip_ttl_zero", "IP TTL is zero"},
		29:  {"routing_miss", "no route"},
		30:  {"ip_ihl_invalid", "IPv4 header length is invalid"},
		31:  {"ip_invalid_checksum", "IPv4 header checksum is wrong"},
		55:  {"port_vlan_mapping_miss", "no mapping for the port and VLAN"},
		71:  {"traffic_manager", "dropped by the traffic manager: queue or buffer full"},
		80:  {"acl_deny", "denied by a policy"},
		89:  {"bridging_miss", "no bridging entry for the destination"},
		180: {"encap_fail", "encapsulation failed"},
		181: {"decap_fail", "decapsulation failed"},
		182: {"checksum_fail", "checksum update failed"},
		183: {"ip_options", "IPv4 options are not accepted"},
		184: {"unauth_source", "source address is not authorised"},
	},
	// github.com/p4lang/open-p4studio, switch-p4-16, p4src/shared/types.p4: the numbers that the drop reports of SONiC
	// on Tofino have. They began as those of p4lang/switch and moved since.
	"switch-p4-16": {
		0:   {"unknown", "unknown"},
		10:  {"outer_src_mac_zero", "outer source MAC address is zero"},
		11:  {"outer_src_mac_multicast", "outer source MAC address is multicast"},
		12:  {"outer_dst_mac_zero", "outer destination MAC address is zero"},
		13:  {"outer_ethernet_miss", "outer Ethernet header not recognised"},
		14:  {"src_mac_zero", "source MAC address is zero"},
		15:  {"src_mac_multicast", "source MAC address is multicast"},
		16:  {"dst_mac_zero", "destination MAC address is zero"},
		17:  {"outer_same_mac_check", "outer source and destination MAC address are the same"},
		25:  {"outer_ip_version_invalid", "outer IP version is invalid"},
		26:  {"outer_ip_ttl_zero", "outer IP TTL is zero"},
		27:  {"outer_ip_src_multicast", "outer IP source address is multicast"},
		28:  {"outer_ip_src_loopback", "outer IP source address is loopback"},
		29:  {"outer_ip_miss", "outer IP header not recognised"},
		30:  {"outer_ip_ihl_invalid", "outer IPv4 header length is invalid"},
		31:  {"outer_ip_invalid_checksum", "outer IPv4 header checksum is wrong"},
		32:  {"outer_ip_dst_loopback", "outer IP destination address is loopback"},
		33:  {"outer_ip_src_unspecified", "outer IP source address is unspecified"},
		34:  {"outer_ip_src_class_e", "outer IP source address is of class E"},
		40:  {"ip_version_invalid", "IP version is invalid"},
		41:  {"ip_ttl_zero", "IP TTL is zero"},
		42:  {"ip_src_multicast", "IP source address is multicast"},
		43:  {"ip_src_loopback", "IP source address is loopback"},
		44:  {"ip_ihl_invalid", "IPv4 header length is invalid"},
		45:  {"ip_invalid_checksum", "IPv4 header checksum is wrong"},
		46:  {"ip_src_class_e", "IP source address is of class E"},
		47:  {"ip_dst_link_local", "IP destination address is link-local"},
		48:  {"ip_src_link_local", "IP source address is link-local"},
		49:  {"ip_dst_unspecified", "IP destination address is unspecified"},
		50:  {"ip_src_unspecified", "IP source address is unspecified"},
		55:  {"port_vlan_mapping_miss", "no mapping for the port and VLAN"},
		56:  {"stp_state_learning", "spanning tree state is learning"},
		57:  {"stp_state_blocking", "spanning tree state is blocking"},
		58:  {"same_ifindex", "would leave through the interface it came from"},
		59:  {"multicast_snooping_enabled", "multicast snooping"},
		70:  {"mtu_check_fail", "larger than the MTU"},
		71:  {"traffic_manager", "dropped by the traffic manager: queue or buffer full"},
		72:  {"storm_control", "over the rate of storm control"},
		73:  {"wred", "dropped early, before the queue was full (WRED)"},
		75:  {"ingress_port_meter", "over the rate of the ingress port"},
		76:  {"ingress_acl_meter", "over the rate of an ingress ACL"},
		77:  {"egress_port_meter", "over the rate of the egress port"},
		78:  {"egress_acl_meter", "over the rate of an egress ACL"},
		80:  {"acl_deny", "denied by an ACL"},
		81:  {"racl_deny", "denied by a router ACL"},
		82:  {"urpf_check_fail", "reverse path check failed"},
		83:  {"ipsg_miss", "not allowed by IP source guard"},
		84:  {"ifindex", "dropped by interface index"},
		85:  {"cpu_color_yellow", "to the CPU, over the committed rate"},
		86:  {"cpu_color_red", "to the CPU, over the peak rate"},
		87:  {"storm_control_color_yellow", "over the committed rate of storm control"},
		88:  {"storm_control_color_red", "over the peak rate of storm control"},
		89:  {"l2_miss_unicast", "no bridging entry for the unicast destination"},
		90:  {"l2_miss_multicast", "no bridging entry for the multicast destination"},
		91:  {"l2_miss_broadcast", "no bridging entry for broadcast"},
		92:  {"egress_acl_deny", "denied by an egress ACL"},
		93:  {"nexthop", "next hop says drop"},
		94:  {"non_ip_router_mac", "to the MAC address of the router, but not IP"},
		95:  {"mlag_member", "not to be sent to this member of the link group"},
		99:  {"l3_ipv4_disable", "IPv4 is off on the interface"},
		100: {"l3_ipv6_disable", "IPv6 is off on the interface"},
		101: {"ingress_pfc_wd_drop", "priority flow control watchdog, ingress"},
		102: {"egress_pfc_wd_drop", "priority flow control watchdog, egress"},
		103: {"mpls_label_drop", "MPLS label says drop"},
		104: {"srv6_local_sid_drop", "SRv6 segment says drop"},
		105: {"port_isolation_drop", "ports are isolated from each other"},
		106: {"dmac_reserved", "destination MAC address is reserved"},
		107: {"non_routable", "must not be routed"},
		108: {"mpls_disable", "MPLS is off on the interface"},
		109: {"bfd", "bidirectional forwarding detection"},
		110: {"egress_stp_state_blocking", "spanning tree state of the egress port is blocking"},
		111: {"ip_multicast_dmac_mismatch", "multicast IP address in a frame of another group"},
		112: {"sip_bc", "IP source address is broadcast"},
		113: {"ipv6_mc_scope0", "IPv6 multicast of scope 0"},
		114: {"ipv6_mc_scope1", "IPv6 multicast of scope 1"},
		115: {"acl_deny_last", "denied by an ACL, after all others"},
	},
	// The controller of Transparent Security reports every drop with this number.
	"transparent-security": {
		15: {"attack_mitigation", "dropped by an attack mitigation rule"},
	},
	// Intel's Host-INT reports no drops, but gaps in the sequence of a flow.
	"host-int": {
		1: {"flow_gap", "missing in the sequence of the flow: lost between source and sink"},
	},
	// sflow.org/sflow_drops.txt; the reasons from 256 on have numbers from 64 on here, see SFlowReason.
	"sflow": {
		0:   {"net_unreachable", "no route to the network"},
		1:   {"host_unreachable", "host not reachable"},
		2:   {"protocol_unreachable", "protocol not reachable"},
		3:   {"port_unreachable", "port not reachable"},
		4:   {"frag_needed", "fragmentation needed, and not allowed"},
		5:   {"src_route_failed", "source route failed"},
		6:   {"dst_net_unknown", "destination network unknown"},
		7:   {"dst_host_unknown", "destination host unknown"},
		8:   {"src_host_isolated", "source host isolated"},
		9:   {"dst_net_prohibited", "destination network prohibited"},
		10:  {"dst_host_prohibited", "destination host prohibited"},
		11:  {"dst_net_tos_unreachable", "network not reachable for the type of service"},
		12:  {"dst_host_tos_unreacheable", "host not reachable for the type of service"},
		13:  {"comm_admin_prohibited", "prohibited by an administrator"},
		14:  {"host_precedence_violation", "host precedence violated"},
		15:  {"precedence_cutoff", "precedence cut off"},
		64:  {"unknown", "no reason given"},
		65:  {"ttl_exceeded", "TTL or hop limit exhausted"},
		66:  {"acl", "denied by an ACL"},
		67:  {"no_buffer_space", "no room in the queue or the buffer"},
		68:  {"red", "dropped before the queue was full"},
		69:  {"traffic_shaping", "over the rate that is allowed"},
		70:  {"pkt_too_big", "larger than the MTU"},
		71:  {"src_mac_is_multicast", "source MAC address is multicast"},
		72:  {"vlan_tag_mismatch", "VLAN tag is not allowed"},
		73:  {"ingress_vlan_filter", "VLAN is not on the ingress port"},
		74:  {"ingress_spanning_tree_filter", "spanning tree state is blocking"},
		75:  {"port_list_is_empty", "no port to send it to"},
		76:  {"port_loopback_filter", "would leave through the port it came from"},
		77:  {"blackhole_route", "the route says drop"},
		78:  {"non_ip", "to the router, and not IP"},
		79:  {"uc_dip_over_mc_dmac", "unicast IP address in a multicast frame"},
		80:  {"dip_is_loopback_address", "IP destination address is loopback"},
		81:  {"sip_is_mc", "IP source address is multicast"},
		82:  {"sip_is_loopback_address", "IP source address is loopback"},
		83:  {"ip_header_corrupted", "the IP header is wrong"},
		84:  {"ipv4_sip_is_limited_bc", "IP source address is broadcast"},
		85:  {"ipv6_mc_dip_reserved_scope", "IPv6 multicast of scope 0"},
		86:  {"ipv6_mc_dip_interface_local_scope", "IPv6 multicast of scope 1"},
		87:  {"unresolved_neigh", "the next hop has no MAC address"},
		88:  {"mc_reverse_path_forwarding", "multicast from the wrong interface"},
		89:  {"non_routable_packet", "must not be routed"},
		90:  {"decap_error", "the tunnel header could not be taken off"},
		91:  {"overlay_smac_is_mc", "source MAC address in the tunnel is multicast"},
		92:  {"unknown_l2", "layer 2, not told apart"},
		93:  {"unknown_l3", "layer 3, not told apart"},
		94:  {"unknown_l3_exception", "an exception of layer 3, not told apart"},
		95:  {"unknown_buffer", "the buffer, not told apart"},
		96:  {"unknown_tunnel", "a tunnel, not told apart"},
		97:  {"unknown_l4", "layer 4, not told apart"},
		98:  {"sip_is_unspecified", "IP source address is unspecified"},
		99:  {"mlag_port_isolation", "ports of the link group are isolated"},
		100: {"blackhole_arp_neigh", "the neighbour says drop"},
		101: {"src_mac_is_dmac", "source MAC address is the destination's"},
		102: {"dmac_is_reserved", "destination MAC address is reserved"},
		103: {"sip_is_class_e", "IP source address is of class E"},
		104: {"mc_dmac_mismatch", "multicast IP address in a frame of another group"},
		105: {"sip_is_dip", "source and destination address are the same"},
		106: {"dip_is_local_network", "destination address is of this network"},
		107: {"dip_is_link_local", "destination address is link-local"},
		108: {"overlay_smac_is_dmac", "source MAC address in the tunnel is the destination's"},
		109: {"egress_vlan_filter", "VLAN is not on the egress port"},
		110: {"uc_reverse_path_forwarding", "the route back leads elsewhere"},
		111: {"split_horizon", "would go back to where it came from"},
	},
	// Values of forwardingStatus (IPFIX information element 89, RFC 7270), which NetFlow 9 has too.
	"netflow": {
		128: {"unknown", "no reason given"},
		129: {"acl_deny", "denied by an ACL"},
		130: {"acl_drop", "dropped by an ACL"},
		131: {"unroutable", "no route"},
		132: {"adjacency", "the adjacency says drop"},
		133: {"fragmentation_df", "fragmentation needed, and not allowed"},
		134: {"header_checksum", "the checksum of the header is wrong"},
		135: {"total_length", "the total length is wrong"},
		136: {"header_length", "the length of the header is wrong"},
		137: {"ttl", "TTL or hop limit exhausted"},
		138: {"policer", "over the rate that is allowed"},
		139: {"wred", "dropped before the queue was full"},
		140: {"rpf", "the route back leads elsewhere"},
		141: {"for_us", "for the device itself"},
		142: {"output_interface", "the output interface is wrong"},
		143: {"hardware", "dropped by the hardware"},
	},
	// Waybill's own nodes: the numbers of p4lang/switch where it has one, from 100 on what Linux kernels say beyond
	// them, and from 200 on what happens to packets of the emulated network outside of switches.
	"waybill-fabric": {
		0:   {"unknown", "not an IP packet"},
		26:  {"ttl", "TTL or hop limit exhausted"},
		29:  {"routing_miss", "no route"},
		50:  {"mtu", "larger than the MTU"},
		51:  {"traffic_manager", "no room in the queue"},
		60:  {"acl_deny", "denied by an ACL"},
		62:  {"reverse_path", "the route back leads elsewhere"},
		100: {"netfilter", "dropped by netfilter: nftables or iptables"},
		101: {"neighbour", "the next hop has no MAC address"},
		102: {"ip_header", "the IP header is wrong"},
		103: {"checksum", "the checksum is wrong"},
		104: {"filter_program", "dropped by a program: BPF, tc, a socket filter"},
		105: {"no_socket", "for this machine, and nobody listens"},
		106: {"socket_buffer", "for this machine, and its socket is full"},
		107: {"early_drop", "dropped before the queue was full"},
		108: {"backlog", "the processor has too much to do"},
		109: {"ring", "the ring of the device is full"},
		200: {"port_down", "the link behind the port is down"},
		201: {"link_down", "on the link when it went down"},
		202: {"gray_link", "lost on a link that is up"},
		210: {"host_queue", "no room in the queue of the sender"},
		211: {"refused", "refused by the receiver"},
		220: {"discarded", "taken out by the telemetry of the switch"},
	},
}

// SFlowReason returns the number in the table sflow of the reason of a discarded packet (sflow_drops.txt), whose codes
// from 256 on do not fit into 8 bits. Codes that nobody has defined are 255, which has no name.
func SFlowReason(code uint32) uint8 {
	switch {
	case code < 64:
		return uint8(code)
	case code >= 256 && code < 256+128:
		return uint8(code - 256 + 64)
	}
	return 255
}
