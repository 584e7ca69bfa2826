package loss

import "github.com/waybill-int/waybill/telemetry"

// Hits are how many places of a shard know whose packets they lost since the last scan.
type Hits int

// maxHit bounds those that know the flows, of 4 kB each.
const maxHit = 1024

// Add adds packets of a flow, which may be nil, to those that were lost at a place.
func (h *Hits) Add(x **telemetry.Extent, flow *telemetry.FlowKey, packets uint64) {
	if *x == nil {
		*x = &telemetry.Extent{}
		*h++
	}
	if *h > maxHit && len((*x).Flows) == 0 {
		flow = nil
	}
	(*x).Add(flow, packets, 0)
}
