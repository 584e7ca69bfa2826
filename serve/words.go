package serve

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/command"
)

// configError returns what is wrong in a configuration file, in one line and in words for people: the YAML library speaks of types of
// Go where a value is of another kind than it should be.
func configError(err error) string {
	var node *yaml.UnexpectedNodeTypeError
	if errors.As(err, &node) && node.Token != nil && node.Token.Position != nil {
		return fmt.Sprintf("line %d: got %s, want %s", node.Token.Position.Line, nodeWord(node.Actual), nodeWord(node.Expected))
	}
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) || wrong.Token == nil || wrong.Token.Position == nil {
		return command.FirstLine(err)
	}
	return fmt.Sprintf("line %d: got %s, want %s", wrong.Token.Position.Line, kindWord(wrong.SrcType), kindWord(wrong.DstType))
}

// nodeWord says what a node of YAML is.
func nodeWord(of ast.NodeType) string {
	switch of {
	case ast.SequenceType:
		return "a list"
	case ast.MappingType, ast.MappingValueType:
		return "a map"
	}
	return "a single value"
}

// kindWord says what a value of a type is in YAML.
func kindWord(of reflect.Type) string {
	if of == nil {
		return "nothing"
	}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a map"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a text"
}

// checkVariables refuses a variable whose name is nearly that of a key: it would change nothing, in silence.
func checkVariables(environment []string) error {
	for _, name := range OtherVariables(environment) {
		if meant := filter.Nearest(strings.ToLower(strings.TrimPrefix(name, "WAYBILL_")), serveKeys); meant != "" {
			return fmt.Errorf("there is no variable %s; did you mean WAYBILL_%s?", name, strings.ToUpper(meant))
		}
	}
	return nil
}

// OtherVariables are those that look like ours and are no keys, in order. They may be those of others: Kubernetes sets WAYBILL_SERVICE_HOST
// and WAYBILL_PORT where a service is named waybill.
func OtherVariables(environment []string) []string {
	ofClients := []string{"server", "token"}
	var names []string
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		key, ours := strings.CutPrefix(name, "WAYBILL_")
		if key = strings.ToLower(key); ours && value != "" && !slices.Contains(serveKeys, key) && !slices.Contains(ofClients, key) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
