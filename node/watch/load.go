package watch

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Load reads a watchlist, a YAML list of entries. Errors begin with the line in the file and name the entry's key. What
// the keys say together is for Compile to check.
func Load(text []byte) ([]Entry, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		var yamlError yaml.Error
		if errors.As(err, &yamlError) && yamlError.GetToken() != nil {
			return nil, &lineError{yamlError.GetToken().Position.Line, yamlError.GetMessage()}
		}
		return nil, &lineError{1, err.Error()}
	}
	if len(file.Docs) != 1 {
		return nil, &lineError{1, fmt.Sprintf("got %d YAML documents; want one", len(file.Docs))}
	}
	list, ok := file.Docs[0].Body.(*ast.SequenceNode)
	if !ok {
		return nil, &lineError{1, `want a list of entries, for example "- dst: 10.0.0.0/8"`}
	}
	entries := make([]Entry, len(list.Values))
	for i, node := range list.Values {
		if err := entries[i].UnmarshalYAML(node); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// UnmarshalYAML reads one entry. A configuration that has watchlists in it uses it by having fields of type []Entry. It
// knows neither anchors nor aliases.
func (e *Entry) UnmarshalYAML(node ast.Node) error {
	fields, ok := node.(*ast.MappingNode)
	if !ok {
		return at(node, "want an entry, for example \"dst: 10.0.0.0/8\"")
	}
	*e = Entry{line: line(node)}
	seen := map[string]bool{}
	for _, field := range fields.Values {
		key := field.Key.GetToken().Value
		set, known := keys[key]
		if !known {
			return at(field, "unknown key %q; known are %s", key, knownKeys())
		}
		if seen[key] {
			return at(field, "%s: got it twice", key)
		}
		seen[key] = true
		if err := set(e, field.Value); err != nil {
			return at(field, "%s: %s", key, err)
		}
	}
	return nil
}

// A lineError is an error in a line of a file.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

// at returns an error in the line of node.
func at(node ast.Node, format string, args ...any) error {
	return &lineError{line(node), fmt.Sprintf(format, args...)}
}

func line(node ast.Node) int {
	if token := node.GetToken(); token != nil && token.Position != nil {
		return token.Position.Line
	}
	return 1
}
