package dropreason

var layer3 = []Reason{
	{
		ID: "l3_other", Name: "Layer 3, not told apart", Severity: Warning,
		Meaning: "The layer 3 pipeline dropped the packet, and the device counts all of its reasons as one.",
		Action:  "Configure finer debug counters on the device (TTL, route miss, neighbour, header), then come back with the one that counts.",
	},
	{
		ID: "ttl_expired", Name: "TTL or hop limit used up", Severity: Critical,
		Meaning: "The packet arrived with a TTL of 1 or 0 and was to be forwarded.",
		Action:  "Look whether the path has a node twice: then it is a routing loop, and the two routes that disagree are at its nodes. A few single packets from one host are a traceroute.",
	},
	{
		ID: "ip_version_invalid", Name: "IP version is wrong", Severity: Warning,
		Meaning: "The version field is neither 4 nor 6, or not the one that the EtherType announced.",
		Action:  "Damage, or a pipeline that parses at the wrong offset: was a tunnel or INT header left in the packet? Look at the bytes of the report.",
	},
	{
		ID: "ip_header_invalid", Name: "IP header is wrong", Severity: Warning,
		Meaning: "Header length, total length, version or another field contradicts the packet.",
		Action:  "Look at the error counters along the path. Without errors find the sender: if its packets are right at the first hop, a node in between breaks them.",
	},
	{
		ID: "ip_checksum", Name: "IPv4 header checksum is wrong", Severity: Critical,
		Meaning: "The header was damaged, or a node changed it and did not update the checksum.",
		Action:  "Find the last node that the packets passed without a drop; the next one, or the link to it, breaks them. After an upgrade of a P4 program suspect its checksum update.",
	},
	{
		ID: "ip_options", Name: "IPv4 options are not accepted", Severity: Info,
		Meaning: "The device does not process or forward packets with options.",
		Action:  "Normal hygiene. If an application needs options (router alert, source route), let them pass for it only.",
	},
	{
		ID: "ip_not_recognised", Name: "IP packet not recognised", Severity: Warning,
		Meaning: "The outer IP header matches no validation entry of the pipeline.",
		Action:  "Compare the tables for IP validation with those of a node that works: an entry is missing, mostly after a restart of the controller.",
	},
	{
		ID: "no_route", Name: "No route", Severity: Critical,
		Meaning: "The routing table has nothing for the destination, not even a default.",
		Action:  "Look up the destination in the node's table and in its neighbours'. If they have it, a session with this node is down or filters it; if nobody has it, the origin withdrew it.",
	},
	{
		ID: "blackhole_route", Name: "Route says drop", Severity: Warning,
		Meaning: "The longest match is a null, unreachable or prohibit route.",
		Action:  "See who set it: a mitigation that is still in place, or an aggregate whose more specific routes are gone. If it is the latter, treat it as a missing route.",
	},
	{
		ID: "neighbour_unresolved", Name: "Next hop has no MAC address", Severity: Critical,
		Meaning: "ARP or ND has no answer from the next hop.",
		Action:  "Ping the next hop from the node. If it is down, the host or link behind is; if it answers, the hardware table was not updated: clear the entry.",
	},
	{
		ID: "neighbour_blackhole", Name: "Neighbour entry says drop", Severity: Warning,
		Meaning: "The entry of the next hop is set to discard, by an administrator or after failed resolution.",
		Action:  "Look at the entry and at why it is there; clear it if the neighbour is back.",
	},
	{
		ID: "neighbour_queue_full", Name: "Too many packets wait for a neighbour", Severity: Warning,
		Meaning: "More packets came for an unresolved next hop than the host keeps.",
		Action:  "A few are normal before the first answer. If it lasts, the neighbour does not answer; a scan of unused addresses looks the same: see the destinations.",
	},
	{
		ID: "next_hop_missing", Name: "Next hop entry is missing", Severity: Critical,
		Meaning: "The route points to a next hop object that the pipeline does not have.",
		Action:  "The tables of the pipeline contradict each other: have the controller write them again to this node, and keep its log from before.",
	},
	{
		ID: "interface_disabled", Name: "Routed interface is disabled", Severity: Critical,
		Meaning: "The packet came in by, or was to leave by, a router interface that is administratively down.",
		Action:  "Was the interface meant to be down? Then its routes are still there: withdraw them. Else bring it up.",
	},
	{
		ID: "mtu_exceeded", Name: "Larger than the MTU", Severity: Critical,
		Meaning: "The packet is longer than the egress interface takes and must not be fragmented.",
		Action:  "Compare the MTU along the path and whether ICMP too-big messages reach the senders. With INT or tunnels add their bytes to the MTU of the links inside.",
	},
	{
		ID: "src_loopback", Name: "Source address is loopback", Severity: Warning,
		Meaning: "127.0.0.0/8 or ::1 as source, seen on a wire.",
		Action:  "Misconfigured or forging host: find it by ingress port and MAC address.",
	},
	{
		ID: "src_multicast", Name: "Source address is multicast", Severity: Warning,
		Meaning: "A group as source address, which nobody can have.",
		Action:  "Misconfigured or forging host: find it by ingress port and MAC address.",
	},
	{
		ID: "src_invalid", Name: "Source address is invalid", Severity: Warning,
		Meaning: "Source 0.0.0.0, ::, 255.255.255.255 or class E in a packet that should be routed.",
		Action:  "0.0.0.0 comes from hosts without a lease: look at DHCP first. The rest is forged: find the host by ingress port and MAC address.",
	},
	{
		ID: "src_link_local", Name: "Source address is link-local", Severity: Info,
		Meaning: "169.254.0.0/16 as source: routers do not forward it.",
		Action:  "The host got no address: look at DHCP in its VLAN.",
	},
	{
		ID: "dst_loopback", Name: "Destination address is loopback", Severity: Warning,
		Meaning: "127.0.0.0/8 or ::1 as destination, seen on a wire.",
		Action:  "Look for a wrong NAT or load balancer rule at the sender.",
	},
	{
		ID: "dst_link_local", Name: "Destination address is link-local", Severity: Info,
		Meaning: "169.254.0.0/16 as destination: routers do not forward it.",
		Action:  "Mostly a request for a cloud metadata service from a machine that is not in that cloud: harmless.",
	},
	{
		ID: "dst_invalid", Name: "Destination address is invalid", Severity: Warning,
		Meaning: "0.0.0.0/8 or a reserved or interface-local multicast scope as destination.",
		Action:  "Find the sender by its source address; an application has an empty address in its configuration.",
	},
	{
		ID: "src_equals_dst", Name: "Source and destination address are the same", Severity: Warning,
		Meaning: "The packet claims to be from the address that it goes to, as in a LAND attack.",
		Action:  "Find the ingress port that it comes from; if it is an edge, filter there and treat it as an attack.",
	},
	{
		ID: "own_address_as_source", Name: "Own or local address as source", Severity: Warning,
		Meaning: "A packet from the network has a source address that belongs to this host or to its loopback network.",
		Action:  "A duplicate address, a loop, or forgery: compare the source MAC address with the one that should have it.",
	},
	{
		ID: "same_interface", Name: "Would leave by the interface it came in", Severity: Warning,
		Meaning: "Routing sends the packet back where it came from, and the interface does not allow that.",
		Action:  "Two neighbours point at each other, or hosts have the wrong gateway: compare the routes of both ends for the destination.",
	},
	{
		ID: "not_routable", Name: "Must not be routed", Severity: Info,
		Meaning: "IGMP queries, reports and the like are for their own link only.",
		Action:  "Normal.",
	},
	{
		ID: "mpls_miss", Name: "MPLS label is unknown", Severity: Critical,
		Meaning: "The table has no entry for the label.",
		Action:  "The neighbour still uses a label that was withdrawn: look at the label distribution session, or at the controller that wrote both ends.",
	},
	{
		ID: "mpls_ttl_expired", Name: "MPLS TTL used up", Severity: Critical,
		Meaning: "The TTL of the label was 1 or 0.",
		Action:  "Look for a node twice in the path: a loop of label switched paths. Single packets are a traceroute.",
	},
	{
		ID: "srv6_sid_drop", Name: "SRv6 segment says drop", Severity: Warning,
		Meaning: "The local SID drops, or Segments Left does not suit its behaviour.",
		Action:  "Compare the segment list of the source with the behaviours of the SIDs on the way; the last segment must be one that decapsulates.",
	},
	{
		ID: "reassembly", Name: "Fragments could not be put together", Severity: Warning,
		Meaning: "Fragments are missing, double or too far apart.",
		Action:  "Loss before the host: fragments share its fate. Look for drops on the path, or better, for why the sender fragments (MTU).",
	},
	{
		ID: "ipv6_extension", Name: "IPv6 extension header is bad", Severity: Warning,
		Meaning: "An extension header is malformed, or there are too many.",
		Action:  "Find the sender; if IOAM is in use, compare its option lengths with what the domain allows.",
	},
	{
		ID: "ipv6_disabled", Name: "IPv6 is off", Severity: Info,
		Meaning: "IPv6 came to an interface where it is disabled.",
		Action:  "Switch it on there, or stop announcing IPv6 in that network.",
	},
	{
		ID: "neighbour_discovery_invalid", Name: "Neighbour discovery message is invalid", Severity: Warning,
		Meaning: "A hop limit other than 255, fragments, bad options: the message is not from the link, or not right.",
		Action:  "Forgery or a broken stack on the link: find it by its MAC address.",
	},
	{
		ID: "host_unreachable", Name: "Not for this host", Severity: Warning,
		Meaning: "The destination address is not local, and the host does not forward.",
		Action:  "The sender has an old neighbour entry or a wrong next hop; if the host is a router, forwarding is off on the interface.",
	},
	{
		ID: "against_protocol", Name: "Against the protocol", Severity: Info,
		Meaning: "The packet is one that hosts must ignore, as a broadcast ICMP timestamp request.",
		Action:  "A scan or an old tool: find the sender if it lasts.",
	},
	{
		ID: "truncated", Name: "Packet too short", Severity: Warning,
		Meaning: "The packet ends inside a header that it should have.",
		Action:  "Damage on the way, or a node that computes a length wrongly: compare with the report of the node before.",
	},
}
