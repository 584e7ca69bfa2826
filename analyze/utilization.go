package analyze

import (
	"maps"

	"github.com/waybill-int/waybill/telemetry"
)

// utilizationUnits returns what nodes tell the use of their ports in: what is configured, or else what the dialects of
// their reports have. Nobody knows where these differ.
func (c *Collector) utilizationUnits(paths []*path) map[uint32]telemetry.UtilizationUnit {
	units := map[uint32]telemetry.UtilizationUnit{}
	for _, p := range paths {
		for i := range p.hops {
			h := &p.hops[i]
			if h.utilization.LastNs == 0 {
				continue
			}
			if unit, ok := units[h.Node]; ok && unit != h.utilization.Unit {
				units[h.Node] = 0
			} else {
				units[h.Node] = h.utilization.Unit
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
