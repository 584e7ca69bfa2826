package filter

import "fmt"

// A Table tells the values that items of type T have in the fields of a schema.
type Table[T any] struct {
	schema *Schema
	values []ValueOf[T] // by Field.Index
}

// A ValueOf returns the i-th value of a field, and whether there is one; see Row.
type ValueOf[T any] func(item *T, i int) (Value, bool)

// NewTable returns a table of the values of fields by their names. It panics unless these are the fields of s that do
// not stand for others: before anything can depend on it.
func NewTable[T any](s *Schema, values map[string]ValueOf[T]) *Table[T] {
	t := &Table[T]{schema: s, values: make([]ValueOf[T], len(s.fields))}
	known := 0
	for _, f := range s.fields {
		if len(f.Any) > 0 {
			continue
		}
		known++
		if t.values[f.index] = values[f.Name]; t.values[f.index] == nil {
			panic(fmt.Sprintf("filter: %s: nothing tells the value of %s", s.name, f.Name))
		}
	}
	if known != len(values) {
		panic(fmt.Sprintf("filter: %s: %d values of %d fields", s.name, len(values), known))
	}
	return t
}

// Schema returns the schema of the table, without the names of nodes.
func (t *Table[T]) Schema() *Schema { return t.schema }

// Row returns an item as a Row of the schema. It keeps the pointer.
func (t *Table[T]) Row(item *T) Row { return tableRow[T]{t, item} }

type tableRow[T any] struct {
	table *Table[T]
	item  *T
}

// Value implements Row.
func (r tableRow[T]) Value(field, i int) (Value, bool) { return r.table.values[field](r.item, i) }
