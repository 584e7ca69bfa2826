package filter

import (
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
)

// An EventRow is an event as filters see it: a Row of Events.
type EventRow struct{ *telemetry.Event }

// Value implements Row.
func (r EventRow) Value(field, i int) (Value, bool) { return eventValues[field](r.Event, i) }

// eventValues has the values of a field of Events at its index. Fields that stand for others have none.
var eventValues = eventValuesOf(map[string]eventValue{
	"id":          func(e *telemetry.Event, _ int) (Value, bool) { return FromText(e.ID), true },
	"kind":        func(e *telemetry.Event, _ int) (Value, bool) { return FromUint(uint64(e.Kind)), true },
	"severity":    func(e *telemetry.Event, _ int) (Value, bool) { return FromUint(uint64(e.Severity)), true },
	"start":       func(e *telemetry.Event, _ int) (Value, bool) { return FromTime(e.Start), true },
	"end":         eventEnd,
	"duration":    eventDuration,
	"count":       func(e *telemetry.Event, _ int) (Value, bool) { return FromUint(e.Count), true },
	"text":        func(e *telemetry.Event, _ int) (Value, bool) { return FromText(e.Text), true },
	"node":        eventNode,
	"name":        eventName,
	"egress_port": func(e *telemetry.Event, _ int) (Value, bool) { return optional(e.Port) },
	"queue_id":    func(e *telemetry.Event, _ int) (Value, bool) { return optional(e.Queue) },
	"to_node":     func(e *telemetry.Event, _ int) (Value, bool) { return optional(e.ToNode) },
	"to_port":     func(e *telemetry.Event, _ int) (Value, bool) { return optional(e.ToPort) },
	"reason":      func(e *telemetry.Event, _ int) (Value, bool) { return optional(e.Reason) },
	"reason_name": func(e *telemetry.Event, _ int) (Value, bool) {
		return FromText(e.ReasonName), e.ReasonName != ""
	},
	"rule":      func(e *telemetry.Event, _ int) (Value, bool) { return FromText(e.Rule), e.Rule != "" },
	"source":    eventSource,
	"path":      func(e *telemetry.Event, _ int) (Value, bool) { return FromText(e.Path), e.Path != "" },
	"src":       ofEventFlow(func(f *telemetry.Endpoints) (Value, bool) { return address(f.Src) }),
	"dst":       ofEventFlow(func(f *telemetry.Endpoints) (Value, bool) { return address(f.Dst) }),
	"src_port":  ofEventFlow(func(f *telemetry.Endpoints) (Value, bool) { return FromUint(uint64(f.SrcPort)), true }),
	"dst_port":  ofEventFlow(func(f *telemetry.Endpoints) (Value, bool) { return FromUint(uint64(f.DstPort)), true }),
	"protocol":  ofEventFlow(func(f *telemetry.Endpoints) (Value, bool) { return named(protocolNumbers, f.Protocol) }),
	"tunnel":    ofEventFlow(func(f *telemetry.Endpoints) (Value, bool) { return named(tunnelNumbers, f.Tunnel) }),
	"tunnel_id": ofEventFlow(func(f *telemetry.Endpoints) (Value, bool) { return optional(f.TunnelID) }),
})

// An eventValue returns the i-th value of a field, and whether there is one.
type eventValue func(e *telemetry.Event, i int) (Value, bool)

// eventValuesOf orders values by the index of their field.
func eventValuesOf(byName map[string]eventValue) []eventValue {
	fields := Events.Fields()
	values := make([]eventValue, len(fields))
	for _, f := range fields {
		values[f.Index()] = byName[f.Name]
	}
	return values
}

func eventEnd(e *telemetry.Event, _ int) (Value, bool) {
	if e.End == nil {
		return Value{}, false
	}
	return FromTime(*e.End), true
}

func eventDuration(e *telemetry.Event, _ int) (Value, bool) {
	if e.End == nil {
		return Value{}, false
	}
	return FromDuration(e.End.Sub(e.Start)), true
}

// eventNode and eventName tell of both ends. One that is not known leaves no gap.
func eventNode(e *telemetry.Event, i int) (Value, bool) {
	if e.Node == nil {
		i++
	}
	switch i {
	case 0:
		return optional(e.Node)
	case 1:
		return optional(e.ToNode)
	}
	return Value{}, false
}

func eventName(e *telemetry.Event, i int) (Value, bool) {
	if e.Name == "" {
		i++
	}
	switch i {
	case 0:
		return FromText(e.Name), true
	case 1:
		return FromText(e.ToName), e.ToName != ""
	}
	return Value{}, false
}

func eventSource(e *telemetry.Event, _ int) (Value, bool) {
	a, _ := netip.ParseAddr(e.Source) // without one it is empty
	return address(a)
}

// ofEventFlow returns the values of a flow, if an event has one.
func ofEventFlow(value func(*telemetry.Endpoints) (Value, bool)) eventValue {
	return func(e *telemetry.Event, _ int) (Value, bool) {
		if e.Flow == nil {
			return Value{}, false
		}
		return value(e.Flow)
	}
}

// optional returns a number that may not be known.
func optional[T uint8 | uint32](n *T) (Value, bool) {
	if n == nil {
		return Value{}, false
	}
	return FromUint(uint64(*n)), true
}

func address(a netip.Addr) (Value, bool) {
	if !a.IsValid() {
		return Value{}, false
	}
	return FromAddr(telemetry.AddrFrom(a)), true
}

// named returns the number of a name, of those in a table.
func named(numbers map[string]uint64, name string) (Value, bool) {
	n, ok := numbers[name]
	return FromUint(n), ok
}

var (
	protocolNumbers = protocolsByName()
	tunnelNumbers   = tunnelsByName()
)

func protocolsByName() map[string]uint64 {
	numbers := map[string]uint64{}
	for n := range 256 {
		numbers[telemetry.ProtocolName(uint8(n))] = uint64(n)
	}
	return numbers
}

func tunnelsByName() map[string]uint64 {
	numbers := map[string]uint64{}
	for t := telemetry.TunnelVXLAN; t <= telemetry.TunnelIP; t++ {
		numbers[t.String()] = uint64(t)
	}
	return numbers
}
