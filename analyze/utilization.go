package analyze

import "github.com/waybill-int/waybill/telemetry"

// A utilization is what a node says of the use of an egress port.
type utilization struct {
	telemetry.UtilizationSum
	last   uint32
	high   uint32 // since Intervals looked last
	lastNs int64  // 0: last is not known
}

func (u *utilization) add(v uint32, nowNs int64) {
	u.Samples++
	u.Sum += uint64(v)
	u.Max = max(u.Max, v)
	u.high = max(u.high, v)
	u.last, u.lastNs = v, nowNs
}

// merge adds what o, on another path or in another shard, counted.
func (u *utilization) merge(o *utilization) {
	if o.lastNs > u.lastNs {
		u.last, u.lastNs = o.last, o.lastNs
	}
	u.Merge(&o.UtilizationSum)
}

// since is what was added after an earlier state, which was given to Intervals.
func (u *utilization) since(given *utilization) telemetry.UtilizationSum {
	return telemetry.UtilizationSum{Samples: u.Samples - given.Samples, Sum: u.Sum - given.Sum, Max: u.high}
}

// answer returns what u comes to, nil if nothing was said.
func (u *utilization) answer() *telemetry.Utilization {
	a := u.Answer()
	if a != nil && u.lastNs != 0 {
		last := u.last
		a.Last = &last
	}
	return a
}
