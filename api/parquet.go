package api

import (
	"io"
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
		group[g.columns[i].name] = parquet.Optional(parquetTypes[g.columns[i].class()])
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

// parquetTypes are the types of columns.
var parquetTypes = [...]parquet.Node{
	textClass: parquet.String(), boolClass: parquet.Leaf(parquet.BooleanType), signedClass: parquet.Int(64), unsignedClass: parquet.Uint(64),
	floatClass: parquet.Leaf(parquet.DoubleType), timeClass: parquet.Timestamp(parquet.Nanosecond),
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
