package filter

import (
	"maps"
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// What follows are the values that several tables have.

// Number returns the values of a field that every item has.
func Number[T any, N uint8 | uint16 | uint32 | uint64](get func(*T) N) ValueOf[T] {
	return func(item *T, _ int) (Value, bool) { return FromUint(uint64(get(item))), true }
}

// MaybeNumber returns the values of a field that is nil where it is not known.
func MaybeNumber[T any, N uint8 | uint32 | uint64](get func(*T) *N) ValueOf[T] {
	return func(item *T, _ int) (Value, bool) {
		n := get(item)
		if n == nil {
			return Value{}, false
		}
		return FromUint(uint64(*n)), true
	}
}

// MaybeText returns the values of a field that is empty where it is not known.
func MaybeText[T any](get func(*T) string) ValueOf[T] {
	return func(item *T, _ int) (Value, bool) {
		text := get(item)
		return FromText(text), text != ""
	}
}

// At returns the values of a time.
func At[T any](get func(*T) time.Time) ValueOf[T] {
	return func(item *T, _ int) (Value, bool) { return FromTime(get(item)), true }
}

// Nanoseconds returns the values of a duration that a distribution has, which is nil where none is known.
func Nanoseconds[T any](of func(*T) *telemetry.Distribution, get func(*telemetry.Distribution) float64) ValueOf[T] {
	return func(item *T, _ int) (Value, bool) {
		d := of(item)
		if d == nil {
			return Value{}, false
		}
		return FromDuration(time.Duration(get(d))), true
	}
}

// Quantile is Nanoseconds for what a distribution has only where it has a histogram.
func Quantile[T any](of func(*T) *telemetry.Distribution, get func(*telemetry.Distribution) uint64) ValueOf[T] {
	return func(item *T, _ int) (Value, bool) {
		d := of(item)
		if d == nil || d.RelativeError == 0 {
			return Value{}, false
		}
		return FromDuration(time.Duration(get(d))), true
	}
}

// endpointValues are those of the fields of endpoints; get returns nil where there are none.
func endpointValues[T any](get func(*T) *telemetry.Endpoints) map[string]ValueOf[T] {
	values := map[string]ValueOf[T]{}
	for name, value := range map[string]func(*telemetry.Endpoints) (Value, bool){
		"src":       func(e *telemetry.Endpoints) (Value, bool) { return address(e.Src) },
		"dst":       func(e *telemetry.Endpoints) (Value, bool) { return address(e.Dst) },
		"src_port":  func(e *telemetry.Endpoints) (Value, bool) { return FromUint(uint64(e.SrcPort)), true },
		"dst_port":  func(e *telemetry.Endpoints) (Value, bool) { return FromUint(uint64(e.DstPort)), true },
		"protocol":  func(e *telemetry.Endpoints) (Value, bool) { return named(protocolNumbers, e.Protocol) },
		"tunnel":    func(e *telemetry.Endpoints) (Value, bool) { return named(tunnelNumbers, e.Tunnel) },
		"tunnel_id": func(e *telemetry.Endpoints) (Value, bool) { return optional(e.TunnelID) },
	} {
		values[name] = func(item *T, _ int) (Value, bool) {
			e := get(item)
			if e == nil {
				return Value{}, false
			}
			return value(e)
		}
	}
	return values
}

// delayValues are those of the fields of delays.
func delayValues[T any](residence, endToEnd func(*T) *telemetry.Distribution) map[string]ValueOf[T] {
	return map[string]ValueOf[T]{
		"residence.min":   Nanoseconds(residence, func(d *telemetry.Distribution) float64 { return float64(d.Min) }),
		"residence.mean":  Nanoseconds(residence, func(d *telemetry.Distribution) float64 { return d.Mean }),
		"residence.p50":   Quantile(residence, func(d *telemetry.Distribution) uint64 { return d.P50 }),
		"residence.p99":   Quantile(residence, func(d *telemetry.Distribution) uint64 { return d.P99 }),
		"residence.max":   Nanoseconds(residence, func(d *telemetry.Distribution) float64 { return float64(d.Max) }),
		"end_to_end.min":  Nanoseconds(endToEnd, func(d *telemetry.Distribution) float64 { return float64(d.Min) }),
		"end_to_end.mean": Nanoseconds(endToEnd, func(d *telemetry.Distribution) float64 { return d.Mean }),
		"end_to_end.max":  Nanoseconds(endToEnd, func(d *telemetry.Distribution) float64 { return float64(d.Max) }),
	}
}

// stationValues are those of the fields of stations.
func stationValues[T any](hops func(*T) []telemetry.PathHop) map[string]ValueOf[T] {
	return map[string]ValueOf[T]{
		"node": nth(hops, func(h *telemetry.PathHop) (Value, bool) { return optional(h.Node) }),
		"hops": func(item *T, _ int) (Value, bool) {
			n := 0
			for _, h := range hops(item) {
				n += max(h.Missing, 1)
			}
			return FromUint(uint64(n)), true
		},
		"hop.latency": nth(hops, func(h *telemetry.PathHop) (Value, bool) {
			if h.LatencyNs == nil {
				return Value{}, false
			}
			return FromDuration(time.Duration(h.LatencyNs.Max)), true
		}),
		"hop.queue": nth(hops, func(h *telemetry.PathHop) (Value, bool) {
			if h.Queue == nil {
				return Value{}, false
			}
			return FromUint(uint64(h.Queue.Max)), true
		}),
	}
}

// nth returns the values of hops. A hop that has none leaves no gap.
func nth[T any](hops func(*T) []telemetry.PathHop, value func(*telemetry.PathHop) (Value, bool)) ValueOf[T] {
	return func(item *T, i int) (Value, bool) {
		list := hops(item)
		for j := range list {
			if v, ok := value(&list[j]); ok {
				if i == 0 {
					return v, true
				}
				i--
			}
		}
		return Value{}, false
	}
}

// maybeAddress returns the values of an address that may be missing.
func maybeAddress[T any](get func(*T) netip.Addr) ValueOf[T] {
	return func(item *T, _ int) (Value, bool) { return address(get(item)) }
}

// joined returns the values of all.
func joined[T any](all ...map[string]ValueOf[T]) map[string]ValueOf[T] {
	values := map[string]ValueOf[T]{}
	for _, some := range all {
		maps.Copy(values, some)
	}
	return values
}
