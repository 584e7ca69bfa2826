package truth

// A Report says that a switch sent a telemetry report, or, if Lost, that the fabric threw it away on its way to the
// collector because a report_loss fault asked for it. Loss that nobody asked for is not in the truth.
type Report struct {
	Lost   bool   `json:"-"` // type is report_lost
	TimeNs int64  `json:"t_ns"`
	Node   uint32 `json:"node"`
	Number uint64 `json:"number"`            // of this node, from 1; lost ones are counted too
	Packet uint64 `json:"packet"`            // in whose processing it was sent; 0 for one sent by a timer
	CopyOf uint64 `json:"copy_of,omitempty"` // packet that a switch has copied, or that it followed
	Flow   uint32 `json:"flow"`              // of that packet
	Length int    `json:"length"`            // bytes of the frame
}

// Append implements Record.
func (r *Report) Append(b []byte) []byte {
	kind := "report"
	if r.Lost {
		kind = "report_lost"
	}
	o := open(b, kind)
	o.int("t_ns", r.TimeNs)
	o.uint("node", uint64(r.Node))
	o.uint("number", r.Number)
	o.uint("packet", r.Packet)
	o.optionalUint("copy_of", r.CopyOf)
	o.uint("flow", uint64(r.Flow))
	o.int("length", int64(r.Length))
	return o.close()
}
