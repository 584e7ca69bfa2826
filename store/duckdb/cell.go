package duckdb

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// plain turns a value of DuckDB into one that JSON has a word for: nil, bool, a number, string, time.Time or a list of
// these.
func plain(v any) any {
	switch v := v.(type) {
	case time.Time:
		if year := v.UTC().Year(); year < 0 || year > 9999 { // RFC 3339 has no word for it
			return "out of range"
		}
		return v
	case nil, bool, string, int8, int16, int32, int64, uint8, uint16, uint32, uint64, *big.Int:
		return v
	case float32:
		return plain(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	case duckdb.Decimal:
		return json.Number(v.String()) // exact
	case duckdb.Interval:
		return intervalText(v)
	case []byte:
		return hex.EncodeToString(v)
	case duckdb.Union:
		return plain(v.Value)
	case duckdb.OrderedMap:
		object := make(map[string]any, v.Len())
		values := v.Values()
		for i, key := range v.Keys() {
			object[fmt.Sprint(plain(key))] = plain(values[i])
		}
		return object
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

// ofKind is a plain value of a column of a type that Go has no own for, as DuckDB writes it.
func ofKind(kind string, v any) any {
	switch v := v.(type) {
	case time.Time:
		if strings.HasPrefix(kind, "TIME") && !strings.HasPrefix(kind, "TIMESTAMP") {
			return v.Format("15:04:05.999999")
		}
	case string:
		if kind == "UUID" && len(v) == 32 {
			return v[:8] + "-" + v[8:12] + "-" + v[12:16] + "-" + v[16:20] + "-" + v[20:]
		}
	}
	return v
}

// intervalText is an interval as DuckDB writes it: 1 year 2 months 3 days 04:05:06.000007.
func intervalText(v duckdb.Interval) string {
	var parts []string
	add := func(n int32, unit string) {
		if n == 1 || n == -1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, unit))
		} else if n != 0 {
			parts = append(parts, fmt.Sprintf("%d %ss", n, unit))
		}
	}
	add(v.Months/12, "year")
	add(v.Months%12, "month")
	add(v.Days, "day")
	if v.Micros == 0 && len(parts) > 0 {
		return strings.Join(parts, " ")
	}
	sign, micros := "", uint64(v.Micros)
	if v.Micros < 0 {
		sign, micros = "-", -micros
	}
	seconds := micros / 1e6
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
	if fraction := micros % 1e6; fraction > 0 {
		text += strings.TrimRight(fmt.Sprintf(".%06d", fraction), "0")
	}
	return strings.Join(append(parts, text), " ")
}
