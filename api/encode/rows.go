package encode

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"iter"
	"math/big"
	"reflect"
	"time"

	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// Rows are what is written. A cell is nil, a bool, int64, uint64, float64, string or time.Time.
type Rows struct {
	name    string
	columns []column
	count   int
	item    func(i int) any // as JSON has it
	row     func(i int, to []any) error
}

// A column has a name, and cells of one type or nil.
type column struct {
	name string
	kind reflect.Type
}

// Len returns how many there are.
func (r *Rows) Len() int { return r.count }

// Item returns what JSON has of the i-th of them.
func (r *Rows) Item(i int) any { return r.item(i) }

// Columns returns the columns of a type of items: its fields, those of objects in it with a dot in their names, as the
// catalogue has them.
func Columns(item reflect.Type) []catalogue.Field {
	var fields []catalogue.Field
	for _, f := range catalogue.Of(item) {
		if f.Name != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// Items are items of a list of this name, to which item returns pointers.
func Items(name string, of reflect.Type, count int, item func(i int) any) *Rows {
	fields := Columns(of)
	columns := make([]column, len(fields))
	for i, f := range fields {
		columns[i] = column{f.Name, cellType(f.Type)}
	}
	return &Rows{name, columns, count, item, func(i int, to []any) (err error) {
		v := item(i)
		for j := range fields {
			if to[j], err = cellOf(fields[j].Value(v)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Table are rows of a statement. The type of a column is that of its cells, or text if they have several.
func Table(names []string, rows [][]any) (*Rows, error) {
	text := reflect.TypeFor[string]()
	cells := make([][]any, len(rows))
	columns := make([]column, len(names)) // each name once: see duckdb.Store.SQL
	for i, row := range rows {
		cells[i] = make([]any, len(row))
		for j, v := range row {
			var err error
			if cells[i][j], err = tableCell(v); err != nil {
				return nil, err
			}
			if kind := reflect.TypeOf(cells[i][j]); kind != nil && columns[j].kind == nil {
				columns[j].kind = kind
			} else if kind != nil && kind != columns[j].kind {
				columns[j].kind = text
			}
		}
	}
	for j, name := range names {
		columns[j].name = name
		if columns[j].kind == nil {
			columns[j].kind = text
		}
	}
	return &Rows{
		"query", columns, len(rows), func(i int) any { return object{names, rows[i]} },
		func(i int, to []any) error {
			copy(to, cells[i])
			return nil
		},
	}, nil
}

// cells returns the rows; each is good until the next.
func (r *Rows) cells() iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		row := make([]any, len(r.columns))
		for i := range r.count {
			err := r.row(i, row)
			for j, c := range r.columns {
				if row[j] != nil && c.kind.Kind() == reflect.String {
					row[j] = text(row[j])
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// An object is a row in JSON, with its columns in their order.
type object struct {
	names []string
	row   []any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, v := range o.row {
		name, err := json.Marshal(o.names[i])
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%c%s:%s", "{,"[min(i, 1)], name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

var (
	timeType = reflect.TypeFor[time.Time]()
	textType = reflect.TypeFor[encoding.TextMarshaler]()
)

// cellType is the type of the cells that cellOf makes of a type.
func cellType(of reflect.Type) reflect.Type {
	if of == timeType {
		return of
	}
	if !of.Implements(textType) {
		switch k := of.Kind(); {
		case k == reflect.Bool:
			return reflect.TypeFor[bool]()
		case k >= reflect.Int && k <= reflect.Int64:
			return reflect.TypeFor[int64]()
		case k >= reflect.Uint && k <= reflect.Uint64:
			return reflect.TypeFor[uint64]()
		case k == reflect.Float64:
			return reflect.TypeFor[float64]()
		}
	}
	return reflect.TypeFor[string]()
}

// cellOf returns a value as a cell; what is not valid is not known.
func cellOf(v reflect.Value) (any, error) {
	if !v.IsValid() {
		return nil, nil
	}
	switch kind := cellType(v.Type()); {
	case kind == timeType:
		return v.Interface(), nil
	case kind.Kind() != reflect.String || v.Kind() == reflect.String && !v.Type().Implements(textType):
		return v.Convert(kind).Interface(), nil
	case v.Type().Implements(textType):
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		return string(text), err
	}
	text, err := json.Marshal(v.Interface())
	return string(text), err
}

// tableCell returns a value that a store answered as a cell.
func tableCell(v any) (any, error) {
	n, ok := v.(*big.Int) // sums are of 128 bits
	switch {
	case !ok:
		return cellOf(reflect.ValueOf(v))
	case n.IsInt64():
		return n.Int64(), nil
	case n.IsUint64():
		return n.Uint64(), nil
	}
	return n.String(), nil
}
