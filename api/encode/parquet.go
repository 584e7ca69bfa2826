package encode

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// parquetTypes are the types of columns.
var parquetTypes = map[reflect.Kind]parquet.Node{
	reflect.String: parquet.String(), reflect.Bool: parquet.Leaf(parquet.BooleanType), reflect.Int64: parquet.Int(64),
	reflect.Uint64: parquet.Uint(64), reflect.Float64: parquet.Leaf(parquet.DoubleType),
	reflect.Struct: parquet.Timestamp(parquet.Nanosecond),
}

// writeParquet writes a file of optional columns, in the order of their names as the groups of Parquet are.
func writeParquet(to io.Writer, r *Rows) error {
	order := make([]int, len(r.columns)) // of the columns in the file
	group := parquet.Group{}
	for i, c := range r.columns {
		order[i] = i
		group[c.name] = parquet.Optional(parquetTypes[c.kind.Kind()])
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(r.columns[a].name, r.columns[b].name) })
	w := parquet.NewWriter(to, parquet.NewSchema(r.name, group), parquet.Compression(&parquet.Snappy))
	out := make(parquet.Row, len(order))
	for row, err := range r.cells() {
		if err != nil {
			return err
		}
		for at, i := range order {
			level := 1
			if row[i] == nil {
				level = 0
			}
			out[at] = parquetValue(row[i]).Level(0, level, at)
		}
		if _, err := w.WriteRows([]parquet.Row{out}); err != nil {
			return err
		}
	}
	return w.Close()
}

func parquetValue(cell any) parquet.Value {
	switch v := cell.(type) {
	case nil:
		return parquet.NullValue()
	case uint64:
		return parquet.Int64Value(int64(v)) // the type of the column says that it has no sign
	case time.Time:
		return parquet.Int64Value(v.UnixNano())
	}
	return parquet.ValueOf(cell)
}
