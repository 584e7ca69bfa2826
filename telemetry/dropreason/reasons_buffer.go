package dropreason

var buffers = []Reason{
	{
		ID: "queue_full", Name: "Queue or buffer full", Severity: Critical,
		Meaning: "The traffic manager, or the queueing discipline of a host, had no room for the packet.",
		Action:  "Look at the queue of the egress port: who filled it (bursts and their culprits), and for how long. Many senders to one port at once are incast; a steady overload needs capacity or another path.",
	},
	{
		ID: "early_drop", Name: "Dropped early by active queue management", Severity: Warning,
		Meaning: "RED, CoDel, PIE, DualPI2 or CAKE dropped it to keep the queue short.",
		Action:  "Works as configured. If it is much, find the flows that do not slow down; switch on ECN where both ends can do it.",
	},
	{
		ID: "flow_limit", Name: "Limit of a flow or band", Severity: Warning,
		Meaning: "One flow, or one priority band, had more packets in the queue than it may.",
		Action:  "Find the flow: it sends faster than its share. Raise the limit only if it should.",
	},
	{
		ID: "pacing_horizon", Name: "Send time too far ahead", Severity: Warning,
		Meaning: "The packet's time stamp says to send it later than the queueing discipline accepts.",
		Action:  "Look for a wrong clock or pacing rate in the application (SO_TXTIME, SO_MAX_PACING_RATE).",
	},
	{
		ID: "queue_purged", Name: "Queue emptied", Severity: Info,
		Meaning: "The packets were in a queue that was taken down, with its interface or discipline.",
		Action:  "Compare the time with configuration changes and link events.",
	},
	{
		ID: "cpu_backlog", Name: "CPU backlog full", Severity: Critical,
		Meaning: "Packets came faster than a processor of the host takes them from its backlog.",
		Action:  "Spread interrupts over more processors (RSS, RPS) and raise net.core.netdev_max_backlog; look whether one flow keeps one processor busy.",
	},
	{
		ID: "ring_full", Name: "Device ring full", Severity: Critical,
		Meaning: "The ring between host and device, or guest, had no room.",
		Action:  "See who reads the ring too slowly: a guest that is starved of processor time, or a ring that is too small (`ethtool -g`).",
	},
	{
		ID: "socket_buffer_full", Name: "Socket buffer full", Severity: Warning,
		Meaning: "The application does not read as fast as packets come, or its memory limit is reached.",
		Action:  "Look at the load of the application first, then raise its receive buffer (net.core.rmem_max, net.ipv4.udp_mem, tcp_mem).",
	},
	{
		ID: "no_memory", Name: "Out of memory", Severity: Critical,
		Meaning: "The device or kernel could not allocate memory for the packet.",
		Action:  "Look at the memory of the machine and who takes it; raise vm.min_free_kbytes on busy hosts.",
	},
	{
		ID: "accept_queue_full", Name: "Too many connections wait", Severity: Warning,
		Meaning: "The listening application does not accept connections as fast as they come.",
		Action:  "Look at the load of the application, then at its backlog and net.core.somaxconn; many sources at once may be a SYN flood.",
	},
}
