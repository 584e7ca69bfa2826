package truth

// A Drop says that a packet was lost.
type Drop struct {
	TimeNs int64  `json:"t_ns"`
	Packet uint64 `json:"packet"`
	CopyOf uint64 `json:"copy_of,omitempty"` // packet that a switch has copied, or that it followed
	Flow   uint32 `json:"flow"`

	// Place is host (in the queue of the sender, or refused by the receiver), ingress (the switch decided not to
	// forward it), queue (no room), egress (after the queue, or the port was down) or link (between two nodes).
	Place string `json:"place"`
	Node  uint32 `json:"node"`            // the switch; of a link the one that sent; 0 for a host
	Link  string `json:"link,omitempty"`  // name of the link, if Place is link
	In    uint32 `json:"in"`              // port where it came in; 0 for a host
	Out   uint32 `json:"out"`             // port for which it was meant; 0 if that was not known yet
	Queue uint8  `json:"queue"`           // of the port Out
	Host  string `json:"host,omitempty"`  // name of the host, if Place is host
	Depth uint64 `json:"depth,omitempty"` // bytes in that queue, if Place is queue

	Reason string `json:"reason"` // see package fabric
	Code   uint8  `json:"code"`   // its number in telemetry
	Seen   bool   `json:"seen"`   // the telemetry device of the switch was told
	Length int    `json:"length"` // bytes of the frame
}

// Append implements Record.
func (r *Drop) Append(b []byte) []byte {
	o := open(b, "drop")
	o.int("t_ns", r.TimeNs)
	o.uint("packet", r.Packet)
	o.optionalUint("copy_of", r.CopyOf)
	o.uint("flow", uint64(r.Flow))
	o.string("place", r.Place)
	o.uint("node", uint64(r.Node))
	o.optional("link", r.Link)
	o.uint("in", uint64(r.In))
	o.uint("out", uint64(r.Out))
	o.uint("queue", uint64(r.Queue))
	o.optional("host", r.Host)
	o.optionalUint("depth", r.Depth)
	o.string("reason", r.Reason)
	o.uint("code", uint64(r.Code))
	o.bool("seen", r.Seen)
	o.int("length", int64(r.Length))
	return o.close()
}
