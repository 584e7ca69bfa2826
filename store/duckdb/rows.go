package duckdb

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// A rowsOf says which columns a table has of a type of records, and makes rows of them. Both follow from the tags of
// the type, see package catalogue. To add a type of fields: its case in part, with its columns and what is added for
// them.
type rowsOf[R any] struct {
	columns []column
	startNs func(*R) int64
	parts   []func(a *appender, r *R)
}

// newRows returns the rows of a type. values are of columns that do not have the value of their field: nil is NULL. It
// panics on fields that cannot be stored, before anything can depend on them.
func newRows[R any](startNs func(*R) int64, values map[string]func(*R) any) *rowsOf[R] {
	rows := &rowsOf[R]{columns: []column{start}, startNs: startNs}
	for _, c := range catalogue.Columns(reflect.TypeFor[R]()) {
		columns, add := part[R](&c, values[c.Column])
		for i := range columns {
			columns[i].finest, columns[i].minute = columns[i].finest || c.Finest, columns[i].minute || c.Minute
		}
		rows.columns, rows.parts = append(rows.columns, columns...), append(rows.parts, add)
	}
	return rows
}

// add puts a row together.
func (rows *rowsOf[R]) add(a *appender, r *R) {
	a.time(rows.startNs(r))
	rows.addRest(a, r)
}

// addRest adds what stands behind the start.
func (rows *rowsOf[R]) addRest(a *appender, r *R) {
	for _, add := range rows.parts {
		add(a, r)
	}
}

// part returns the columns of a field, and what adds their values.
func part[R any](c *catalogue.Column, value func(*R) any) ([]column, func(*appender, *R)) {
	switch c.Type {
	case reflect.TypeFor[telemetry.FlowKey]():
		columns, get := slices.Clone(endpoints), catalogue.Pointer[R, telemetry.FlowKey](&c.Field)
		if c.Column == "" {
			return columns, func(a *appender, r *R) { a.flowKey(get(r)) }
		}
		return append([]column{{name: c.Column, kind: "UBIGINT", finest: true}}, columns...), func(a *appender, r *R) {
			k := get(r)
			a.add(k.Hash())
			a.flowKey(k)
		}
	case reflect.TypeFor[telemetry.Endpoints]():
		get := catalogue.Pointer[R, telemetry.Endpoints](&c.Field)
		return slices.Clone(endpoints), func(a *appender, r *R) { a.endpoints(get(r)) }
	case reflect.TypeFor[telemetry.Addr]():
		get := catalogue.Pointer[R, telemetry.Addr](&c.Field)
		return halves(c.Column), func(a *appender, r *R) { a.address(get(r)) }
	case reflect.TypeFor[netip.Addr]():
		get := catalogue.Pointer[R, netip.Addr](&c.Field)
		return halves(c.Column), func(a *appender, r *R) {
			addr := telemetry.AddrFrom(*get(r))
			a.address(&addr)
		}
	case reflect.TypeFor[telemetry.Moments]():
		get := catalogue.Pointer[R, telemetry.Moments](&c.Field)
		if !c.Quantiles {
			return moments(c.Column), func(a *appender, r *R) { a.moments(get(r)) }
		}
		p50, p99 := column{name: c.Column + "_p50", kind: "BIGINT", role: high},
			column{name: c.Column + "_p99", kind: "BIGINT", role: high}
		return append(moments(c.Column), p50, p99), func(a *appender, r *R) {
			m := get(r)
			a.moments(m)
			a.known(m.Count > 0, int64(m.P50))
			a.known(m.Count > 0, int64(m.P99))
		}
	case reflect.TypeFor[telemetry.Histogram]():
		get := catalogue.Pointer[R, telemetry.Histogram](&c.Field)
		return histogram(c.Column), func(a *appender, r *R) { a.histogram(get(r)) }
	case reflect.TypeFor[telemetry.Place]():
		return placePart[R](c)
	}
	return scalar(c, value)
}

// halves are the columns of an address.
func halves(name string) []column {
	return []column{{name: name + "_hi", kind: "UBIGINT"}, {name: name + "_lo", kind: "UBIGINT"}}
}

