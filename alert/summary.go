package alert

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

const (
	maxTemplate = 1 << 10 // bytes of a template
	maxSummary  = 1 << 10 // bytes of what it makes
)

// Fields are what a template may use. What is not known is empty.
type Fields struct {
	Rule, Severity, Kind, Text string
	Node, Port, Queue          string // Node and ToNode: the name, or the number if there is none
	ToNode, ToPort             string
	Reason, Source, Flow, Path string
	Start, End                 string // RFC 3339
	Count                      uint64
}

func fieldsOf(rule string, severity telemetry.Severity, e *telemetry.Event) Fields {
	f := Fields{
		Rule: rule, Severity: severity.String(), Kind: e.Kind.String(), Text: e.Text, Node: nodeText(e.Node, e.Name),
		Port:  number(e.Port),
		Queue: number(e.Queue), ToNode: nodeText(e.ToNode, e.ToName), ToPort: number(e.ToPort), Reason: e.ReasonName,
		Source: e.Source,
		Path:   e.Path, Start: e.Start.UTC().Format(time.RFC3339), Count: e.Count,
	}
	if e.End != nil {
		f.End = e.End.UTC().Format(time.RFC3339)
	}
	if e.Flow != nil {
		f.Flow = flowText(e.Flow)
	}
	return f
}

func flowText(f *telemetry.Endpoints) string {
	return fmt.Sprintf("%s:%d > %s:%d %s", f.Src, f.SrcPort, f.Dst, f.DstPort, f.Protocol)
}

func nodeText(id *uint32, name string) string {
	if name != "" {
		return name
	}
	return number(id)
}

func number[T uint8 | uint32](n *T) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*n), 10)
}

// A summary is a template that makes a text of Fields. It has no loops, no variables and few functions: it always ends.
type summary struct{ t *template.Template }

// functions are those of text/template that a summary may call.
var functions = map[string]bool{
	"and": true, "or": true, "not": true, "eq": true, "ne": true, "lt": true, "le": true,
	"gt": true, "ge": true,
}

func newSummary(text string) (*summary, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("the template is longer than %d bytes", maxTemplate)
	}
	t, err := template.New("").Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "template: "))
	}
	for _, part := range t.Templates() {
		if part.Name() != "" {
			return nil, errors.New("define and block are not possible")
		}
	}
	if t.Tree != nil { // an empty text has none
		if err := plain(t.Root); err != nil {
			return nil, err
		}
	}
	s := &summary{t}
	for _, f := range []Fields{{}, {Node: "x", ToNode: "x", Count: 1, End: "x", Flow: "x", Reason: "x"}} {
		if _, err := s.execute(&f); err != nil {
			_, why, _ := strings.Cut(err.Error(), ": ")
			return nil, errors.New(why)
		}
	}
	return s, nil
}

// plain returns what a template must not have, or nil.
func plain(n parse.Node) error {
	var inner []parse.Node
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			inner = n.Nodes
		}
	case *parse.ActionNode:
		inner = []parse.Node{n.Pipe}
	case *parse.IfNode:
		inner = []parse.Node{n.Pipe, n.List, n.ElseList}
	case *parse.PipeNode:
		if len(n.Decl) > 0 {
			return errors.New("variables are not possible")
		}
		for _, c := range n.Cmds {
			inner = append(inner, c)
		}
	case *parse.CommandNode:
		inner = n.Args
	case *parse.IdentifierNode:
		if !functions[n.Ident] {
			return fmt.Errorf("the function %s is not possible", n.Ident)
		}
	case *parse.TextNode, *parse.CommentNode, *parse.FieldNode, *parse.StringNode, *parse.NumberNode, *parse.BoolNode:
	default:
		return fmt.Errorf("%s is not possible", n)
	}
	for _, i := range inner {
		if err := plain(i); err != nil {
			return err
		}
	}
	return nil
}

func (s *summary) execute(f *Fields) (string, error) {
	var b strings.Builder
	err := s.t.Execute(&b, f)
	return b.String(), err
}

// text returns what the template makes of f, cut to maxSummary bytes.
func (s *summary) text(f *Fields) string {
	text, err := s.execute(f)
	if err != nil { // eq of a number with a text, in a branch that no test took
		text = f.Text
	}
	if len(text) > maxSummary {
		text = strings.ToValidUTF8(text[:maxSummary], "") + "..."
	}
	return text
}
