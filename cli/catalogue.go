package cli

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// tableColumns returns the columns of tables: those that the catalogue has of the items, then those of the list alone.
func (q *question[L, T]) tableColumns() []tableColumn[T] {
	item := reflect.TypeFor[T]()
	all, shown := catalogue.Of(item), catalogue.TableOf(item)
	place := func(f *catalogue.Field) int {
		if i := slices.Index(q.lead, f.Name); i >= 0 {
			return i
		}
		return len(q.lead)
	}
	slices.SortStableFunc(shown, func(a, b *catalogue.Field) int { return cmp.Compare(place(a), place(b)) })
	var columns []tableColumn[T]
	for _, f := range shown {
		c := tableColumn[T]{title: f.Table.Title, wide: f.Table.Wide, right: f.Table.Right, cell: q.cells[f.Name]}
		if c.cell == nil {
			c.cell = cellOf[T](f, all)
		}
		if sortable(f) && (q.orders == nil || slices.Contains(q.orders, f.Name)) {
			c.order = f.Name
		}
		columns = append(columns, c)
	}
	return append(columns, q.columns...)
}

// sortable reports whether the values of a field have an order: lists have none, nor names that are looked up.
func sortable(f *catalogue.Field) bool {
	kind := f.Type.Kind()
	return !f.Named && kind != reflect.Slice && kind != reflect.Map && kind != reflect.Array
}

// orderNames returns what a list can be sorted by.
func orderNames[T any]() (names []string) {
	for _, f := range encode.Columns(reflect.TypeFor[T]()) {
		if sortable(&f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// cellOf shows a field of an item by its kind; all are its fields.
func cellOf[T any](f *catalogue.Field, all []catalogue.Field) func(v *view, item *T) Cell {
	beside := func(name string) *catalogue.Field {
		return &all[slices.IndexFunc(all, func(f catalogue.Field) bool { return f.Name == name })]
	}
	if f.Table.Named != "" {
		name := beside(f.Table.Named)
		return func(_ *view, item *T) Cell {
			if text := encode.Text(name.Value(item)); text != "" {
				return PlainCell(text)
			}
			otherwise := unknown
			if f.Kind == catalogue.Node {
				otherwise = "?"
			}
			return PlainCell(cmp.Or(encode.Text(f.Value(item)), otherwise))
		}
	}
	if of, found := strings.CutSuffix(f.Name, "kind"); found && strings.HasPrefix(of, "sample") {
		rate, complete := beside(of+"rate"), beside(of+"complete")
		return func(_ *view, item *T) Cell {
			return sampleCell(encode.Text(f.Value(item)), rate.Value(item), complete.Value(item))
		}
	}
	if of, last, found := cutLast(f.Name); found && (last == "p50" || last == "p99") {
		exact := beside(of + ".relative_error")
		return func(v *view, item *T) Cell {
			c := v.tagged(f, f.Value(item))
			if e := exact.Value(item); e.IsValid() && e.Float() > mostError {
				c.text = "~" + c.text
			}
			return c
		}
	}
	return func(v *view, item *T) Cell { return v.tagged(f, f.Value(item)) }
}

// sampleCell tells in few words which packets figures are of.
func sampleCell(kind string, rate, complete reflect.Value) Cell {
	words := map[string]string{
		"every_packet": "all", "one_in_n": "1 in " + encode.Text(rate), "on_event": "on event", "partial": "some",
		"unknown": "?",
	}
	c := PlainCell(cmp.Or(words[kind], unknown))
	if kind == "on_event" || kind == "partial" {
		c.color = yellow
	}
	if complete.IsValid() && complete.Float() < 0.9995 && kind != "one_in_n" {
		c.text += ", " + percentText(complete.Float())
	}
	return c
}

// cutLast cuts the last part of a name off.
func cutLast(name string) (of, last string, found bool) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:], i >= 0
}

// tagged shows a value of a field by its kind.
func (v *view) tagged(f *catalogue.Field, value reflect.Value) Cell {
	if !value.IsValid() {
		return PlainCell(unknown)
	}
	switch value.Kind() {
	case reflect.Slice:
		if value.Len() > 0 && value.Index(0).Kind() == reflect.Struct {
			return PlainCell(strconv.Itoa(value.Len()))
		}
		texts := make([]string, value.Len())
		for i := range texts {
			texts[i] = encode.Text(value.Index(i))
		}
		return PlainCell(cmp.Or(strings.Join(texts, " "), unknown))
	case reflect.Map:
		if counts, ok := value.Interface().(map[string]uint64); ok {
			return badCell(sumOf(counts))
		}
	case reflect.Bool:
		return PlainCell(yes(value.Bool()))
	}
	number := 0.0
	switch {
	case value.CanUint():
		number = float64(value.Uint())
	case value.CanInt():
		number = float64(value.Int())
	case value.CanFloat():
		number = value.Float()
	}
	severity, isSeverity := value.Interface().(client.Severity)
	at, isTime := value.Interface().(time.Time)
	switch {
	case isSeverity:
		return severityCell(severity)
	case isTime && at.IsZero():
		return PlainCell(unknown)
	case isTime:
		return v.age(at)
	case f.Kind == catalogue.Size:
		return PlainCell(size(uint64(number)))
	case f.Kind == catalogue.Duration:
		return PlainCell(v.duration(number))
	case f.Kind == catalogue.Ratio:
		return PlainCell(percentText(number))
	case f.Table.Bad:
		return badCell(uint64(number))
	case value.CanFloat():
		return PlainCell(strconv.FormatFloat(number, 'f', 1, 64))
	}
	return PlainCell(cmp.Or(encode.Text(value), unknown))
}

// rowsOf returns items as they are written where they do not come as CSV: of streams, and single ones.
func rowsOf[T any](name string, items []T) *encode.Rows {
	return encode.Items(name, reflect.TypeFor[T](), len(items), func(i int) any { return &items[i] })
}
