package truth

import "strconv"

// A Path says that packets of a flow took one path for some time. Only packets that arrived are counted: those of a
// dropped packet are in its Hop records if it was sampled. Each counts in one path of its flow.
type Path struct {
	Flow    uint32    `json:"flow"`
	FromNs  int64     `json:"from_ns"`  // when the first packet that took it left its host
	UntilNs int64     `json:"until_ns"` // when the last one did
	Packets uint64    `json:"packets"`  // that took it in this interval and arrived
	Hops    []PathHop `json:"hops"`     // switches, source first
}

// A PathHop is one switch on a path.
type PathHop struct {
	Node  uint32 `json:"node"`
	In    uint32 `json:"in"`    // port
	Out   uint32 `json:"out"`   // port
	Queue uint8  `json:"queue"` // of the port Out
}

// Append implements Record.
func (r *Path) Append(b []byte) []byte {
	o := open(b, "path")
	o.uint("flow", uint64(r.Flow))
	o.int("from_ns", r.FromNs)
	o.int("until_ns", r.UntilNs)
	o.uint("packets", r.Packets)
	o.each("hops", len(r.Hops), func(b []byte, i int) []byte {
		h := &r.Hops[i]
		b = strconv.AppendUint(append(b, `{"node":`...), uint64(h.Node), 10)
		b = strconv.AppendUint(append(b, `,"in":`...), uint64(h.In), 10)
		b = strconv.AppendUint(append(b, `,"out":`...), uint64(h.Out), 10)
		b = strconv.AppendUint(append(b, `,"queue":`...), uint64(h.Queue), 10)
		return append(b, '}')
	})
	return o.close()
}
