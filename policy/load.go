package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/waybill-int/waybill/internal/yamldoc"
)

// A Problem is one rule that a policy file breaks.
type Problem struct {
	Line int // from 1
	Rule string
}

func (p *Problem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.Rule) }

// maxProblems is how many of them are worth reading.
const maxProblems = 20

// Load reads a policy file, YAML or JSON. Its errors are Problems, joined: each begins with its line.
func Load(text []byte) (*Policy, error) {
	parsed, err := yamldoc.Parse(text)
	if err != nil {
		return nil, syntax(err)
	}
	r := reader{policy: &Policy{}, names: map[string]uint32{}}
	var body ast.Node
	for _, d := range parsed.Docs {
		if _, comment := d.Body.(*ast.CommentGroupNode); comment || d.Body == nil {
			continue
		}
		if body != nil {
			return nil, &Problem{yamldoc.Begin(d), "got a second YAML document, want one"}
		}
		body = d.Body
	}
	if body == nil {
		return nil, &Problem{1, "the file is empty, want nodes or rules"}
	}
	if err := yamldoc.Plain(body); err != nil {
		return nil, syntax(err)
	}
	r.file(body)
	if more := len(r.errs) - maxProblems; more > 0 {
		r.errs = append(r.errs[:maxProblems], fmt.Errorf("and %d more", more))
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return r.policy, nil
}

// syntax makes a Problem of an error of the YAML reader.
func syntax(err error) error {
	var plain *yamldoc.Problem
	if errors.As(err, &plain) {
		return &Problem{plain.Line, plain.Rule}
	}
	var bad yaml.Error
	if errors.As(err, &bad) && bad.GetToken() != nil && bad.GetToken().Position != nil {
		return &Problem{bad.GetToken().Position.Line, bad.GetMessage()}
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return &Problem{1, text}
}

// A reader walks through a YAML document and collects what is wrong.
type reader struct {
	policy *Policy
	names  map[string]uint32 // of nodes
	errs   []error
}

func (r *reader) say(at ast.Node, format string, args ...any) {
	line := 1
	if token := at.GetToken(); token != nil && token.Position != nil {
		line = token.Position.Line
	}
	r.errs = append(r.errs, &Problem{line, fmt.Sprintf(format, args...)})
}

// file reads the nodes first: rules name them.
func (r *reader) file(body ast.Node) {
	var rules ast.Node
	r.fields(body, "", map[string]setter{
		"nodes":        r.nodes,
		"rules":        func(value ast.Node, _ string) { rules = value },
		"initial_ttls": r.ttls,
		"sink_ttl": func(value ast.Node, place string) {
			switch text := r.text(value, place); text {
			case "arrival":
				r.policy.arrival = true
			case "departure", "":
			default:
				r.say(value, "%s: got %q, want arrival or departure", place, text)
			}
		},
	})
	if rules != nil {
		r.rules(rules, "rules")
	}
}

// A setter takes the value of a key; place is the path of the key.
type setter func(value ast.Node, place string)

// fields calls the setter of each key of a map.
func (r *reader) fields(at ast.Node, place string, keys map[string]setter) {
	m, ok := at.(*ast.MappingNode)
	prefix := place
	if place != "" {
		prefix += ": "
	}
	known := strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
	if !ok {
		r.say(at, "%swant keys and values; known keys are %s", prefix, known)
		return
	}
	for _, field := range m.Values {
		key := field.Key.GetToken().Value
		if set, ok := keys[key]; ok { // the parser refuses a key that is there twice
			set(field.Value, strings.TrimPrefix(place+"."+key, "."))
		} else {
			r.say(field.Key, "%sunknown key %q; known are %s", prefix, key, known)
		}
	}
}

// items calls f for each item of a list; a single value is a list of one.
func (r *reader) items(at ast.Node, place string, f setter) {
	list, ok := at.(*ast.SequenceNode)
	if !ok {
		f(at, place)
		return
	}
	if len(list.Values) == 0 {
		r.say(at, "%s: the list is empty", place)
	}
	for i, item := range list.Values {
		f(item, fmt.Sprintf("%s[%d]", place, i))
	}
}

// text returns the text of a single value, "" if it is none.
func (r *reader) text(at ast.Node, place string) string {
	switch at.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		if text := at.GetToken().Value; text != "" {
			return text
		}
	}
	r.say(at, "%s: want a single value", place)
	return ""
}

// listOf makes a setter of a list of values that parse reads.
func listOf[T any](r *reader, list *[]T, parse func(string) (T, error)) setter {
	return func(value ast.Node, place string) {
		r.items(value, place, func(item ast.Node, place string) {
			text := r.text(item, place)
			if text == "" {
				return
			}
			v, err := parse(text)
			if err != nil {
				r.say(item, "%s: %s", place, err)
				return
			}
			*list = append(*list, v)
		})
	}
}
