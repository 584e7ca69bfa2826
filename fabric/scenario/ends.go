package scenario

import "github.com/goccy/go-yaml/ast"

// Ends are the names of the two nodes that a link joins.
type Ends [2]string

// UnmarshalYAML reads a list of two names.
func (e *Ends) UnmarshalYAML(n ast.Node) error {
	const want = "two nodes, for example [leaf1, spine1]"
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return at(n, "want %s", want)
	}
	if len(list.Values) != len(e) {
		return at(n, "got a list of %d, want %s", len(list.Values), want)
	}
	for i, value := range list.Values {
		name, err := scalar(value, want)
		if err != nil {
			return err
		}
		e[i] = name
	}
	return nil
}
