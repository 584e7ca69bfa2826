package dropreason

var tunnels = []Reason{
	{
		ID: "encap_failed", Name: "Encapsulation failed", Severity: Critical,
		Meaning: "The node could not put the packet into the tunnel: no room, or no tunnel data.",
		Action:  "Look at the log of the agent on that host, and at the MTU of the tunnel: INT and tunnel headers must fit.",
	},
	{
		ID: "decap_failed", Name: "Decapsulation failed", Severity: Critical,
		Meaning: "The node could not take the packet out of its tunnel: too short, wrong port, wrong lengths.",
		Action:  "Compare the kind, port and options of the tunnel at both ends; if INT runs inside, see that the sink strips it before the tunnel ends.",
	},
	{
		ID: "tunnel_loopback", Name: "Would go back into its tunnel", Severity: Warning,
		Meaning: "A packet from a tunnel was forwarded into the same tunnel (split horizon).",
		Action:  "A few are normal for flooded traffic. Many mean that a MAC address is learned at the wrong end: look for a move or a loop behind the remote end.",
	},
	{
		ID: "tunnel_header_invalid", Name: "Tunnel header is invalid", Severity: Warning,
		Meaning: "Reserved bits are set, or the I flag of VXLAN is not.",
		Action:  "The other end speaks another variant (VXLAN-GPE, group policy): configure the same at both ends.",
	},
	{
		ID: "vni_unknown", Name: "Network identifier is unknown", Severity: Critical,
		Meaning: "The packet came in a tunnel for a VNI that is not configured here.",
		Action:  "Configure the VNI here, or take this node off the flood list of the sender.",
	},
	{
		ID: "no_remote", Name: "No remote end or target", Severity: Critical,
		Meaning: "The tunnel, bond or bridge has nowhere to send the packet.",
		Action:  "Look at the forwarding entries of the tunnel device; the control plane (EVPN) has lost its neighbours, or all members of the bond are down.",
	},
	{
		ID: "entry_exists", Name: "Address is fixed elsewhere", Severity: Warning,
		Meaning: "A MAC address wanted to move to another tunnel, and its entry does not allow that.",
		Action:  "A static entry, or a duplicate address at two sites: find both hosts.",
	},
	{
		ID: "tunnel_ecn", Name: "ECN of tunnel and packet contradict", Severity: Warning,
		Meaning: "The tunnel header says congestion experienced, the packet inside cannot say it (RFC 6040).",
		Action:  "Make all nodes on the tunnel's path treat ECN the same way; a node marks packets that are not ECN capable.",
	},
	{
		ID: "recursion", Name: "Tunnels or rules nested too deep", Severity: Critical,
		Meaning: "The packet went through the stack too often: a tunnel in itself, or rules that loop.",
		Action:  "Look for a route to the tunnel's end that leads into the tunnel.",
	},
}
