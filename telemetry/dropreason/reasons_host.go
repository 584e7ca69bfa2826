package dropreason

var hosts = []Reason{
	{
		ID: "no_socket", Name: "Nobody listens", Severity: Info,
		Meaning: "The packet came to a port without a socket.",
		Action:  "Is the service up, and on that address? Many ports from one source are a scan.",
	},
	{
		ID: "socket_closed", Name: "Socket is closed", Severity: Info,
		Meaning: "The application closed the socket before it read what was in it.",
		Action:  "Normal at the end of a program.",
	},
	{
		ID: "l4_checksum", Name: "TCP, UDP or ICMP checksum is wrong", Severity: Critical,
		Meaning: "The packet was damaged behind the last link check, or a node changed it and did not update the checksum.",
		Action:  "If only flows with INT are concerned, a node inserts or strips INT without updating the checksum: find the node after which it is wrong. Else a node or offload damages packets in its memory.",
	},
	{
		ID: "tcp_authentication", Name: "TCP authentication failed", Severity: Warning,
		Meaning: "An MD5 or TCP-AO signature is missing, unexpected or wrong.",
		Action:  "Compare keys at both ends, mostly of a BGP session; if they are right, somebody forges.",
	},
	{
		ID: "tcp_out_of_window", Name: "TCP segment out of window", Severity: Info,
		Meaning: "Sequence, acknowledgement or time stamp number is not one that the connection expects.",
		Action:  "Single ones are late packets. Many on one connection: a middlebox changes numbers, or somebody tries to inject.",
	},
	{
		ID: "tcp_duplicate", Name: "TCP data or acknowledgement came before", Severity: Info,
		Meaning: "The data was there already: a retransmission that was not needed, or a copy.",
		Action:  "Look for reordering or loss of acknowledgements on the path; if every packet comes twice, for a loop or a mirror.",
	},
	{
		ID: "tcp_state", Name: "TCP segment does not suit the connection", Severity: Info,
		Meaning: "Flags or state do not allow the segment: an invalid SYN or RST, a closed connection.",
		Action:  "Normal around the end of connections; many from one source are a scan.",
	},
	{
		ID: "tcp_zero_window", Name: "Receiver has no window", Severity: Warning,
		Meaning: "The receiving application does not read.",
		Action:  "Look at that application: the network is not at fault.",
	},
	{
		ID: "tcp_out_of_order_pruned", Name: "Out-of-order queue pruned", Severity: Warning,
		Meaning: "The receiver ran out of memory for segments behind a gap.",
		Action:  "Look for the loss that made the gap, then at net.ipv4.tcp_rmem.",
	},
	{
		ID: "no_protocol", Name: "IP protocol without a handler", Severity: Info,
		Meaning: "Nobody on the host takes this IP protocol.",
		Action:  "Load the module (GRE, ESP, SCTP) or stop the sender.",
	},
	{
		ID: "below_min_ttl", Name: "TTL below the socket's minimum", Severity: Warning,
		Meaning: "The packet came over more hops than the socket allows (generalised TTL security).",
		Action:  "The path of a BGP session has become longer, or somebody forges from afar.",
	},
	{
		ID: "packet_socket", Name: "Packet socket could not take it", Severity: Info,
		Meaning: "A capture program did not get its copy.",
		Action:  "Only the capture is incomplete: give it a larger ring.",
	},
	{
		ID: "unix_socket", Name: "Unix socket gave it up", Severity: Info,
		Meaning: "Data of a local socket was thrown away, at a reconnect or as skipped urgent data.",
		Action:  "No packet of the network: see the application.",
	},
	{
		ID: "sender_queue_full", Name: "Sending host has no room", Severity: Warning,
		Meaning: "The queue of the sender's own interface was full.",
		Action:  "The host wants to send more than its link takes: look at its load and its flows.",
	},
	{
		ID: "refused_by_receiver", Name: "Receiver refused it", Severity: Warning,
		Meaning: "The packet arrived damaged, or at a host that it is not meant for.",
		Action:  "Compare it with the report of the last hop: if it was right there, look at the last link.",
	},
}
