package dropreason

var filters = []Reason{
	{
		ID: "acl_deny", Name: "Denied by an access list", Severity: Info,
		Meaning: "A rule of an access list or policy says deny.",
		Action:  "Find the rule by its hit counter. If the flow should pass, look what changed last in the list; if not, nothing is to be done.",
	},
	{
		ID: "router_acl_deny", Name: "Denied by an access list of a routed interface", Severity: Info,
		Meaning: "A rule on the router interface says deny.",
		Action:  "Find the rule by its hit counter on that interface; mind the direction in which the list is bound.",
	},
	{
		ID: "reverse_path", Name: "Reverse path check failed", Severity: Warning,
		Meaning: "The route back to the source does not leave by the interface that the packet came in.",
		Action:  "Forged source, or asymmetric routing: if the source is yours, use loose mode on that interface or repair the route back.",
	},
	{
		ID: "source_guard", Name: "Source not allowed on this port", Severity: Warning,
		Meaning: "IP source guard, or a list of authorised sources, does not have this address on this port.",
		Action:  "Look at the binding of the port: the host has changed its address without DHCP, moved, or forges.",
	},
	{
		ID: "interface_filter", Name: "Dropped by interface", Severity: Warning,
		Meaning: "A rule drops whatever has this interface index.",
		Action:  "See in the pipeline's tables who set the interface to drop; mostly a quarantine.",
	},
	{
		ID: "netfilter", Name: "Dropped by netfilter", Severity: Info,
		Meaning: "A rule of iptables or nftables on the host says drop.",
		Action:  "Run `nft list ruleset` on the host and look at the counters; a full connection tracking table also ends here: compare nf_conntrack_count with its maximum.",
	},
	{
		ID: "filter_program", Name: "Dropped by a filter program", Severity: Info,
		Meaning: "An eBPF program at XDP, TC, cgroup, socket or tap said drop.",
		Action:  "Run `bpftool net` and `bpftool prog` on the host to see which program is attached, and ask the one who loads it.",
	},
	{
		ID: "security_module", Name: "Denied by a security module", Severity: Info,
		Meaning: "SELinux, AppArmor or another module refused the packet.",
		Action:  "Read the audit log of the host at the time of the drop.",
	},
	{
		ID: "ipsec_policy", Name: "Against the IPsec policy", Severity: Warning,
		Meaning: "The packet should have been encrypted and was not, or the other way round.",
		Action:  "Compare policies and associations of both ends (`ip xfrm policy`, `ip xfrm state`); one has expired or has other selectors.",
	},
	{
		ID: "psp_check", Name: "PSP check failed", Severity: Warning,
		Meaning: "A packet of a PSP encrypted connection failed its checks.",
		Action:  "Compare the keys of both ends; a rotation was missed, or the packet is forged.",
	},
	{
		ID: "attack_mitigation", Name: "Dropped as part of an attack", Severity: Info,
		Meaning: "A mitigation rule, set because of an attack, drops it on purpose.",
		Action:  "Nothing while the attack lasts. When its rate is back to normal, lift the rule; if users complain, look whether it is too wide.",
	},
}
