package truth

// A Host is one host of the topology.
type Host struct {
	Name     string `json:"name"`
	Address  string `json:"address"`  // IPv4
	Address6 string `json:"address6"` // IPv6
	MAC      string `json:"mac"`
	Node     uint32 `json:"node"` // switch that it is attached to
	Port     uint32 `json:"port"` // of that switch
}

// Append implements Record.
func (r *Host) Append(b []byte) []byte {
	o := open(b, "host")
	o.string("name", r.Name)
	o.string("address", r.Address)
	o.string("address6", r.Address6)
	o.string("mac", r.MAC)
	o.uint("node", uint64(r.Node))
	o.uint("port", uint64(r.Port))
	return o.close()
}
