package scenario

import "github.com/goccy/go-yaml/ast"

// plain refuses what a scenario file does not need and the YAML library does not always survive: tags, anchors, aliases and
// keys that are not words. Only maps, lists and scalars remain.
func plain(n ast.Node) error {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, value := range n.Values {
			switch value.Key.(type) {
			case *ast.StringNode, *ast.IntegerNode:
			default:
				return at(value, "want a word or a number as key")
			}
			if err := plain(value.Value); err != nil {
				return err
			}
		}
	case *ast.SequenceNode:
		for _, value := range n.Values {
			if err := plain(value); err != nil {
				return err
			}
		}
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.BoolNode, *ast.NullNode:
	case nil:
		return &Problem{Line: 1, Rule: "a value is missing"}
	default:
		return at(n, "want a map, a list or a single value, without tags, anchors and aliases")
	}
	return nil
}
