package truth

// A Hop says that a sampled packet left a switch.
type Hop struct {
	Packet uint64 `json:"packet"`            // number, from 1, in the order of sending
	CopyOf uint64 `json:"copy_of,omitempty"` // packet that a switch has copied
	Flow   uint32 `json:"flow"`
	Hop    uint8  `json:"hop"` // switches that it has passed before this one
	Node   uint32 `json:"node"`
	In     uint32 `json:"in"`    // port
	Out    uint32 `json:"out"`   // port
	Queue  uint8  `json:"queue"` // of the port Out

	InNs      int64 `json:"in_ns"`      // its last bit arrived
	OutNs     int64 `json:"out_ns"`     // its first bit left
	LatencyNs int64 `json:"latency_ns"` // OutNs - InNs

	// The same two moments as the clock of the switch has them, ns since 1970: what its telemetry says.
	InClock  uint64 `json:"in_clock"`
	OutClock uint64 `json:"out_clock"`

	Depth       uint64 `json:"depth"`       // bytes in the queue when it came, itself not counted
	Buffer      uint64 `json:"buffer"`      // bytes in the whole buffer of the switch then
	Utilization uint64 `json:"utilization"` // bit/s that left the port Out, of late
	Length      int    `json:"length"`      // bytes, as it left
}

// Append implements Record.
func (r *Hop) Append(b []byte) []byte {
	o := open(b, "hop")
	o.uint("packet", r.Packet)
	o.optionalUint("copy_of", r.CopyOf)
	o.uint("flow", uint64(r.Flow))
	o.uint("hop", uint64(r.Hop))
	o.uint("node", uint64(r.Node))
	o.uint("in", uint64(r.In))
	o.uint("out", uint64(r.Out))
	o.uint("queue", uint64(r.Queue))
	o.int("in_ns", r.InNs)
	o.int("out_ns", r.OutNs)
	o.int("latency_ns", r.LatencyNs)
	o.uint("in_clock", r.InClock)
	o.uint("out_clock", r.OutClock)
	o.uint("depth", r.Depth)
	o.uint("buffer", r.Buffer)
	o.uint("utilization", r.Utilization)
	o.int("length", int64(r.Length))
	return o.close()
}
