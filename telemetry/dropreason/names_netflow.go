package dropreason

// Values of forwardingStatus.
var netflow = []alias{
	{128, "unknown", "unknown"},
	{129, "acl_deny", "acl_deny"},
	{130, "acl_drop", "acl_deny"},
	{131, "unroutable", "no_route"},
	{132, "adjacency", "neighbour_blackhole"},
	{133, "fragmentation_df", "mtu_exceeded"},
	{134, "header_checksum", "ip_checksum"},
	{135, "total_length", "ip_header_invalid"},
	{136, "header_length", "ip_header_invalid"},
	{137, "ttl", "ttl_expired"},
	{138, "policer", "meter_exceeded"},
	{139, "wred", "early_drop"},
	{140, "rpf", "reverse_path"},
	{141, "for_us", "not_routable"},
	{142, "output_interface", "interface_disabled"},
	{143, "hardware", "unknown"},
}
