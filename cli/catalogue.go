package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// addTagged adds the columns that the tag table of the fields of T declares (see package catalogue) to tables and CSV: in
// front of the times at which something was seen, where a list has them.
func (q *question[L, T]) addTagged() {
	var columns []tableColumn[T]
	var fields []csvField[T]
	for _, f := range catalogue.Of(reflect.TypeFor[T]()) {
		if f.Table.Title == "" {
			continue
		}
		columns = append(columns, tableColumn[T]{
			title: f.Table.Title, wide: f.Table.Wide, right: f.Table.Right,
			cell: func(v *view, item *T) Cell { return v.tagged(&f, f.Value(item)) },
		})
		fields = append(fields, csvField[T]{f.Name, func(item *T) string { return csvValue(f.Value(item)) }})
	}
	at := slices.IndexFunc(q.columns, func(c tableColumn[T]) bool { return c.title == "LAST SEEN" })
	q.columns = inserted(q.columns, at, columns)
	q.fields = inserted(q.fields, slices.IndexFunc(q.fields, func(f csvField[T]) bool { return f.name == "first" }), fields)
}

// inserted returns list with more at a place, below 0 at the end. It shares no memory with list.
func inserted[E any](list []E, at int, more []E) []E {
	if at < 0 {
		at = len(list)
	}
	return slices.Concat(list[:at], more, list[at:])
}

// tagged shows a value of a field by its kind.
func (v *view) tagged(f *catalogue.Field, value reflect.Value) Cell {
	if !value.IsValid() {
		return PlainCell(unknown)
	}
	switch {
	case f.Kind == catalogue.Time:
		return v.age(value.Interface().(time.Time))
	case f.Kind == catalogue.Size && value.CanUint():
		return PlainCell(size(value.Uint()))
	case f.Kind == catalogue.Duration && value.CanUint():
		return PlainCell(v.duration(float64(value.Uint())))
	case f.Kind == catalogue.Duration && value.CanInt():
		return PlainCell(v.duration(float64(value.Int())))
	case f.Kind == catalogue.Ratio:
		return PlainCell(percentText(value.Float()))
	}
	return PlainCell(csvValue(value))
}

// csvValue is a value in CSV.
func csvValue(v reflect.Value) string {
	switch {
	case !v.IsValid():
		return ""
	case v.CanFloat():
		return csvFloat(v.Float())
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	}
	if at, ok := v.Interface().(time.Time); ok {
		return csvTime(at)
	}
	return fmt.Sprint(v.Interface())
}
