package analyze

import "math"

// FlowOrder is what flows are listed by, the largest first. All are names of fields of the API; latency is another one for
// residence_ns.mean.
type FlowOrder string

// Orders of flows.
const (
	ByLast        FlowOrder = "last"
	ByPackets     FlowOrder = "packets"
	ByLatency     FlowOrder = "latency" // mean residence time
	ByDrops       FlowOrder = "drops"
	ByFirst       FlowOrder = "first"
	ByBytes       FlowOrder = "bytes"
	ByReports     FlowOrder = "reports"
	ByPathChanges FlowOrder = "path_changes"
	ByMean        FlowOrder = "residence_ns.mean"
	ByMin         FlowOrder = "residence_ns.min"
	ByP50         FlowOrder = "residence_ns.p50"
	ByP99         FlowOrder = "residence_ns.p99"
	ByMax         FlowOrder = "residence_ns.max"
	ByEndToEnd    FlowOrder = "end_to_end_ns.mean"
)

// FlowOrders are all of them.
var FlowOrders = []FlowOrder{
	ByLast, ByPackets, ByLatency, ByDrops, ByFirst, ByBytes, ByReports, ByPathChanges, ByMean, ByMin, ByP50, ByP99, ByMax, ByEndToEnd,
}

// score is what a flow is listed by, the highest first. What is not known comes last.
func (f *flow) score(by FlowOrder, ascending bool) float64 {
	score, known := f.number(by)
	switch {
	case !known:
		return math.Inf(-1)
	case ascending:
		return -score
	}
	return score
}

// number returns the number of an order, and whether it is known.
func (f *flow) number(by FlowOrder) (n float64, known bool) {
	r := &f.residence
	switch by {
	case ByPackets:
		return float64(f.packets), true
	case ByDrops:
		return float64(f.drops), true
	case ByFirst:
		return float64(f.first), true
	case ByBytes:
		return float64(f.bytes), true
	case ByReports:
		return float64(f.reports), true
	case ByPathChanges:
		return float64(f.pathChanges), true
	case ByLatency, ByMean:
		return r.Mean(), r.Count > 0
	case ByMin:
		return float64(r.Min), r.Count > 0
	case ByMax:
		return float64(r.Max), r.Count > 0
	case ByP50, ByP99:
		if r.Len() == 0 {
			return 0, false
		}
		d := r.distribution()
		if by == ByP50 {
			return float64(d.P50), true
		}
		return float64(d.P99), true
	case ByEndToEnd:
		return f.endToEnd.Mean(), f.endToEnd.Count > 0
	}
	return float64(f.last), true
}
