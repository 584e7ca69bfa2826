package api

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// section replaces what stands in a file between two comments, or compares it.
func section(t *testing.T, file, name, want string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end: "+name+" -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, whole := strings.Cut(rest, end)
	switch {
	case !ok || !whole:
		t.Fatalf("%s has no section %s", file, name)
	case *update:
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != want:
		t.Errorf("%s is not what the operations say: go test ./api -run Generated -update", file)
	}
}

// The tables of the reference are made of the operations and their parameters.
func TestGeneratedPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| Path | Parameters | Role | Answer |\n|---|---|---|---|\n")
	used := map[string]bool{}
	for _, o := range operations() {
		path := strings.ReplaceAll("`"+o.path+"`", "{id}", "ID")
		if o.method != "GET" {
			path = o.method + " " + path
		}
		var names []string
		list := o.find != nil && strings.HasPrefix(o.params, paging)
		if list {
			names = append(names, "those of [lists](#filter-order-and-pages)")
		}
		for _, name := range o.allParams() {
			used[name], used[o.id+"."+name] = true, true
			if !list || !slices.Contains(strings.Fields(paging), name) {
				names = append(names, "`"+name+"`")
			}
		}
		doc := o.doc
		if o.more != "" {
			doc += ": [" + strings.ReplaceAll(o.more, "-", " ") + "](#" + o.more + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", path, strings.Join(names, ", "),
			strings.Replace(o.role.String(), "nobody", "everybody", 1), doc)
	}
	b.WriteString("\n")
	section(t, "../docs/reference/api.md", "operations", b.String())

	b.Reset()
	b.WriteString("\n| Parameter | Values |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if !used[name] {
			t.Errorf("no operation has %s", name)
		}
		p, doc := parameters[name], "`"+name+"`"
		if of, only, special := strings.Cut(name, "."); special {
			doc = fmt.Sprintf("`%s` of %s", only, of)
		}
		fmt.Fprintf(&b, "| %s | %s", doc, p.doc)
		if len(p.options) > 0 && len(p.options) < 10 {
			fmt.Fprintf(&b, ": `%s`", strings.Join(p.options, "`, `"))
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n")
	section(t, "../docs/reference/api.md", "parameters", b.String())
}
