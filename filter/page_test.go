package filter

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of fields in docs/reference/filter.md")

const (
	pagePath = "../docs/reference/filter.md"
	// what stands above is written by hand
	pageTables = "## Fields\n"
)

func readPage(t *testing.T) (written, tables string) {
	t.Helper()
	text, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	written, tables, _ = strings.Cut(string(text), pageTables)
	return written, pageTables + tables
}

// TestPageFields holds the tables of fields to the schemas.
func TestPageFields(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageTables + "\nA field with a + can have several values.\n")
	for _, s := range Schemas() {
		name := s.Name()
		fmt.Fprintf(&b, "\n### %s%s\n\n| Field | Type | Meaning |\n|---|---|---|\n", strings.ToUpper(name[:1]),
			name[1:])
		for _, f := range s.Fields() {
			b.WriteString(pageRow(f))
		}
	}
	written, tables := readPage(t)
	if *update {
		if err := os.WriteFile(pagePath, []byte(written+b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if tables != b.String() {
		t.Errorf("%s is not what the schemas say: go test ./filter -run Page -update", pagePath)
	}
}

// pageRow is the row of a field.
func pageRow(f *Field) string {
	names := code(append([]string{f.Name}, f.Aliases...))
	kind := f.Kind.String()
	if f.Unit != "" {
		kind += ", " + f.Unit
	}
	if f.several() {
		names += " +"
	}
	doc := f.Doc
	switch {
	case len(f.Any) > 0:
		doc += ": " + strings.ReplaceAll(code(f.Any), ", ", " or ")
	case len(f.Choices) > 0:
		var choices []string
		for _, c := range f.Choices {
			choices = append(choices, fmt.Sprintf("`%s` (%d)", c.Name, c.Number))
			if c.Doc != "" {
				choices[len(choices)-1] += " " + c.Doc
			}
		}
		between := ", "
		if f.Choices[0].Doc != "" {
			between = "; "
		}
		doc += ": " + strings.Join(choices, between)
	}
	return "| " + names + " | " + kind + " | " + doc + " |\n"
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// TestPageExamples parses what the page shows as filters, and the literals in its table of types.
func TestPageExamples(t *testing.T) {
	written, _ := readPage(t)
	n := 0
	for _, block := range regexp.MustCompile("(?ms)^```filter (\\w+)\n(.*?)^```$").FindAllStringSubmatch(written, -1) {
		i := slices.IndexFunc(Schemas(), func(s *Schema) bool { return s.Name() == block[1] })
		s := Schemas()[i].WithNodes(map[string]uint32{"leaf1": 1})
		for line := range strings.Lines(block[2]) {
			if wrong := Validate(s, strings.TrimSpace(line)); wrong != nil {
				t.Errorf("%s: %v", line, wrong)
			}
			n++
		}
	}
	if n < 10 {
		t.Errorf("%d examples", n)
	}
	wrong := Validate(Flows, "node = 3 or hop.latenzy > 5us")
	if wrong == nil || !strings.Contains(written, wrong.Error()+"\n") {
		t.Errorf("the page does not show %v", wrong)
	}
}

// TestPageTypes looks for each operator, and for each type with its units and examples that can be read.
func TestPageTypes(t *testing.T) {
	written, _ := readPage(t)
	for _, f := range everything.fields {
		for _, op := range f.operators() {
			if !strings.Contains(written, "`"+op+"`") {
				t.Errorf("no operator %s", op)
			}
		}
		row := regexp.MustCompile(`(?m)^\| ` + f.Kind.String() + ` \| (.*?) \|(.*)\|$`).FindStringSubmatch(written)
		if row == nil {
			t.Errorf("no row for the type %s", f.Kind)
			continue
		}
		for _, unit := range f.Kind.unitNames() {
			if !strings.Contains(row[2], "`"+unit+"`") {
				t.Errorf("%s: no unit %s", f.Kind, unit)
			}
		}
		for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[1], -1) {
			filters := []string{f.Name + " = " + m[1], f.Name + " in " + m[1]}
			if !f.takes(m[1]) &&
				!slices.ContainsFunc(filters, func(text string) bool { return Validate(everything, text) == nil }) {
				t.Errorf("%s: %s: %v", f.Name, m[1], Validate(everything, filters[0]))
			}
		}
	}
}
