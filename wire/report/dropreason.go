package report

import (
	"maps"
	"slices"
)

// A DropReason is what a drop reason number means.
type DropReason struct {
	Name string // snake_case, stable: for JSON, filters and counters
	Text string // for people
}

// A ReasonTable maps drop reason numbers to their meaning for one kind of sender. All versions of the specification point
// to the numbers of p4lang/switch, but the numbers of other implementations contradict them (29 to 31, for example), so
// there is no global table: each node has the one it is configured with. An unknown number is the zero DropReason.
type ReasonTable map[uint8]DropReason

// DropReasons returns the table with a name of DropReasonTables, and whether there is one. The table is shared: do not
// change it.
func DropReasons(table string) (ReasonTable, bool) {
	t, ok := reasonTables[table]
	return t, ok
}

// DropReasonTables returns the names of the tables that DropReasons knows, in alphabetical order.
func DropReasonTables() []string {
	return slices.Sorted(maps.Keys(reasonTables))
}

// To add a table: its numbers here, named after the program that sends them, with its own words as names.
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
	// github.com/stratum/fabric-tna, p4src/shared/define.p4, its last version (in versions before the user plane function
	// was renamed from SPGW to UPF, 132 and 133 are a missing downlink and uplink PDR and 134 is a missing FAR)
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
	// The controller of Transparent Security reports every drop with this number.
	"transparent-security": {
		15: {"attack_mitigation", "dropped by an attack mitigation rule"},
	},
	// Waybill's emulated network: the numbers of p4lang/switch where it has one, and from 200 on what no switch reports.
	"waybill-fabric": {
		0:   {"unknown", "not an IP packet"},
		26:  {"ttl", "TTL or hop limit exhausted"},
		29:  {"routing_miss", "no route"},
		50:  {"mtu", "larger than the MTU"},
		51:  {"traffic_manager", "no room in the queue"},
		60:  {"acl_deny", "denied by an ACL"},
		200: {"port_down", "the link behind the port is down"},
		201: {"link_down", "on the link when it went down"},
		202: {"gray_link", "lost on a link that is up"},
		210: {"host_queue", "no room in the queue of the sender"},
		211: {"refused", "refused by the receiver"},
		220: {"discarded", "taken out by the telemetry of the switch"},
	},
}
