package filter

import (
	"strings"
	"testing"
)

// everything has fields of all kinds, twice where that matters.
var everything = MustSchema("things", []Field{
	{Name: "n", Kind: Uint, Doc: "a number"},
	{Name: "n.other", Aliases: []string{"m"}, Kind: Uint},
	{Name: "either", Kind: Uint, Any: []string{"n", "m"}},
	{Name: "list", Kind: Uint, Many: true},
	{Name: "mixed", Kind: Uint, Any: []string{"n", "list"}},
	{Name: "float", Kind: Float},
	{Name: "ratio", Kind: Ratio},
	{Name: "latency", Kind: Duration, Unit: "ns"},
	{Name: "delay", Kind: Duration},
	{Name: "latencies", Kind: Duration, Many: true},
	{Name: "size", Kind: Size},
	{Name: "rate", Kind: Rate},
	{Name: "start", Kind: Time},
	{Name: "stop", Kind: Time},
	{Name: "src", Kind: Address},
	{Name: "dst", Kind: Address},
	{Name: "addr", Kind: Address, Any: []string{"src", "dst"}},
	{Name: "mac", Kind: MAC},
	{Name: "name", Kind: Text},
	{Name: "title", Kind: Text},
	{Name: "names", Kind: Text, Many: true},
	{Name: "up", Kind: Bool},
	{Name: "proto", Kind: Enum, Choices: []Choice{{"tcp", 6, "reliable"}, {"udp", 17, ""}, {"two words", 200, ""}}},
	{Name: "level", Kind: Enum, Choices: []Choice{{"low", 1, ""}, {"high", 2, ""}}, Ordered: true},
	{Name: "node", Kind: Node},
	{Name: "nodes", Kind: Node, Many: true},
}...).WithNodes(map[string]uint32{"leaf1": 1, "leaf-2": 2, "spine 1": 1001, "n": 7, "12": 99})

// A testRow has the values of each field of everything.
type testRow [][]Value

func (r testRow) Value(field, i int) (Value, bool) {
	if i >= len(r[field]) {
		return Value{}, false
	}
	return r[field][i], true
}

func TestSchemaErrors(t *testing.T) {
	choices := []Choice{{Name: "b"}}
	for want, fields := range map[string][]Field{
		`"A" cannot be the name of a field`:   {{Name: "A", Kind: Uint}},
		`"not" cannot be the name of a field`: {{Name: "not", Kind: Uint}},
		`"" cannot be the name of a field`:    {{Kind: Uint}},
		`"1a" cannot be the name of a field`:  {{Name: "a", Aliases: []string{"1a"}, Kind: Uint}},
		"two fields are named a": {
			{Name: "a", Kind: Uint},
			{Name: "b", Aliases: []string{"a"}, Kind: Uint},
		},
		"field a: kind 0 does not exist": {{Name: "a"}},
		"field a: 0 choices":             {{Name: "a", Kind: Enum}},
		"field a: 1 choices":             {{Name: "a", Kind: Uint, Choices: choices}},
		`field a: "b" cannot be the name of a choice`: {
			{Name: "a", Kind: Enum, Choices: choices},
			{Name: "b", Kind: Bool},
		},
		"field a: a list of addresses has no columns": {{Name: "a", Kind: Address, Many: true}},
		"field a: it cannot stand for b": {
			{Name: "a", Kind: Uint, Any: []string{"b"}},
			{Name: "b", Kind: Size},
		},
		"field a: it cannot stand for c":          {{Name: "a", Kind: Uint, Any: []string{"c"}}},
		"field ab: a column has no question mark": {{Name: "ab", Kind: Uint, Column: "a?"}},
	} {
		if _, err := NewSchema("test", fields...); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestSchemas(t *testing.T) {
	for _, s := range Schemas() {
		for i, f := range s.Fields() {
			if f.Index() != i {
				t.Errorf("%s %s: index %d, want %d", s.Name(), f.Name, f.Index(), i)
			}
			if f.Doc == "" || strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s %s: doc %q", s.Name(), f.Name, f.Doc)
			}
			for _, name := range append(f.Aliases, f.Name, strings.ToUpper(f.Name)) {
				if g, ok := s.Find(name); !ok || g != f {
					t.Errorf("%s: %s is not %s", s.Name(), name, f.Name)
				}
			}
		}
	}
	if _, ok := Flows.Find("hop.node"); !ok {
		t.Error("no hop.node in flows")
	}
	if _, err := Parse(Flows, "node = 3 and hop.latency > 50us and src in 10.0.0.0/8 and not proto = udp"); err != nil {
		t.Error(err)
	}
}
