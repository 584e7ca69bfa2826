package truth

// A Link joins two nodes. An end that is a host has node and port 0.
type Link struct {
	Name    string `json:"name"` // names of the two nodes, with a hyphen between
	NodeA   uint32 `json:"node_a"`
	PortA   uint32 `json:"port_a"`
	NodeB   uint32 `json:"node_b"`
	PortB   uint32 `json:"port_b"`
	RateBps uint64 `json:"rate_bps"` // bit/s, each way
	DelayNs int64  `json:"delay_ns"` // of propagation, one way
	MTU     int    `json:"mtu"`      // bytes of the largest IP packet
}

// Append implements Record.
func (r *Link) Append(b []byte) []byte {
	o := open(b, "link")
	o.string("name", r.Name)
	o.uint("node_a", uint64(r.NodeA))
	o.uint("port_a", uint64(r.PortA))
	o.uint("node_b", uint64(r.NodeB))
	o.uint("port_b", uint64(r.PortB))
	o.uint("rate_bps", r.RateBps)
	o.int("delay_ns", r.DelayNs)
	o.int("mtu", int64(r.MTU))
	return o.close()
}
