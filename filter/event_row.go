package filter

import "github.com/waybill-int/waybill/telemetry"

// An EventRow is an event as filters see it: a Row of Events.
type EventRow struct{ *telemetry.Event }

// Value implements Row.
func (r EventRow) Value(field, i int) (Value, bool) { return EventTable.values[field](r.Event, i) }