// placeColumns are what can be stored of a telemetry.Place.
var placeColumns = map[string]struct {
	kind string
	add  func(a *appender, p *telemetry.Place)
}{
	"node": {
		"UINTEGER",
		func(a *appender, p *telemetry.Place) { a.known(p.Has&telemetry.HasNode != 0, p.Node) },
	},
	"ingress_port": {
		"UINTEGER",
		func(a *appender, p *telemetry.Place) { a.known(p.Has&telemetry.HasIngressPort != 0, p.IngressPort) },
	},
	"egress_port": {
		"UINTEGER",
		func(a *appender, p *telemetry.Place) { a.known(p.Has&telemetry.HasEgressPort != 0, p.EgressPort) },
	},
	"dropped": {"BOOLEAN", func(a *appender, p *telemetry.Place) { a.add(p.Has&telemetry.HasDrop != 0) }},
}

func placePart[R any](c *catalogue.Column) (columns []column, add func(*appender, *R)) {
	get := catalogue.Pointer[R, telemetry.Place](&c.Field)
	var adds []func(*appender, *telemetry.Place)
	for text := range strings.SplitSeq(c.Column, "+") {
		of, name, renamed := strings.Cut(text, "=")
		if !renamed {
			name = of
		}
		p, ok := placeColumns[of]
		if !ok {
			panic(fmt.Sprintf("store/duckdb: a place has no %s", of))
		}
		columns, adds = append(columns, column{name: name, kind: p.kind}), append(adds, p.add)
	}
	return columns, func(a *appender, r *R) {
		p := get(r)
		for _, add := range adds {
			add(a, p)
		}
	}
}

// roles by what the tag says.
var roles = map[string]role{"": key, "sum": sum, "low": low, "high": high}

// reserved are names of columns that SQL has a meaning for.
var reserved = map[string]string{"end": `"end"`}

// scalar is part for a field that has one column.
func scalar[R any](c *catalogue.Column, value func(*R) any) ([]column, func(*appender, *R)) {
	kind, add := plainPart[R](c)
	if c.Text {
		kind = "VARCHAR"
	}
	if kind == "" || c.Text && value == nil {
		panic(fmt.Sprintf("store/duckdb: no column for %s, a %v", c.Name, c.Type))
	}
	if value != nil {
		add = func(a *appender, r *R) { a.add(value(r)) }
	}
	name := c.Column
	if quoted, ok := reserved[name]; ok {
		name = quoted
	}
	return []column{{name: name, kind: kind, role: roles[c.Role]}}, add
}

// plainPart returns the type of the column of a field in SQL, and what adds its value; "" if there is none.
func plainPart[R any](c *catalogue.Column) (kind string, add func(*appender, *R)) {
	if c.Type == reflect.TypeFor[time.Time]() {
		return "TIMESTAMP_NS",
			adder(catalogue.Pointer[R, time.Time](&c.Field), func(t time.Time) time.Time { return t.UTC() })
	}
	switch c.Type.Kind() {
	case reflect.Bool:
		return "BOOLEAN", adder(catalogue.Pointer[R, bool](&c.Field), same)
	case reflect.String:
		return "VARCHAR", adder(catalogue.Pointer[R, string](&c.Field), same)
	case reflect.Float64:
		return "DOUBLE", adder(catalogue.Pointer[R, float64](&c.Field), same)
	case reflect.Uint8:
		return "UTINYINT", adder(catalogue.Pointer[R, uint8](&c.Field), same)
	case reflect.Uint32:
		return "UINTEGER", adder(catalogue.Pointer[R, uint32](&c.Field), same)
	case reflect.Int:
		return "UINTEGER", adder(catalogue.Pointer[R, int](&c.Field), func(n int) uint32 { return uint32(n) })
	case reflect.Int64:
		return "BIGINT", adder(catalogue.Pointer[R, int64](&c.Field), same)
	case reflect.Uint64:
		if strings.HasSuffix(c.Name, "Ns") { // durations have a sign in SQL
			return "BIGINT", adder(catalogue.Pointer[R, uint64](&c.Field), func(n uint64) int64 { return int64(n) })
		}
		return "UBIGINT", adder(catalogue.Pointer[R, uint64](&c.Field), same)
	}
	return "", nil
}

func same[V any](v V) V { return v }

// adder adds what get finds, or NULL.
func adder[R, V, W any](get func(*R) *V, as func(V) W) func(*appender, *R) {
	return func(a *appender, r *R) {
		if v := get(r); v != nil {
			a.add(as(*v))
		} else {
			a.add(nil)
		}
	}
}
