package dropreason

var layer2 = []Reason{
	{
		ID: "l2_other", Name: "Layer 2, not told apart", Severity: Warning,
		Meaning: "The layer 2 pipeline dropped the packet, and the device counts all of its reasons as one.",
		Action:  "Configure finer debug counters on the device (MAC, VLAN, STP, FDB), then come back with the one that counts.",
	},
	{
		ID: "src_mac_zero", Name: "Source MAC address is zero", Severity: Warning,
		Meaning: "The frame's source address is 00:00:00:00:00:00, which no sender has.",
		Action:  "Find the host behind the ingress port: its driver or virtual switch sends before it has an address. Restart its interface; if the port leads to a switch, look for a failing line card there.",
	},
	{
		ID: "src_mac_multicast", Name: "Source MAC address is multicast", Severity: Warning,
		Meaning: "The group bit of the frame's source address is set, which is damage or forgery.",
		Action:  "Look at the error counters of the ingress port. Without errors a host forges frames: find it behind that port.",
	},
	{
		ID: "src_mac_invalid", Name: "Source MAC address is invalid", Severity: Warning,
		Meaning: "The source address is not one that a station can have.",
		Action:  "Capture at the ingress port of the tunnel or bridge and find the sender by its inner IP address.",
	},
	{
		ID: "dst_mac_zero", Name: "Destination MAC address is zero", Severity: Warning,
		Meaning: "The frame is addressed to 00:00:00:00:00:00: the sender had no neighbour entry and sent anyway.",
		Action:  "Look at the neighbour (ARP, ND) table of the sender for the next hop, and for static entries without an address.",
	},
	{
		ID: "src_mac_equals_dst", Name: "Source and destination MAC address are the same", Severity: Warning,
		Meaning: "The frame is addressed to its own sender.",
		Action:  "Look for two hosts with the same MAC address (cloned virtual machines) and for a loop behind the ingress port.",
	},
	{
		ID: "dst_mac_reserved", Name: "Destination MAC address is reserved", Severity: Info,
		Meaning: "The frame is for 01-80-C2-00-00-0x, link-local control traffic that bridges do not forward.",
		Action:  "Normal for LLDP, LACP, STP of a neighbour with a protocol that is off here. If LACP or LLDP should work on the port, switch it on.",
	},
	{
		ID: "frame_not_recognised", Name: "Frame not recognised", Severity: Warning,
		Meaning: "The parser or the first table does not know this kind of frame.",
		Action:  "Look which EtherType it has in the report. If it is wanted, the pipeline or its port profile has to know it; else stop the sender.",
	},
	{
		ID: "vlan_tag_not_allowed", Name: "VLAN tag not allowed", Severity: Warning,
		Meaning: "A tagged frame came to an access port, or an untagged one to a port that takes tagged frames only.",
		Action:  "Compare the port's mode and native VLAN with that of the other end; one of the two was changed.",
	},
	{
		ID: "vlan_not_on_port", Name: "VLAN is not on the ingress port", Severity: Warning,
		Meaning: "The port is not a member of the frame's VLAN, or nothing maps this port and VLAN to a network.",
		Action:  "Add the VLAN to the port, or take it off the trunk at the other end. If the configuration was just changed, see whether this port was left out.",
	},
	{
		ID: "vlan_not_on_egress", Name: "VLAN is not on the egress port", Severity: Warning,
		Meaning: "The frame was forwarded to a port that is not a member of its VLAN.",
		Action:  "Add the VLAN to the egress port, or flush the forwarding entry that still points there.",
	},
	{
		ID: "stp_blocking", Name: "Spanning tree blocks the port", Severity: Info,
		Meaning: "The port is in the blocking or discarding state.",
		Action:  "Normal on redundant links for flooded frames. If unicast traffic dies, compare the root bridge and the port's role with the plan: the tree has changed.",
	},
	{
		ID: "stp_learning", Name: "Spanning tree still learns", Severity: Info,
		Meaning: "The port came up and does not forward yet.",
		Action:  "Wait 30 s. If it comes back, the port flaps or gets topology changes: look at its link log, and mark ports to hosts as edge ports.",
	},
	{
		ID: "bridging_miss", Name: "Destination MAC address is unknown", Severity: Warning,
		Meaning: "No forwarding entry has the destination address, and the device does not flood.",
		Action:  "See whether the destination host is up and was learned. If it moved, clear its old entry; if the table is full, find who fills it.",
	},
	{
		ID: "fdb_discard", Name: "Forwarding entry for the MAC address says discard", Severity: Info,
		Meaning: "An administrator or port security set the entry of this address to discard.",
		Action:  "Look at the entry. If port security set it, the address was seen on the wrong port: find out who moved.",
	},
	{
		ID: "no_group_members", Name: "Multicast group without members", Severity: Info,
		Meaning: "Snooping knows no port that wants the group.",
		Action:  "Normal if nobody listens. If somebody does, look for the IGMP or MLD querier of the VLAN, and whether its queries reach the host.",
	},
	{
		ID: "same_port", Name: "Would leave by the port it came in", Severity: Warning,
		Meaning: "The destination was learned on the port, and in the VLAN, that the frame came from.",
		Action:  "A few are normal after flooding. Many at once mean a loop or a stale entry behind that port: clear the entry, then look for the loop.",
	},
	{
		ID: "l2_mtu_exceeded", Name: "Larger than the port's MTU", Severity: Critical,
		Meaning: "The frame is longer than the port accepts, and layer 2 cannot tell the sender.",
		Action:  "Compare the MTU at both ends of the link. With INT or a new tunnel, add their bytes to the MTU of every link in the domain, or ask for fewer values.",
	},
	{
		ID: "unicast_in_multicast_frame", Name: "Unicast IP packet in a multicast frame", Severity: Warning,
		Meaning: "The IP destination is one host, the MAC address a group or everybody: routers must not forward it.",
		Action:  "Look at the sender for a static neighbour entry with a group address (network load balancing does that) and give it its own VLAN.",
	},
	{
		ID: "multicast_mac_mismatch", Name: "MAC address is not that of the multicast group", Severity: Warning,
		Meaning: "The IP destination is a group, the MAC address is not the one that belongs to it.",
		Action:  "Find the sender by its source address; its stack or a middlebox rewrites addresses wrongly.",
	},
	{
		ID: "forwarding_discard", Name: "A forwarding or routing entry says discard", Severity: Info,
		Meaning: "The device counts MAC entries with discard and black hole routes as one.",
		Action:  "Look at both tables for the destination in the report; if neither entry is wanted, find out who set it.",
	},
	{
		ID: "own_mac_as_source", Name: "Own MAC address as source", Severity: Critical,
		Meaning: "A frame came in with an address of this device as its source: it returned, or somebody has the same address.",
		Action:  "Look for a loop behind the ingress port first, then for a duplicate address.",
	},
	{
		ID: "arp_suppressed", Name: "ARP or ND suppressed", Severity: Info,
		Meaning: "Private VLAN or neighbour suppression does not let the request through.",
		Action:  "Normal where it is configured. If two hosts should see each other, take the isolation off one of their ports.",
	},
	{
		ID: "other_station", Name: "For another station", Severity: Info,
		Meaning: "The frame is for a MAC address that is not this host's; it saw it because of flooding or a capture.",
		Action:  "Normal during captures. If it is much, the switch floods: look there for unknown destinations.",
	},
	{
		ID: "protocol_not_handled", Name: "Protocol not handled", Severity: Info,
		Meaning: "Nobody on the device takes this EtherType, or it is for the router and is neither IP nor MPLS.",
		Action:  "Look at the EtherType in the report; stop the sender or load the protocol.",
	},
	{
		ID: "mac_control", Name: "MAC control frame", Severity: Info,
		Meaning: "A pause or other control frame reached the bridge, which must not forward it.",
		Action:  "Switch flow control to the same mode at both ends of the ingress link.",
	},
}
