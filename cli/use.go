package cli

import (
	"strconv"

	"github.com/waybill-int/waybill/telemetry"
)

// useText is the utilization of a port: the latest, or of the past the mean. It is empty if no node told of it.
func useText(u *telemetry.Utilization) string {
	switch {
	case u == nil:
		return ""
	case u.Last != nil:
		return csvUint(*u.Last)
	}
	return strconv.FormatFloat(u.Mean, 'f', 1, 64)
}

// useMax is the highest utilization.
func useMax(u *telemetry.Utilization) string {
	if u == nil {
		return ""
	}
	return csvUint(u.Max)
}

// useFields are those of CSV.
func useFields[T any](of func(*T) *telemetry.Utilization) []csvField[T] {
	told := func(text func(*telemetry.Utilization) string) func(*T) string {
		return func(item *T) string {
			if u := of(item); u != nil {
				return text(u)
			}
			return ""
		}
	}
	return []csvField[T]{
		{"utilization_samples", told(func(u *telemetry.Utilization) string { return csvUint(u.Samples) })},
		{"utilization_mean", told(func(u *telemetry.Utilization) string { return csvFloat(u.Mean) })},
		{"utilization_max", told(useMax)},
		{"utilization_last", told(func(u *telemetry.Utilization) string { return numberText(u.Last, "") })},
	}
}
