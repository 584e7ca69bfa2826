// Package yamldoc refuses YAML that a configuration file does not need and the YAML library does not always survive.
package yamldoc

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// A Problem is something that a file must not have.
type Problem struct {
	Line int // from 1
	Rule string
}

func (p *Problem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.Rule) }

// Begin returns the line that a document begins in, from 1. Behind "..." it need not begin with "---", and may be empty:
// then it is 1.
func Begin(d *ast.DocumentNode) int {
	if d.Start != nil {
		return d.Start.Position.Line
	}
	return line(d.Body)
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

// Parse reads text. Where the library panics, the error is a Problem of line 1.
func Parse(text []byte) (file *ast.File, err error) {
	defer survive(&err, 1)
	return parser.ParseBytes(text, 0)
}

// Decode puts a map or list that is Plain into v, strictly: unknown keys are errors. Where the library panics, the error is a
// Problem of the line in which n begins.
func Decode(n ast.Node, v any) (err error) {
	if err := Plain(n); err != nil {
		return err
	}
	defer survive(&err, line(n))
	return yaml.NodeToValue(n, v, yaml.Strict())
}

// survive makes an error of a panic.
func survive(err *error, line int) {
	if why := recover(); why != nil {
		*err = &Problem{line, fmt.Sprintf("the YAML library cannot read this (%v); is a list longer, or nested otherwise, than it should be?", why)}
	}
}

// Plain returns the first Problem in n, or nil: only maps with words or numbers as keys, lists and single values may be
// there, without tags, anchors and aliases.
func Plain(n ast.Node) error {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, value := range n.Values {
			switch value.Key.(type) {
			case *ast.StringNode, *ast.IntegerNode:
			default:
				return &Problem{line(value), "want a word or a number as key"}
			}
			if err := Plain(value.Value); err != nil {
				return err
			}
		}
	case *ast.SequenceNode:
		for _, value := range n.Values {
			if err := Plain(value); err != nil {
				return err
			}
		}
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.BoolNode, *ast.NullNode:
	case nil:
		return &Problem{1, "a value is missing"}
	default:
		return &Problem{line(n), "want a map, a list or a single value, without tags, anchors and aliases"}
	}
	return nil
}
