package truth

// A Run is the first line: what is needed to have the same run again.
type Run struct {
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
	// wall time at virtual time 0, since 1970; right clocks of switches show EpochNs + t_ns
	EpochNs uint64 `json:"epoch_ns"`

	SamplePackets uint64 `json:"sample_packets"` // one packet in so many has hop records; 0 is none
	BurstAbove    uint64 `json:"burst_above"`    // bytes in a queue at which a burst starts; 0 is never
	BurstBelow    uint64 `json:"burst_below"`    // bytes at which it ends
}

// Append implements Record.
func (r *Run) Append(b []byte) []byte {
	o := open(b, "run")
	o.string("scenario", r.Scenario)
	o.uint("seed", r.Seed)
	o.uint("epoch_ns", r.EpochNs)
	o.uint("sample_packets", r.SamplePackets)
	o.uint("burst_above", r.BurstAbove)
	o.uint("burst_below", r.BurstBelow)
	return o.close()
}
