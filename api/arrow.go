package api

import (
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowBatch is how many rows are in a batch of a stream.
const arrowBatch = 8192

// writeArrow writes a stream of record batches (the IPC streaming format of Apache Arrow), whose columns may be null.
func writeArrow(g grid, to io.Writer) (err error) {
	fields := make([]arrow.Field, len(g.columns))
	for i, c := range g.columns {
		fields[i] = arrow.Field{Name: c.name, Type: arrowTypes[c.class()], Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	w := ipc.NewWriter(to, ipc.WithSchema(schema))
	defer func() {
		if closed := w.Close(); err == nil {
			err = closed
		}
	}()
	batch := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer batch.Release()
	flush := func() error {
		record := batch.NewRecordBatch() // which also empties it
		defer record.Release()
		return w.Write(record)
	}
	n := 0
	for row, err := range g.rows {
		if err != nil {
			return err
		}
		for i, c := range row {
			c.appendTo(batch.Field(i))
		}
		if n++; n%arrowBatch == 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// arrowTypes are the types of columns.
var arrowTypes = [...]arrow.DataType{
	textClass: arrow.BinaryTypes.String, boolClass: arrow.FixedWidthTypes.Boolean, signedClass: arrow.PrimitiveTypes.Int64,
	unsignedClass: arrow.PrimitiveTypes.Uint64, floatClass: arrow.PrimitiveTypes.Float64,
	timeClass: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"},
}

// appendTo adds a cell to a column of its type.
func (c cell) appendTo(b array.Builder) {
	switch v := c.value.(type) {
	case bool:
		b.(*array.BooleanBuilder).Append(v)
	case int64:
		b.(*array.Int64Builder).Append(v)
	case uint64:
		b.(*array.Uint64Builder).Append(v)
	case float64:
		b.(*array.Float64Builder).Append(v)
	case string:
		b.(*array.StringBuilder).Append(v)
	case time.Time:
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(v.UnixNano()))
	default:
		b.AppendNull()
	}
}
