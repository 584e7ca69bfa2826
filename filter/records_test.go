package filter

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A field that was taken away is an error that says what to ask instead, wherever it stands, and is no candidate.
func TestKept(t *testing.T) {
	fields := everything.Fields()
	var withLive []Field
	for _, f := range fields {
		f := *f
		f.Live = map[string]string{"latency": "ask for delays", "n.other": "ask for n"}[f.Name]
		withLive = append(withLive, f)
	}
	s := MustSchema("things", withLive...).Kept()
	for text, want := range map[string]string{
		"latency > 5us":                "column 1: things of a time range have no field latency: ask for delays",
		"up and exists latency":        "column 15: things of a time range have no field latency: ask for delays",
		"delay = Latency":              "column 9: things of a time range have no field Latency: ask for delays",
		"n.other = 1":                  "column 1: things of a time range have no field n.other: ask for n",
		"n = 1 or M = 1":               "column 10: things of a time range have no field M: ask for n",
		"name = latency":               "", // a text
		"latencie > 5us":               "column 1: things have no field latencie: did you mean latencies?",
		"delay > 5us and either != 12": "",
	} {
		_, err := Parse(s, text)
		if got := ""; err != nil {
			if got = err.Error(); got != want {
				t.Errorf("%s: got %s, want %q", text, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: no error, want %s", text, want)
		}
	}
	if _, err := Parse(everything, "latency > 5us and m = 1"); err != nil {
		t.Errorf("the schema itself changed: %v", err)
	}
	if slices.ContainsFunc(Complete(s, "l", 1), func(c Candidate) bool { return c.Text == "latency" }) ||
		slices.ContainsFunc(s.Fields(), func(f *Field) bool { return f.Name == "latency" }) {
		t.Error("latency is a candidate, or among the fields")
	}
	kept, _ := s.Find("delay")
	if before, _ := everything.Find("delay"); kept.Index() != before.Index() {
		t.Errorf("delay has the number %d, had %d", kept.Index(), before.Index())
	}
}

// In SQL the name of a node is the nodes that have such names, for each operator.
func TestNameOf(t *testing.T) {
	s := MustSchema("places",
		Field{Name: "node", Kind: Node, Column: "n"}, Field{Name: "name", Kind: Text, NameOf: "node"}).
		WithNames(map[uint32]string{1: "leaf1", 2: "leaf2", 3: "spine", 4: "", 5: "leaf1"})
	for text, want := range map[string]string{
		"name = leaf1":                 "1 5",
		"name != leaf1":                "2 3",
		"not name = leaf1":             "0 2 3 4 6",
		"name in (leaf2, spine, leaf)": "2 3",
		"name not in (leaf1)":          "2 3",
		"name like 'leaf_'":            "1 2 5",
		"name not like 'leaf_'":        "3",
		"name ~ '[13]$'":               "1 5",
		"name !~ f":                    "3",
		"name is null":                 "0 4 6",
		"exists name":                  "1 2 3 5",
		"name = nobody":                "",
		"name = spine or node = 2":     "2 3",
	} {
		e, err := Parse(s, text)
		if err != nil {
			t.Fatal(err)
		}
		condition, values := e.SQL(DuckDB, time.Time{})
		answer := compileSQL(t, condition, len(values))
		var got []string
		for n := range int64(7) {
			if answer(&scope{map[string]any{"n": big.NewInt(n)}, values}) == true {
				got = append(got, strconv.FormatInt(n, 10))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v of %s %v, want %s", text, got, condition, values, want)
		}
		if text != "not name = leaf1" && text != "name is null" &&
			answer(&scope{map[string]any{"n": nil}, values}) != false {
			t.Errorf("%s holds without a node", text)
		}
	}
	if _, err := Parse(Drops, "name = reason_name"); err == nil ||
		err.Error() != "column 8: the name of a node cannot be compared with a field: did you mean \"reason_name\"?" {
		t.Errorf("got %v", err)
	}
}
