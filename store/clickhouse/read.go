package clickhouse

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waybill-int/waybill/store"
)

// maxAnswer bounds what the texts and lists of an answer take together, in bytes.
const maxAnswer = 64 << 20

// read takes up to limit rows.
func read(rows driver.Rows, limit int) (*store.Answer, error) {
	defer rows.Close()
	answer := &store.Answer{Columns: rows.Columns(), Rows: [][]any{}}
	types := rows.ColumnTypes()
	size := 0
	for rows.Next() {
		if len(answer.Rows) == limit {
			answer.More = true
			break
		}
		cells := make([]any, len(types))
		for i, t := range types {
			cells[i] = reflect.New(t.ScanType()).Interface()
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		for i := range cells {
			cells[i] = plain(reflect.ValueOf(cells[i]).Elem())
			size += store.SizeOf(cells[i])
		}
		if size > maxAnswer {
			return nil, fmt.Errorf("%w: its rows have more than %d MiB", store.ErrTooLarge, maxAnswer>>20)
		}
		answer.Rows = append(answer.Rows, cells)
	}
	if answer.More {
		return answer, nil
	}
	return answer, rows.Err()
}

// plain turns a value into one that JSON has a word for: nil, bool, a number, string, time.Time, or a list or an object
// of these. The list [NULL] stands for NULL, see RouteNodes.
func plain(v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		if n, ok := v.Interface().(*big.Int); ok {
			return json.Number(n.String())
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC()
	case big.Int:
		return json.Number(x.String())
	case float32:
		return plain(reflect.ValueOf(float64(x)))
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return x
	case fmt.Stringer: // a decimal, a UUID, an address
		return x.String()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		if len(list) == 1 && list[0] == nil {
			return nil
		}
		return list
	case reflect.Map:
		object := make(map[string]any, v.Len())
		for key, value := range v.Seq2() {
			object[fmt.Sprint(key)] = plain(value)
		}
		return object
	}
	return v.Interface()
}
