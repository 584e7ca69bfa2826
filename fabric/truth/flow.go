package truth

// A Flow is one direction of a conversation: the packets that switches see with one flow key. A TCP connection has two.
// It is written when the conversation has ended and no packet of it is left in the network, or at the end of the run.
type Flow struct {
	Flow    uint32 `json:"flow"`    // number, from 1
	Reverse uint32 `json:"reverse"` // flow of the other direction; 0 if there is none
	Traffic string `json:"traffic"` // what made it, for example "traffic[0] poisson"

	// Flow key of the outermost headers.
	Src      string `json:"src"`
	Dst      string `json:"dst"`
	Protocol uint8  `json:"protocol"`
	SrcPort  uint16 `json:"src_port"`
	DstPort  uint16 `json:"dst_port"`
	DSCP     uint8  `json:"dscp"`

	Inner *Inner `json:"inner,omitempty"` // flow key inside a tunnel

	StartNs int64 `json:"start_ns"` // when the conversation began
	EndNs   int64 `json:"end_ns"`   // when it was over; the end of the run if it was not

	Bytes            uint64 `json:"bytes"` // of payload that arrived, each byte once
	PacketsSent      uint64 `json:"packets_sent"`
	PacketsDelivered uint64 `json:"packets_delivered"`
	PacketsDropped   uint64 `json:"packets_dropped"`
	Retransmitted    uint64 `json:"retransmitted"` // packets of PacketsSent whose bytes had been sent before
	// all was sent, by TCP also acknowledged; not if it went on at the end of the run
	Finished bool `json:"finished"`
}

// An Inner is the flow key of a tenant's packets inside a tunnel.
type Inner struct {
	Tunnel   string `json:"tunnel"` // vxlan, vxlan-gpe or geneve
	VNI      uint32 `json:"vni"`
	Src      string `json:"src"`
	Dst      string `json:"dst"`
	Protocol uint8  `json:"protocol"`
	SrcPort  uint16 `json:"src_port"`
	DstPort  uint16 `json:"dst_port"`
}

// Append implements Record.
func (r *Flow) Append(b []byte) []byte {
	o := open(b, "flow")
	o.uint("flow", uint64(r.Flow))
	o.uint("reverse", uint64(r.Reverse))
	o.string("traffic", r.Traffic)
	o.string("src", r.Src)
	o.string("dst", r.Dst)
	o.uint("protocol", uint64(r.Protocol))
	o.uint("src_port", uint64(r.SrcPort))
	o.uint("dst_port", uint64(r.DstPort))
	o.uint("dscp", uint64(r.DSCP))
	if in := r.Inner; in != nil {
		o.b = append(o.b, `,"inner":{"tunnel":`...)
		o.b = appendString(o.b, in.Tunnel)
		o.uint("vni", uint64(in.VNI))
		o.string("src", in.Src)
		o.string("dst", in.Dst)
		o.uint("protocol", uint64(in.Protocol))
		o.uint("src_port", uint64(in.SrcPort))
		o.uint("dst_port", uint64(in.DstPort))
		o.b = append(o.b, '}')
	}
	o.int("start_ns", r.StartNs)
	o.int("end_ns", r.EndNs)
	o.uint("bytes", r.Bytes)
	o.uint("packets_sent", r.PacketsSent)
	o.uint("packets_delivered", r.PacketsDelivered)
	o.uint("packets_dropped", r.PacketsDropped)
	o.uint("retransmitted", r.Retransmitted)
	o.bool("finished", r.Finished)
	return o.close()
}
