package truth

import "strconv"

// An End is the last line. Sent + Copies = Delivered + all of Dropped + InFlight.
type End struct {
	TimeNs      int64    `json:"t_ns"`
	Sent        uint64   `json:"sent"`             // packets that hosts made
	Copies      uint64   `json:"copies,omitempty"` // copies and follow-up packets that switches made
	Delivered   uint64   `json:"delivered"`
	InFlight    uint64   `json:"in_flight"`
	Hops        uint64   `json:"hops"` // packets that arrived at switches
	Reports     uint64   `json:"reports"`
	ReportsLost uint64   `json:"reports_lost"`
	Dropped     []Reason `json:"dropped"` // those that occurred, by code
}

// A Reason counts drops.
type Reason struct {
	Reason  string `json:"reason"`
	Code    uint8  `json:"code"`
	Packets uint64 `json:"packets"`
}

// Append implements Record.
func (r *End) Append(b []byte) []byte {
	o := open(b, "end")
	o.int("t_ns", r.TimeNs)
	o.uint("sent", r.Sent)
	o.optionalUint("copies", r.Copies)
	o.uint("delivered", r.Delivered)
	o.uint("in_flight", r.InFlight)
	o.uint("hops", r.Hops)
	o.uint("reports", r.Reports)
	o.uint("reports_lost", r.ReportsLost)
	o.each("dropped", len(r.Dropped), func(b []byte, i int) []byte {
		d := &r.Dropped[i]
		b = appendString(append(b, `{"reason":`...), d.Reason)
		b = strconv.AppendUint(append(b, `,"code":`...), uint64(d.Code), 10)
		b = strconv.AppendUint(append(b, `,"packets":`...), d.Packets, 10)
		return append(b, '}')
	})
	return o.close()
}
