package api

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// writeParquet writes the items as a Parquet file of optional columns. Its groups have their fields in the order of their
// names.
func writeParquet(a *answer, to io.Writer, _ time.Time) error {
	columns := columnsOf(a.kind)
	slices.SortFunc(columns, func(a, b column) int { return strings.Compare(a.name, b.name) })
	group := parquet.Group{}
	for i := range columns {
		group[columns[i].name] = parquet.Optional(columns[i].parquet())
	}
	w := parquet.NewWriter(to, parquet.NewSchema(a.name, group), parquet.Compression(&parquet.Snappy))
	row := make(parquet.Row, len(columns))
	for i := range a.count {
		cells, err := cellsOf(columns, a.item(i))
		if err != nil {
			return err
		}
		for j, c := range cells {
			v := c.parquet()
			level := 1
			if v.IsNull() {
				level = 0
			}
			row[j] = v.Level(0, level, j)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
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
