package telemetry

// A Utilization sums up what nodes say of the use of an egress port, in the unit of the device, which reports do not
// tell.
type Utilization struct {
	Unit string `json:"unit" table:"USE UNIT,wide" doc:"what the device tells its use in: share:N of N in full use, or unknown"`
	// packets that told of it
	Samples uint64  `json:"samples" doc:"packets that told of the utilization of the egress port"`
	Mean    float64 `json:"mean" unit:"of the device" doc:"mean utilization of the egress port"` // over them
	Max     uint32  `json:"max" filter:",main" unit:"of the device" table:"USE MAX,wide" doc:"highest utilization of the egress port"`
	// of now only
	Last *uint32 `json:"last,omitempty" unit:"of the device" table:"USE,wide" doc:"utilization of the egress port, as told last"`
}

// A UtilizationSum adds up utilizations that packets tell.
type UtilizationSum struct {
	Samples uint64 `store:"samples,sum"` // packets that told of it
	Sum     uint64 `store:"sum,sum"`     // of what they told
	Max     uint32 `store:"max,high" known:"Samples"`
}

// Merge adds what others told.
func (u *UtilizationSum) Merge(o *UtilizationSum) {
	u.Samples += o.Samples
	u.Sum += o.Sum
	u.Max = max(u.Max, o.Max)
}

// Answer returns what u comes to in a unit, nil if nobody told anything.
func (u *UtilizationSum) Answer(unit UtilizationUnit) *Utilization {
	if u.Samples == 0 {
		return nil
	}
	return &Utilization{
		Unit: unit.String(), Samples: u.Samples, Mean: float64(u.Sum) / float64(u.Samples), Max: u.Max,
	}
}
