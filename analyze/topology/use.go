package topology

import "github.com/waybill-int/waybill/telemetry"

// A Use is what a node says of the use of an egress port.
type Use struct {
	telemetry.UtilizationSum
	last   uint32
	High   uint32                    // since Intervals looked last
	Unit   telemetry.UtilizationUnit // as the latest report has it, without the configuration
	LastNs int64                     // 0: last is not known
}

// Add counts what a report tells at nowNs.
func (u *Use) Add(v uint32, unit telemetry.UtilizationUnit, nowNs int64) {
	u.Samples++
	u.Sum += uint64(v)
	u.Max = max(u.Max, v)
	u.High = max(u.High, v)
	u.last, u.LastNs, u.Unit = v, nowNs, unit
}

// MergeUse adds what o, on another path or in another shard, counted.
func (u *Use) MergeUse(o *Use) {
	if o.LastNs > u.LastNs {
		u.last, u.LastNs = o.last, o.LastNs
	}
	u.Merge(&o.UtilizationSum)
}

// Since is what was added after an earlier state, which was given to Intervals.
func (u *Use) Since(given *Use) telemetry.UtilizationSum {
	return telemetry.UtilizationSum{Samples: u.Samples - given.Samples, Sum: u.Sum - given.Sum, Max: u.High}
}

// Answer returns what u comes to, nil if nothing was said.
func (u *Use) Answer(unit telemetry.UtilizationUnit) *telemetry.Utilization {
	a := u.UtilizationSum.Answer(unit)
	if a != nil && u.LastNs != 0 {
		last := u.last
		a.Last = &last
	}
	return a
}
