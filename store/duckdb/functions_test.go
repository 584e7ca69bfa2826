package duckdb

import (
	"math/rand/v2"
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
		{"in_prefix('10.0.0.1', '10.0.0.0/24')", true},
		{"in_prefix('::ffff:10.0.0.1', '10.0.0.1')", true},
		{"in_prefix('2001:db8::1', '10.0.0.0/24')", false},
		{"in_prefix(NULL, '10.0.0.0/24')", nil},
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

// TestAddressColumns: tables have addresses as text too, in both processes, and these are as they were written.
func TestAddressColumns(t *testing.T) {
	s := open(t, nil)
	write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch, 1, 5))
	const text = "SELECT src, dst FROM flows_10s WHERE in_prefix(src, '10.0.0.2/31') AND dst <> '10.1.0.9' ORDER BY src"
	want := [][]any{{"10.0.0.2", "10.1.0.2"}, {"10.0.0.3", "10.1.0.0"}}
	if got := sqlOf(t, s, text); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if a, err := s.SQL(t.Context(), text, 9); err != nil || !reflect.DeepEqual(a.Rows, want) {
		t.Errorf("got %v, %v, want %v", a, err, want)
	}
	if got := sqlOf(t, s, "SELECT outer_src FROM flows_1h"); len(got) > 0 {
		t.Errorf("got %v of an empty table", got)
	}
}
