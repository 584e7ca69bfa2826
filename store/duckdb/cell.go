package duckdb

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"time"
)

// plain turns a value of DuckDB into one that JSON has a word for: nil, bool, a number, string, time.Time or a list of these.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, time.Time, int8, int16, int32, int64, uint8, uint16, uint32, uint64, *big.Int:
		return v
	case float32:
		return plain(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	case []byte:
		return hex.EncodeToString(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for k := range v {
			object[k] = plain(v[k])
		}
		return object
	}
	return fmt.Sprint(v)
}
