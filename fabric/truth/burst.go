package truth

import "strconv"

// A Burst is a time during which the queue of a switch was long: from the packet that brought it above Run.BurstAbove
// bytes to the one whose leaving brought it to Run.BurstBelow or less.
type Burst struct {
	Node    uint32 `json:"node"`
	Port    uint32 `json:"port"`
	Queue   uint8  `json:"queue"`
	StartNs int64  `json:"start_ns"`
	EndNs   int64  `json:"end_ns"`  // the end of the run if it was not over; Open says so
	PeakNs  int64  `json:"peak_ns"` // when it was longest
	Peak    uint64 `json:"peak"`    // bytes then
	Packets uint64 `json:"packets"` // that were in the queue at some time of it
	Bytes   uint64 `json:"bytes"`   // of these
	Drops   uint64 `json:"drops"`   // packets for which there was no room
	Open    bool   `json:"open,omitempty"`

	Flows []BurstFlow `json:"flows"` // whose packets these were; most bytes first, then lowest number
}

// A BurstFlow is the part of one flow in a burst.
type BurstFlow struct {
	Flow  uint32 `json:"flow"`
	Bytes uint64 `json:"bytes"`
}

// Append implements Record.
func (r *Burst) Append(b []byte) []byte {
	o := open(b, "burst")
	o.uint("node", uint64(r.Node))
	o.uint("port", uint64(r.Port))
	o.uint("queue", uint64(r.Queue))
	o.int("start_ns", r.StartNs)
	o.int("end_ns", r.EndNs)
	o.int("peak_ns", r.PeakNs)
	o.uint("peak", r.Peak)
	o.uint("packets", r.Packets)
	o.uint("bytes", r.Bytes)
	o.uint("drops", r.Drops)
	if r.Open {
		o.bool("open", true)
	}
	o.each("flows", len(r.Flows), func(b []byte, i int) []byte {
		b = strconv.AppendUint(append(b, `{"flow":`...), uint64(r.Flows[i].Flow), 10)
		b = strconv.AppendUint(append(b, `,"bytes":`...), r.Flows[i].Bytes, 10)
		return append(b, '}')
	})
	return o.close()
}
