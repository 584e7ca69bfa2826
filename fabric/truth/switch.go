package truth

// A Switch is one switch of the topology.
type Switch struct {
	Node      uint32 `json:"node"` // its number, which is its node id in telemetry
	Name      string `json:"name"`
	Role      string `json:"role,omitempty"` // leaf, spine, ...
	Address   string `json:"address"`        // source of its telemetry reports
	INT       bool   `json:"int"`            // has a telemetry device
	OffsetNs  int64  `json:"offset_ns"`      // of its clock at virtual time 0
	DriftPPB  int64  `json:"drift_ppb"`      // of its clock, parts per 10^9
	Ports     uint32 `json:"ports"`          // 1 to this number
	LatencyNs int64  `json:"latency_ns"`     // of its pipeline, without queues
}

// Append implements Record.
func (r *Switch) Append(b []byte) []byte {
	o := open(b, "switch")
	o.uint("node", uint64(r.Node))
	o.string("name", r.Name)
	o.optional("role", r.Role)
	o.string("address", r.Address)
	o.bool("int", r.INT)
	o.int("offset_ns", r.OffsetNs)
	o.int("drift_ppb", r.DriftPPB)
	o.uint("ports", uint64(r.Ports))
	o.int("latency_ns", r.LatencyNs)
	return o.close()
}
