package api

import (
	"encoding"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// Filters of lists of which the store has nothing: their fields are the fields of the items.
var (
	clockTable    = tableOf[telemetry.Clock]("clocks")
	lossTable     = tableOf[telemetry.Loss]("loss")
	portTable     = tableOf[Port]("ports")
	listenerTable = tableOf[Listener]("listeners")
	ruleTable     = tableOf[alert.RuleStatus]("rules")
	outputTable   = tableOf[alert.OutputStatus]("outputs")
	silenceTable  = tableOf[alert.Silence]("silences")
)

// tableOf returns the table of a type of items. The fields have the names of columnsOf, durations without _ns too. Lists are no
// fields; of numbers by name there is the sum.
func tableOf[T any](name string) *filter.Table[T] {
	var fields []filter.Field
	values := map[string]filter.ValueOf[T]{}
	for _, c := range columnsOf(reflect.TypeFor[T]()) {
		kind, value := fieldOf(&c)
		if value == nil {
			continue
		}
		f := filter.Field{Name: c.name, Kind: kind}
		if kind == filter.Duration {
			f.Name, f.Aliases = strings.TrimSuffix(c.name, "_ns"), []string{c.name}
		}
		fields = append(fields, f)
		values[f.Name] = func(item *T, _ int) (filter.Value, bool) {
			v := c.of(item)
			if v.Kind() == reflect.Pointer {
				return filter.Value{}, false // nil
			}
			return value(v)
		}
	}
	return filter.NewTable(mustSchema(name, fields...), values)
}

// fieldOf returns the kind that a column has in filters, and how its values are made; nil if it has none.
func fieldOf(c *column) (filter.Kind, func(reflect.Value) (filter.Value, bool)) {
	number := func(v reflect.Value) (filter.Value, bool) {
		if v.CanInt() {
			return filter.FromUint(uint64(v.Int())), v.Int() >= 0
		}
		return filter.FromUint(v.Uint()), true
	}
	last := c.name[strings.LastIndex(c.name, ".")+1:]
	switch c.kind {
	case timeType:
		return filter.Time, func(v reflect.Value) (filter.Value, bool) {
			at, _ := timeOf(v)
			if at.After(latestTime) { // a silence may be for ever
				at = latestTime
			}
			return filter.FromTime(at), !at.IsZero()
		}
	case addressType:
		return filter.Address, func(v reflect.Value) (filter.Value, bool) {
			a := v.Interface().(netip.Addr)
			return filter.FromAddr(telemetry.AddrFrom(a)), a.IsValid()
		}
	}
	if c.kind.Implements(textType) {
		return filter.Text, func(v reflect.Value) (filter.Value, bool) {
			text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
			return filter.FromText(string(text)), err == nil && len(text) > 0
		}
	}
	switch c.kind.Kind() {
	case reflect.Bool:
		return filter.Bool, func(v reflect.Value) (filter.Value, bool) { return filter.FromBool(v.Bool()), true }
	case reflect.String:
		return filter.Text, func(v reflect.Value) (filter.Value, bool) { return filter.FromText(v.String()), v.Len() > 0 }
	case reflect.Float64:
		return filter.Float, func(v reflect.Value) (filter.Value, bool) { return filter.FromFloat(v.Float()), true }
	case reflect.Map:
		counts, ok := reflect.Zero(c.kind).Interface().(map[string]uint64)
		if !ok || counts != nil {
			return 0, nil
		}
		return filter.Uint, func(v reflect.Value) (filter.Value, bool) {
			var sum uint64
			for _, n := range v.Interface().(map[string]uint64) {
				sum += n
			}
			return filter.FromUint(sum), true
		}
	case reflect.Int64:
		if strings.HasSuffix(last, "_ns") {
			return filter.Duration, func(v reflect.Value) (filter.Value, bool) {
				return filter.FromDuration(time.Duration(v.Int())), true
			}
		}
	case reflect.Uint32:
		if last == "node" || last == "to_node" || last == "reference" {
			return filter.Node, number
		}
	}
	switch {
	case !reflect.Zero(c.kind).CanInt() && !reflect.Zero(c.kind).CanUint():
		return 0, nil
	case strings.HasPrefix(last, "receive_buffer"):
		return filter.Size, number
	}
	return filter.Uint, number
}

// latestTime is the last that filters know.
var latestTime = time.Unix(0, math.MaxInt64)

var addressType = reflect.TypeFor[netip.Addr]()

// timeOf returns the time that a field has, if it is one.
func timeOf(v reflect.Value) (time.Time, bool) {
	t, ok := v.Interface().(time.Time)
	return t, ok
}
