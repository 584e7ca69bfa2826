package api

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// writeParquet writes a file of optional columns, in the order of their names as the groups of Parquet are.
func writeParquet(g grid, to io.Writer) error {
	order := make([]int, len(g.columns)) // of the columns in the file
	group := parquet.Group{}
	for i := range g.columns {
		order[i] = i
		group[g.columns[i].name] = parquet.Optional(g.columns[i].parquet())
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(g.columns[a].name, g.columns[b].name) })
	w := parquet.NewWriter(to, parquet.NewSchema(g.name, group), parquet.Compression(&parquet.Snappy))
	out := make(parquet.Row, len(order))
	for row, err := range g.rows {
		if err != nil {
			return err
		}
		for at, i := range order {
			level := 1
			if row[i].value == nil {
				level = 0
			}
			out[at] = row[i].parquet().Level(0, level, at)
		}
		if _, err := w.WriteRows([]parquet.Row{out}); err != nil {
			return err
		}
	}
	return w.Close()
}

// parquet is the type of a column.
func (c *column) parquet() parquet.Node {
	if c.kind == timeType {
		return parquet.Timestamp(parquet.Nanosecond)
	}
	if c.kind.Implements(textType) {
		return parquet.String()
	}
	switch c.kind.Kind() {
	case reflect.Bool:
		return parquet.Leaf(parquet.BooleanType)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return parquet.Int(64)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return parquet.Uint(64)
	case reflect.Float64:
		return parquet.Leaf(parquet.DoubleType)
	}
	return parquet.String()
}

func (c cell) parquet() parquet.Value {
	switch v := c.value.(type) {
	case nil:
		return parquet.NullValue()
	case uint64:
		return parquet.Int64Value(int64(v)) // the type of the column says that it has no sign
	case time.Time:
		return parquet.Int64Value(v.UnixNano())
	}
	return parquet.ValueOf(c.value)
}
