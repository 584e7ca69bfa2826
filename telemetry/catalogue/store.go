package catalogue

import (
	"fmt"
	"reflect"
	"strings"
)

// A Column is a field that a store keeps. What columns a Go type has there the store says.
type Column struct {
	Field
	Column    string
	Role      string // sum, low, high; empty: rows are grouped by it
	Finest    bool   // only in intervals of the finest resolution
	Minute    bool   // in those of a minute too
	Text      bool   // the store has a text for it
	Quantiles bool   // of moments: with those
}

var storeOptions = map[string]bool{
	"sum": false, "low": false, "high": false, "finest": false, "minute": false, "text": false, "quantiles": false,
}

// Columns returns the fields of a type that have the tag store, in their order. It panics on tags that break the rules.
func Columns(item reflect.Type) []Column { return columnsIn(item, item, "", nil) }

func columnsIn(item, of reflect.Type, prefix string, path []step) (columns []Column) {
	for i := range of.NumField() {
		f := of.Field(i)
		tag, ok := f.Tag.Lookup("store")
		if !ok {
			continue
		}
		o, err := parse(tag, storeOptions)
		at, wrong := stepTo(of, &f)
		if err != nil || wrong != nil {
			panic(fmt.Sprintf("catalogue: %v: %v.%s: %v %v", item, of, f.Name, err, wrong))
		}
		kind := f.Type
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		to := append(path[:len(path):len(path)], at)
		if strings.HasSuffix(o.name, "_") {
			columns = append(columns, columnsIn(item, kind, prefix+o.name, to)...)
			continue
		}
		c := Column{
			Field:  Field{Name: f.Name, Type: kind, of: item, path: to},
			Column: prefix + o.name, Finest: o.set["finest"], Minute: o.set["minute"], Text: o.set["text"],
			Quantiles: o.set["quantiles"],
		}
		for _, role := range []string{"sum", "low", "high"} {
			if o.set[role] {
				c.Role = role
			}
		}
		columns = append(columns, c)
	}
	return columns
}
