package duckdb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What DuckDB has types for that JSON has not is as DuckDB itself writes it.
func TestSQLTypes(t *testing.T) {
	s := open(t, func(*Config) {})
	for _, value := range []string{
		"INTERVAL 1 DAY", "INTERVAL 14 MONTH", "INTERVAL 90 MINUTE", "INTERVAL 1500 MILLISECOND",
		"INTERVAL 1 DAY + INTERVAL 1 SECOND", "INTERVAL 0 DAY",
		"CAST(1.50 AS DECIMAL(9,2))", "CAST(-0.05 AS DECIMAL(9,2))", "CAST(12345678901234567890.123 AS DECIMAL(38,3))",
		"INTERVAL (-3) DAY",
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

// TableNames are the tables that DuckDB says there are.
func TestTableNames(t *testing.T) {
	s := open(t, func(*Config) {})
	a, err := s.SQL(t.Context(),
		"SELECT table_name FROM information_schema.columns WHERE table_catalog = 'memory' AND table_schema = 'main' AND column_name = 'start' ORDER BY 1", 1000)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, row := range a.Rows {
		want = append(want, row[0].(string))
	}
	got := TableNames()
	slices.Sort(got)
	if len(got) < 20 || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
