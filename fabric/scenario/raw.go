package scenario

import (
	"bytes"

	"github.com/goccy/go-yaml/ast"
)

// A Raw is a part of a scenario file that another package understands.
type Raw struct {
	// Text is a YAML document: the file with everything else blanked out, so that errors about it name lines and columns
	// of the file. It is nil if the file does not have this part.
	Text []byte
}

// UnmarshalYAML accepts whatever is there. Parse cuts Text out of the file.
func (*Raw) UnmarshalYAML(ast.Node) error { return nil }

// cut returns the value of a key of the outermost map as a Raw.
func cut(text []byte, root *ast.MappingNode, key string) Raw {
	for i, value := range root.Values {
		if value.Key.GetToken().Value != key {
			continue
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		from, to := value.Key.GetToken().Position.Line-1, len(lines)
		if i+1 < len(root.Values) {
			to = root.Values[i+1].Key.GetToken().Position.Line - 1
		}
		part := bytes.Repeat([]byte("\n"), from)
		for _, line := range lines[from:to] {
			part = append(part, line...)
		}
		colon := from + bytes.IndexByte(part[from:], ':')
		copy(part[from:], bytes.Repeat([]byte(" "), colon+1-from))
		return Raw{Text: part}
	}
	return Raw{}
}
