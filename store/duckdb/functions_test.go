package duckdb

import (
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/store"
)

// TestFunctions: what statements say of addresses, in the process of statements and in this one.
func TestFunctions(t *testing.T) {
	s := open(t, func(c *Config) { c.Names = map[uint32]string{7: "leaf'7"} })
	for _, c := range []struct {
		text string
		want any
	}{
		{"address(0, 281470849515521)", "10.0.0.1"},
		{"address(2306139568115548160, 1)", "2001:db8::1"},
		{"address(NULL, 1)", nil},
		{"in_prefix(0, 281470849515521, '10.0.0.0/24')", true},
		{"in_prefix(0, 281470849515521, '10.0.0.0/32')", false},
		{"in_prefix(0, 281470849515521, '10.0.0.1')", true},
		{"in_prefix(0, 281470849515521, '::/0')", false},
		{"in_prefix(2306139568115548160, 1, '2001:db8::/32')", true},
		{"in_prefix(2306139568115548160, 1, NULL)", nil},
		{"name FROM node_names WHERE node = 7", "leaf'7"},
	} {
		for name, ask := range map[string]func() (*store.Answer, error){
			"SQL":    func() (*store.Answer, error) { return s.SQL(t.Context(), "SELECT "+c.text, 1) },
			"Select": func() (*store.Answer, error) { return s.Select(t.Context(), "SELECT "+c.text, 1) },
		} {
			a, err := ask()
			if err != nil || !reflect.DeepEqual(a.Rows[0][0], c.want) {
				t.Errorf("%s: %s: %v, %v, want %v", name, c.text, a, err, c.want)
			}
		}
	}
	if _, err := s.SQL(t.Context(), "SELECT in_prefix(0, 1, 'x')", 1); err == nil {
		t.Error("x is a prefix")
	}
}
