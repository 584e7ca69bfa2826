package duckdb

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What DuckDB has types for that JSON has not is as DuckDB itself writes it.
func TestSQLTypes(t *testing.T) {
	s := open(t, func(*Config) {})
	for _, value := range []string{
		"INTERVAL 1 DAY", "INTERVAL 14 MONTH", "INTERVAL 90 MINUTE", "INTERVAL 1500 MILLISECOND", "INTERVAL 1 DAY + INTERVAL 1 SECOND", "INTERVAL 0 DAY",
		"CAST(1.50 AS DECIMAL(9,2))", "CAST(-0.05 AS DECIMAL(9,2))", "CAST(12345678901234567890.123 AS DECIMAL(38,3))", "INTERVAL (-3) DAY",
	} {
		a, err := s.SQL(t.Context(), "SELECT "+value+", CAST("+value+" AS VARCHAR)", 1)
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		want := a.Rows[0][1].(string)
		if strings.Contains(value, "DECIMAL") { // a number needs no zeros at its end
			want = strings.TrimRight(want, "0")
		}
		if got := fmt.Sprint(a.Rows[0][0]); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
		if _, err := json.Marshal(a.Rows); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}
