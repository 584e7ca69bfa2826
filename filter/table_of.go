package filter

import (
	"encoding"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// A Computed is a field that is none of an item, but follows from its fields.
type Computed[T any] struct {
	Field
	Value ValueOf[T]
}

// TableOf returns the table of a list: what the catalogue says of its items, and what is computed from them. It panics
// if the fields contradict each other, before anything can depend on them.
func TableOf[T any](name string, more ...Computed[T]) *Table[T] {
	fields := fieldsOf(catalogue.Of(reflect.TypeFor[T]()))
	values := map[string]ValueOf[T]{}
	for _, c := range catalogue.Of(reflect.TypeFor[T]()) {
		if c.Filter.Name != "" && c.Filter.Any == nil {
			values[c.Filter.Name] = valueOf[T](&c)
		}
	}
	for _, m := range more {
		fields = append(fields, m.Field)
		if m.Any == nil {
			values[m.Name] = m.Value
		}
	}
	return NewTable(MustSchema(name, fields...), values)
}

// fieldsOf returns those of some fields that are in filters.
func fieldsOf(list []catalogue.Field) []Field {
	var fields []Field
	kinds := map[string]*catalogue.Field{}
	for i := range list {
		kinds[list[i].Filter.Name] = &list[i]
	}
	for i := range list {
		c := &list[i]
		if c.Filter.Name == "" {
			continue
		}
		of := c
		if len(c.Filter.Any) > 0 {
			if of = kinds[c.Filter.Any[0]]; of == nil {
				panic("filter: nothing is named " + c.Filter.Any[0])
			}
		}
		f := Field{
			Name: c.Filter.Name, Aliases: c.Filter.Aliases, Kind: Kind(of.Kind), Unit: c.Unit, Doc: c.Doc,
			Many: c.Filter.Many, Any: c.Filter.Any,
			Elsewhere: []string{c.Name}, NameOf: c.Filter.NameOf, Column: columns[c.Filter.Name], Live: c.Filter.Live,
		}
		if of.Choice != "" {
			f.Choices, f.Ordered = choices[of.Choice], of.Choice == "severity"
		}
		fields = append(fields, f)
	}
	return fields
}

// columns are those whose names are words of SQL.
var columns = map[string]string{"end": `"end"`, "count": `"count"`, "text": `"text"`}

// valueOf returns the values of a field.
func valueOf[T any](c *catalogue.Field) ValueOf[T] {
	switch c.Kind {
	case catalogue.Time:
		return known(catalogue.Pointer[T, time.Time](c), timeValue)
	case catalogue.Address:
		if c.Type.Kind() == reflect.String {
			return known(catalogue.Pointer[T, string](c), addressText)
		}
		return known(catalogue.Pointer[T, netip.Addr](c), addressValue)
	case catalogue.Bool:
		return known(catalogue.Pointer[T, bool](c), func(b *bool) (Value, bool) { return FromBool(*b), true })
	}
	switch c.Type.Kind() {
	case reflect.Slice:
		return elements[T](c)
	case reflect.Map:
		return known(catalogue.Pointer[T, map[string]uint64](c), sumValue)
	case reflect.String:
		if c.Kind == catalogue.Enum {
			return known(catalogue.Pointer[T, string](c), choiceValue(choices[c.Choice]))
		}
		return known(catalogue.Pointer[T, string](c), textValue)
	case reflect.Int:
		return numberOf[T, int](c)
	case reflect.Int64:
		return numberOf[T, int64](c)
	case reflect.Uint8:
		return numberOf[T, uint8](c)
	case reflect.Uint16:
		return numberOf[T, uint16](c)
	case reflect.Uint32:
		return numberOf[T, uint32](c)
	case reflect.Uint64:
		return numberOf[T, uint64](c)
	case reflect.Float64:
		return numberOf[T, float64](c)
	}
	if c.Kind == catalogue.Text {
		return func(item *T, _ int) (Value, bool) { return marshaled(c.Value(item)) }
	}
	panic(fmt.Sprintf("filter: %s is a %v", c.Name, c.Type))
}

// known returns the values of what get finds.
func known[T, V any](get func(*T) *V, value func(*V) (Value, bool)) ValueOf[T] {
	return func(item *T, _ int) (Value, bool) {
		p := get(item)
		if p == nil {
			return Value{}, false
		}
		return value(p)
	}
}

// numberOf returns the values of a number. One below 0 is none, but of durations and decimal numbers.
func numberOf[T any, N int | int64 | uint8 | uint16 | uint32 | uint64 | float64](c *catalogue.Field) ValueOf[T] {
	get := catalogue.Pointer[T, N](c)
	switch c.Kind {
	case catalogue.Duration:
		return known(get, func(n *N) (Value, bool) { return FromDuration(time.Duration(*n)), true })
	case catalogue.Float, catalogue.Ratio:
		return known(get, func(n *N) (Value, bool) { return FromFloat(float64(*n)), true })
	}
	return known(get, func(n *N) (Value, bool) { return FromUint(uint64(*n)), *n >= 0 })
}

// elements returns the values of a list.
func elements[T any](c *catalogue.Field) ValueOf[T] {
	if c.Type == reflect.TypeFor[[]uint32]() {
		return nth(catalogue.Pointer[T, []uint32](c),
			func(n *uint32) (Value, bool) { return FromUint(uint64(*n)), true })
	}
	return nth(catalogue.Pointer[T, []string](c), textValue)
}

// nth returns the values of the elements of a list. One that has none leaves no gap.
func nth[T, E any](list func(*T) *[]E, value func(*E) (Value, bool)) ValueOf[T] {
	return func(item *T, i int) (Value, bool) {
		found := list(item)
		if found == nil {
			return Value{}, false
		}
		for j := range *found {
			if v, ok := value(&(*found)[j]); ok {
				if i == 0 {
					return v, true
				}
				i--
			}
		}
		return Value{}, false
	}
}

func textValue(s *string) (Value, bool) { return FromText(*s), *s != "" }

// timeValue cuts times beyond those that filters know: what is for ever is after all others.
func timeValue(t *time.Time) (Value, bool) {
	if t.After(latestTime) {
		return FromTime(latestTime), true
	}
	return FromTime(*t), !t.IsZero()
}

var latestTime = time.Unix(0, math.MaxInt64)

func addressValue(a *netip.Addr) (Value, bool) {
	if !a.IsValid() {
		return Value{}, false
	}
	return FromAddr(telemetry.AddrFrom(*a)), true
}

func addressText(s *string) (Value, bool) {
	a, _ := netip.ParseAddr(*s) // without one it is empty
	return addressValue(&a)
}

func sumValue(counts *map[string]uint64) (Value, bool) {
	var sum uint64
	for _, n := range *counts {
		sum += n
	}
	return FromUint(sum), true
}

func marshaled(v reflect.Value) (Value, bool) {
	if !v.IsValid() {
		return Value{}, false
	}
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	return FromText(string(text)), err == nil && len(text) > 0
}

// choiceValue returns the numbers of choices by their names. What has no name is its number.
func choiceValue(list []Choice) func(*string) (Value, bool) {
	numbers := map[string]uint64{}
	for _, c := range list {
		numbers[c.Name] = c.Number
	}
	return func(name *string) (Value, bool) {
		n, ok := numbers[*name]
		if !ok && *name != "" {
			var err error
			n, err = strconv.ParseUint(*name, 10, 8)
			ok = err == nil
		}
		return FromUint(n), ok
	}
}
