package api

import (
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// utilizationFields are those of the use of an egress port.
func utilizationFields() []filter.Field {
	return []filter.Field{
		{Name: "utilization.last", Kind: filter.Uint, Unit: "of the device", Doc: "utilization of the egress port, as told last"},
		{Name: "utilization.mean", Kind: filter.Float, Unit: "of the device", Doc: "mean utilization of the egress port"},
		{Name: "utilization.max", Aliases: []string{"utilization"}, Kind: filter.Uint, Unit: "of the device", Doc: "highest utilization of the egress port"},
	}
}

func utilizationValues[T any](of func(*T) *telemetry.Utilization) map[string]filter.ValueOf[T] {
	return map[string]filter.ValueOf[T]{
		"utilization.last": filter.MaybeNumber(func(item *T) *uint32 {
			if u := of(item); u != nil {
				return u.Last
			}
			return nil
		}),
		"utilization.mean": func(item *T, _ int) (filter.Value, bool) {
			if u := of(item); u != nil {
				return filter.FromFloat(u.Mean), true
			}
			return filter.Value{}, false
		},
		"utilization.max": filter.MaybeNumber(func(item *T) *uint32 {
			if u := of(item); u != nil {
				return &u.Max
			}
			return nil
		}),
	}
}
