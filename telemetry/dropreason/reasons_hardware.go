package dropreason

var hardware = []Reason{
	{
		ID: "egress_link_down", Name: "Link behind the egress port is down", Severity: Critical,
		Meaning: "The packet was for a neighbour whose link is down, and routing did not know yet.",
		Action:  "Look at the link now. If the drops last longer than routing takes to converge, the route is static or link detection (BFD) is missing.",
	},
	{
		ID: "lost_on_link", Name: "Lost on the link", Severity: Critical,
		Meaning: "The packet was on a link when it went down, or a link that is up lost it.",
		Action:  "Look at the FEC, CRC and symbol error counters of both ends, and replace optics and cable in this order.",
	},
	{
		ID: "device_not_ready", Name: "Device not ready", Severity: Warning,
		Meaning: "The interface is down or not initialised.",
		Action:  "Was it meant to be up? Read the kernel log of the host at that time.",
	},
	{
		ID: "device_header_invalid", Name: "Driver's own header is invalid", Severity: Warning,
		Meaning: "The metadata between driver and device, or guest, is wrong.",
		Action:  "A fault of driver or guest: compare their versions, and switch offloads off for a test.",
	},
	{
		ID: "checksum_update_failed", Name: "Checksum could not be computed", Severity: Critical,
		Meaning: "The node could not compute or update the checksum of a packet that it changed.",
		Action:  "Switch checksum offload off on that interface for a test; upgrade driver or agent.",
	},
	{
		ID: "segmentation_failed", Name: "Segmentation failed", Severity: Warning,
		Meaning: "A large packet could not be cut into segments, or claims a size that it cannot have.",
		Action:  "Switch GSO and TSO off on the interface for a test; if it comes from a guest, see that it is patched.",
	},
	{
		ID: "copy_failed", Name: "Copy from user space failed", Severity: Info,
		Meaning: "The memory of the application was not there when the kernel wanted to copy.",
		Action:  "A fault of the application: see its log.",
	},
	{
		ID: "can_frame_invalid", Name: "CAN frame is invalid", Severity: Warning,
		Meaning: "A frame for a CAN interface is not one, or the device does not take its kind.",
		Action:  "See which program or gateway sends to that interface.",
	},
}
