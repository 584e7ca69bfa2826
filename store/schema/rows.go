package schema

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
	columns []Column
	startNs func(*R) int64
	parts   []func(a *Row, r *R)
}

// newRows returns the rows of a type. values are of columns that do not have the value of their field: nil is NULL. It
// panics on fields that cannot be stored, before anything can depend on them.
func newRows[R any](startNs func(*R) int64, values map[string]func(*R) any) *rowsOf[R] {
	rows := &rowsOf[R]{columns: []Column{Start}, startNs: startNs}
	for _, c := range catalogue.Columns(reflect.TypeFor[R]()) {
		columns, add := part[R](&c, values[c.Column])
		for i := range columns {
			columns[i].Finest, columns[i].Minute = columns[i].Finest || c.Finest, columns[i].Minute || c.Minute
		}
		rows.columns, rows.parts = append(rows.columns, columns...), append(rows.parts, add)
	}
	return rows
}

// add puts a row together.
func (rows *rowsOf[R]) add(a *Row, r *R) {
	a.time(rows.startNs(r))
	rows.addRest(a, r)
}

// addRest adds what stands behind the start.
func (rows *rowsOf[R]) addRest(a *Row, r *R) {
	for _, add := range rows.parts {
		add(a, r)
	}
}

// part returns the columns of a field, and what adds their values.
func part[R any](c *catalogue.Column, value func(*R) any) ([]Column, func(*Row, *R)) {
	switch c.Type {
	case reflect.TypeFor[telemetry.FlowKey]():
		columns, get := slices.Clone(endpoints), catalogue.Pointer[R, telemetry.FlowKey](&c.Field)
		if c.Column == "" {
			return columns, func(a *Row, r *R) { a.flowKey(get(r)) }
		}
		return append([]Column{{Name: c.Column, Kind: "UBIGINT", Finest: true}}, columns...), func(a *Row, r *R) {
			k := get(r)
			a.add(k.Hash())
			a.flowKey(k)
		}
	case reflect.TypeFor[telemetry.Endpoints]():
		get := catalogue.Pointer[R, telemetry.Endpoints](&c.Field)
		return slices.Clone(endpoints), func(a *Row, r *R) { a.endpoints(get(r)) }
	case reflect.TypeFor[telemetry.Addr]():
		get := catalogue.Pointer[R, telemetry.Addr](&c.Field)
		return halves(c.Column), func(a *Row, r *R) { a.address(get(r)) }
	case reflect.TypeFor[netip.Addr]():
		get := catalogue.Pointer[R, netip.Addr](&c.Field)
		return halves(c.Column), func(a *Row, r *R) {
			addr := telemetry.AddrFrom(*get(r))
			a.address(&addr)
		}
	case reflect.TypeFor[telemetry.LatencySummary]():
		get := catalogue.Pointer[R, telemetry.LatencySummary](&c.Field)
		if !c.Quantiles {
			return summaryColumns(c.Column), func(a *Row, r *R) { a.summary(get(r)) }
		}
		p50, p99 := Column{Name: c.Column + "_p50", Kind: "BIGINT", Role: High},
			Column{Name: c.Column + "_p99", Kind: "BIGINT", Role: High}
		return append(summaryColumns(c.Column), p50, p99), func(a *Row, r *R) {
			m := get(r)
			a.summary(m)
			a.known(m.Count > 0, int64(m.P50))
			a.known(m.Count > 0, int64(m.P99))
		}
	case reflect.TypeFor[telemetry.Histogram]():
		get := catalogue.Pointer[R, telemetry.Histogram](&c.Field)
		return Histogram(c.Column), func(a *Row, r *R) { a.histogram(get(r)) }
	case reflect.TypeFor[telemetry.Place]():
		return placePart[R](c)
	}
	return scalar(c, value)
}

// halves are the columns of an address.
func halves(name string) []Column {
	return []Column{{Name: name + "_hi", Kind: "UBIGINT"}, {Name: name + "_lo", Kind: "UBIGINT"}}
}

// placeColumns are what can be stored of a telemetry.Place.
var placeColumns = map[string]struct {
	kind string
	add  func(a *Row, p *telemetry.Place)
}{
	"node": {
		"UINTEGER",
		func(a *Row, p *telemetry.Place) { a.known(p.Has&telemetry.HasNode != 0, p.Node) },
	},
	"ingress_port": {
		"UINTEGER",
		func(a *Row, p *telemetry.Place) { a.known(p.Has&telemetry.HasIngressPort != 0, p.IngressPort) },
	},
	"egress_port": {
		"UINTEGER",
		func(a *Row, p *telemetry.Place) { a.known(p.Has&telemetry.HasEgressPort != 0, p.EgressPort) },
	},
	"dropped": {"BOOLEAN", func(a *Row, p *telemetry.Place) { a.add(p.Has&telemetry.HasDrop != 0) }},
}

func placePart[R any](c *catalogue.Column) (columns []Column, add func(*Row, *R)) {
	get := catalogue.Pointer[R, telemetry.Place](&c.Field)
	var adds []func(*Row, *telemetry.Place)
	for text := range strings.SplitSeq(c.Column, "+") {
		of, name, renamed := strings.Cut(text, "=")
		if !renamed {
			name = of
		}
		p, ok := placeColumns[of]
		if !ok {
			panic(fmt.Sprintf("store/schema: a place has no %s", of))
		}
		columns, adds = append(columns, Column{Name: name, Kind: p.kind}), append(adds, p.add)
	}
	return columns, func(a *Row, r *R) {
		p := get(r)
		for _, add := range adds {
			add(a, p)
		}
	}
}

// roles by what the tag says.
var roles = map[string]Role{"": Key, "sum": Sum, "low": Low, "high": High}

// reserved are names of columns that SQL has a meaning for.
var reserved = map[string]string{"end": `"end"`}

// scalar is part for a field that has one column.
func scalar[R any](c *catalogue.Column, value func(*R) any) ([]Column, func(*Row, *R)) {
	kind, add := plainPart[R](c)
	if c.Text {
		kind = "VARCHAR"
	}
	if kind == "" || c.Text && value == nil {
		panic(fmt.Sprintf("store/schema: no column for %s, a %v", c.Name, c.Type))
	}
	if value != nil {
		add = func(a *Row, r *R) { a.add(value(r)) }
	}
	name := c.Column
	if quoted, ok := reserved[name]; ok {
		name = quoted
	}
	return []Column{{Name: name, Kind: kind, Role: roles[c.Role]}}, add
}

// plainPart returns the type of the column of a field in SQL, and what adds its value; "" if there is none.
func plainPart[R any](c *catalogue.Column) (kind string, add func(*Row, *R)) {
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
func adder[R, V, W any](get func(*R) *V, as func(V) W) func(*Row, *R) {
	return func(a *Row, r *R) {
		if v := get(r); v != nil {
			a.add(as(*v))
		} else {
			a.add(nil)
		}
	}
}
