package analyze

import (
	"math"
	"reflect"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// FlowOrder is what flows are listed by, the largest first: the name of a field of the API, or latency, which is
// another one for the mean residence time.
type FlowOrder string

// Orders of flows that others name.
var (
	ByLast    = orderBy("Last")
	ByPackets = orderBy("Packets")
)

// orderBy returns the order by a field of telemetry.Flow.
func orderBy(field string) FlowOrder {
	return FlowOrder(catalogue.NameOf(reflect.TypeFor[telemetry.Flow](), field))
}

// flowNumbers are what flows are listed by: the number, and whether it is known.
var flowNumbers = []struct {
	by     FlowOrder
	number func(f *flow) (n float64, known bool)
}{
	{ByLast, func(f *flow) (float64, bool) { return float64(f.last), true }},
	{ByPackets, func(f *flow) (float64, bool) { return float64(f.packets), true }},
	{"latency", meanResidence},
	{orderBy("Drops"), func(f *flow) (float64, bool) { return float64(f.drops), true }},
	{orderBy("First"), func(f *flow) (float64, bool) { return float64(f.first), true }},
	{orderBy("Bytes"), func(f *flow) (float64, bool) { return float64(f.bytes), true }},
	{orderBy("Reports"), func(f *flow) (float64, bool) { return float64(f.reports), true }},
	{orderBy("PathChanges"), func(f *flow) (float64, bool) { return float64(f.pathChanges), true }},
	{orderBy("Residence.Mean"), meanResidence},
	{
		orderBy("Residence.Min"),
		func(f *flow) (float64, bool) { return float64(f.residence.Least()), f.residence.Count > 0 },
	},
	{orderBy("Residence.P50"), func(f *flow) (float64, bool) {
		return f.quantile(func(d *telemetry.Distribution) uint64 { return d.P50 })
	}},
	{orderBy("Residence.P99"), func(f *flow) (float64, bool) {
		return f.quantile(func(d *telemetry.Distribution) uint64 { return d.P99 })
	}},
	{
		orderBy("Residence.Max"),
		func(f *flow) (float64, bool) { return float64(f.residence.Most()), f.residence.Count > 0 },
	},
	{orderBy("EndToEnd.Mean"), func(f *flow) (float64, bool) { return f.endToEnd.Mean(), f.endToEnd.Count > 0 }},
}

// FlowOrders are all of them.
var FlowOrders = func() (orders []FlowOrder) {
	for _, n := range flowNumbers {
		orders = append(orders, n.by)
	}
	return orders
}()

// score returns what flows are listed by, the highest first. What is not known comes last.
func (by FlowOrder) score(ascending bool) func(f *flow) float64 {
	number := flowNumbers[0].number
	for i := range flowNumbers {
		if flowNumbers[i].by == by {
			number = flowNumbers[i].number
		}
	}
	return func(f *flow) float64 {
		score, known := number(f)
		switch {
		case !known:
			return math.Inf(-1)
		case ascending:
			return -score
		}
		return score
	}
}

func meanResidence(f *flow) (float64, bool) { return f.residence.Mean(), f.residence.Count > 0 }

func (f *flow) quantile(of func(*telemetry.Distribution) uint64) (float64, bool) {
	if f.residence.Len() == 0 {
		return 0, false
	}
	d := f.residence.distribution()
	return float64(of(d)), true
}
