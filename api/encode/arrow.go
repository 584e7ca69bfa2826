package encode

import (
	"io"
	"reflect"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowBatch is how many rows are in a batch of a stream.
const arrowBatch = 8192

// arrowTypes are the types of columns.
var arrowTypes = map[reflect.Kind]arrow.DataType{
	reflect.String: arrow.BinaryTypes.String, reflect.Bool: arrow.FixedWidthTypes.Boolean,
	reflect.Int64:  arrow.PrimitiveTypes.Int64,
	reflect.Uint64: arrow.PrimitiveTypes.Uint64, reflect.Float64: arrow.PrimitiveTypes.Float64,
	reflect.Struct: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"},
}

// writeArrow writes a stream of record batches (the IPC streaming format of Apache Arrow), whose columns may be null.
func writeArrow(to io.Writer, r *Rows) (err error) {
	fields := make([]arrow.Field, len(r.columns))
	for i, c := range r.columns {
		fields[i] = arrow.Field{Name: c.name, Type: arrowTypes[c.kind.Kind()], Nullable: true}
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
	for row, err := range r.cells() {
		if err != nil {
			return err
		}
		for i, cell := range row {
			appendArrow(batch.Field(i), cell)
		}
		if n++; n%arrowBatch == 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// appendArrow adds a cell to a column of its type.
func appendArrow(b array.Builder, cell any) {
	switch v := cell.(type) {
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
