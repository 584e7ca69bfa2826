package filter

import (
	"time"

	"github.com/waybill-int/waybill/internal/flat"
	"github.com/waybill-int/waybill/telemetry"
)

// A FlowCondition selects flows, wherever their owner is.
type FlowCondition struct {
	Filter string // in the canonical form; "": every flow
	NowNs  int64  // what the filter means by now, nanoseconds since 1970; 0: when it is asked
	OneIn  uint64 // of these, one flow in so many, and always the same ones; 0 and 1: all

	nodes map[string]uint32 // whose names the filter may have
}

// FlowCondition returns the condition that e is, with what it means by now.
func (e *Expr) FlowCondition(now time.Time) FlowCondition {
	return FlowCondition{Filter: e.String(), NowNs: now.UnixNano(), nodes: e.schema.nodes}
}

func init() { flat.Register[FlowCondition]() }

// Compile returns what selects flows by their keys, and what selects of these by all that is known of them; nil: every
// flow. A filter that cannot be read selects none.
func (c FlowCondition) Compile() (func(*telemetry.FlowKey) bool, func(*telemetry.Flow) bool) {
	e, err := Parse(FlowTable.Schema().WithNodes(c.nodes), c.Filter)
	if err != nil {
		return func(*telemetry.FlowKey) bool { return false }, nil
	}
	clock := time.Now
	if c.NowNs != 0 {
		clock = func() time.Time { return time.Unix(0, c.NowNs) }
	}
	var match func(*telemetry.FlowKey) bool
	// Putting a flow together takes microseconds, and most filters ask for its key.
	part := e.On("src", "dst", "src_port", "dst_port", "protocol", "tunnel", "tunnel_id")
	if known := new(telemetry.Flow); c.OneIn > 1 || part.String() != "" {
		matcher, row := part.Matcher(clock), FlowTable.Row(known)
		match = func(k *telemetry.FlowKey) bool {
			if c.OneIn > 1 && k.Hash()%c.OneIn != 0 {
				return false
			}
			known.Endpoints = telemetry.EndpointsOf(k)
			return matcher.Match(row)
		}
	}
	if e.String() == part.String() {
		return match, nil
	}
	matcher := e.Matcher(clock)
	return match, func(f *telemetry.Flow) bool { return matcher.Match(FlowTable.Row(f)) }
}
