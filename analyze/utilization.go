package analyze

import (
	"maps"

	"github.com/waybill-int/waybill/telemetry"
)

// A utilization is what a node says of the use of an egress port.
type utilization struct {
	telemetry.UtilizationSum
	last   uint32
	high   uint32                    // since Intervals looked last
	unit   telemetry.UtilizationUnit // as the latest report has it, without the configuration
	lastNs int64                     // 0: last is not known
}

func (u *utilization) add(v uint32, unit telemetry.UtilizationUnit, nowNs int64) {
	u.Samples++
	u.Sum += uint64(v)
	u.Max = max(u.Max, v)
	u.high = max(u.high, v)
	u.last, u.lastNs, u.unit = v, nowNs, unit
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
func (u *utilization) answer(unit telemetry.UtilizationUnit) *telemetry.Utilization {
	a := u.Answer(unit)
	if a != nil && u.lastNs != 0 {
		last := u.last
		a.Last = &last
	}
	return a
}

// utilizationUnits returns what nodes tell the use of their ports in: what is configured, or else what the dialects of
// their reports have. Nobody knows where these differ.
func (c *Collector) utilizationUnits(paths []*path) map[uint32]telemetry.UtilizationUnit {
	units := map[uint32]telemetry.UtilizationUnit{}
	for _, p := range paths {
		for i := range p.hops {
			h := &p.hops[i]
			if h.utilization.lastNs == 0 {
				continue
			}
			if unit, ok := units[h.node]; ok && unit != h.utilization.unit {
				units[h.node] = 0
			} else {
				units[h.node] = h.utilization.unit
			}
		}
	}
	maps.Copy(units, c.Configured().UtilizationUnits)
	return units
}

// UtilizationUnits returns what nodes tell the use of their ports in, as far as that is known.
func (c *Collector) UtilizationUnits() map[uint32]telemetry.UtilizationUnit {
	return c.utilizationUnits(c.mergedPaths())
}
