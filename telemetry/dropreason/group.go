package dropreason

// A Group is the part of a device, or of its configuration, that drops packets for a Reason. The numbers of a group's
// reasons begin with a hundred of their own.
type Group uint8

// Groups.
const (
	General Group = iota
	L2
	L3
	ACL
	Buffer
	Tunnel
	Policy
	Hardware
	Host
	UserPlane
	numGroups
)

var groupNames = [numGroups]struct{ name, title string }{
	General:   {"general", "General"},
	L2:        {"l2", "Layer 2"},
	L3:        {"l3", "Layer 3"},
	ACL:       {"acl", "Filters"},
	Buffer:    {"buffer", "Queues and buffers"},
	Tunnel:    {"tunnel", "Tunnels"},
	Policy:    {"policy", "Traffic policy"},
	Hardware:  {"hardware", "Links and hardware"},
	Host:      {"host", "End hosts"},
	UserPlane: {"user_plane", "Mobile user plane"},
}
