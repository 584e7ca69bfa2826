// Package conftest holds tests that all loaders of configuration files have to pass.
package conftest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/waybill-int/waybill/internal/conf"
)

// Misspell misspells each key of a struct type, at each depth, in valid documents, and writes it twice: load must
// refuse both and name the line. Every key that the type has must be in one of the documents.
func Misspell(t *testing.T, of reflect.Type, documents []string, load func(text []byte) error) {
	t.Helper()
	missing := map[string]bool{}
	for _, key := range Keys(of) {
		missing[key.Path] = true
	}
	all := maps.Clone(missing)
	for _, text := range documents {
		if err := load([]byte(text)); err != nil {
			t.Errorf("a valid document is refused: %v", err)
			continue
		}
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		walk(document.Content[0], "", all, func(path string, name *yaml.Node) {
			delete(missing, path)
			lines := strings.SplitAfter(text, "\n")
			line := lines[name.Line-1]
			begin := name.Column - 1
			for doing, change := range map[string]string{
				"misspelt": line[:begin+1] + "zz" + line[begin+1:], // also inside of quotes
				"twice":    line[:begin] + repeated(name) + line[begin:],
			} {
				if doing == "twice" && !inFlow(line, begin) {
					change = line[:begin] + repeated(name) + "\n" + strings.Repeat(" ", begin) + line[begin:]
				}
				wrong := strings.Join(lines[:name.Line-1], "") + change + strings.Join(lines[name.Line:], "")
				check(t, load([]byte(wrong)), doing+" "+path, name.Line, doing == "twice")
			}
		})
	}
	for _, path := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no document has %s", path)
	}
}

func repeated(name *yaml.Node) string { return name.Value + ": ~, " }

// inFlow reports whether what stands there is inside of brackets.
func inFlow(line string, at int) bool {
	count := func(bracket string) int { return strings.Count(line[:at], bracket) }
	return count("{")+count("[") > count("}")+count("]")
}

func check(t *testing.T, err error, what string, line int, twice bool) {
	t.Helper()
	var wrong conf.Problems
	if !errors.As(err, &wrong) {
		t.Errorf("%s in line %d: got %v", what, line, err)
		return
	}
	want := "unknown key"
	if twice {
		want = "there twice"
	}
	if !slices.ContainsFunc(wrong, func(p *conf.Problem) bool {
		return strings.Contains(p.Rule, want) && (p.Line == line || twice && p.Line == line+1)
	}) {
		t.Errorf("%s in line %d: got %v", what, line, err)
	}
}

// walk calls f for each key that is one of a struct.
func walk(n *yaml.Node, path string, keys map[string]bool, f func(path string, name *yaml.Node)) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			child := strings.TrimPrefix(path+"."+n.Content[i].Value, ".")
			if keys[child] {
				f(child, n.Content[i])
			} else {
				child = fmt.Sprint(path, ".*")
			}
			walk(n.Content[i+1], child, keys, f)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			walk(item, path+"[]", keys, f)
		}
	}
}
