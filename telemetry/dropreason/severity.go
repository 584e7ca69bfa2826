package dropreason

import "github.com/waybill-int/waybill/telemetry"

// The severity of a Reason says what its drops are a sign of, before anybody looks at how many there are.
const (
	Info     = telemetry.Info     // somebody wants these packets dropped, or every network has some
	Warning  = telemetry.Warning  // traffic suffers or will, or somebody sends what nobody should
	Critical = telemetry.Critical // the network does not do what it is for
)
