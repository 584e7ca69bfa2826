// Package conf reads the YAML files that people write: strictly, and with one wording of errors for all of them,
//
//	FILE:LINE: KEY: what is wrong; what to write instead
//
// A key that the Go type does not have is refused at every depth, as are keys that are there twice, anchors, aliases,
// tags and second documents. All problems of a file are told at once. JSON is YAML.
//
// Types of values are those of this package (List, Raw), those of conf/unit, all with an UnmarshalText method, and the
// built-in ones. What is none of them has an UnmarshalConf method.
package conf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/waybill-int/waybill/internal/conf/unit"
)

// A Kind says how the files of a kind are read. The zero Kind suits most.
type Kind struct {
	Limit  int    // largest size in bytes; 0: 1 MiB
	Secret bool   // messages do not repeat values: they may be secrets in the wrong line
	Want   string // what such a file has; it must not be empty then
}

const defaultLimit = 1 << 20

func (k Kind) limit() int {
	if k.Limit == 0 {
		return defaultLimit
	}
	return k.Limit
}

// Read returns the text of a file that is no longer than its kind may be.
func (k Kind) Read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(k.limit())+1))
}

// Load puts what a file says into the value that v points to, which holds what is there without the file.
func (k Kind) Load(name string, v any) (*Document, error) {
	text, err := k.Read(name)
	if err != nil {
		return nil, err
	}
	return k.Parse(name, text, v)
}

// Parse puts what text says into the value that v points to. name is that of its file in errors, or "". The error is
// Problems; the Document is there to find more.
func (k Kind) Parse(name string, text []byte, v any) (*Document, error) {
	d := &Document{kind: k, name: name, text: text, lines: map[string]int{}}
	if wrong := d.refuse(); wrong != "" {
		return d, Problems{{File: name, Rule: wrong}}
	}
	body, err := d.parse()
	if err != nil {
		return d, err
	}
	if body != nil {
		d.Decode(body, v)
		d.read, d.decoded = true, len(d.wrong)
	} else if k.Want != "" {
		d.add(1, "", "the file is empty, want "+k.Want)
	}
	return d, d.Err()
}

// refuse says why text is none that the parser should see; it checks before any memory is taken.
func (d *Document) refuse() string {
	if limit := d.kind.limit(); len(d.text) > limit {
		return "the file is too large, want at most " + unit.Bytes(limit).String()
	}
	control := func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }
	if !utf8.Valid(d.text) || bytes.ContainsFunc(d.text, control) {
		return "this is not a text file, want YAML in UTF-8"
	}
	return ""
}

// parse returns the body of the only document, nil if there is nothing in it.
func (d *Document) parse() (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(d.text), yaml.WithUniqueKeys(false))
	if err != nil {
		return nil, err
	}
	var body *yaml.Node
	for {
		var document yaml.Node
		switch err := loader.Load(&document); {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, Problems{d.syntax(err)}
		case len(document.Content) == 0 || isNull(document.Content[0]):
		case body != nil:
			return nil, Problems{{d.name, d.within(document.Content[0].Line), "", "a second YAML document, want one"}}
		default:
			body = document.Content[0]
		}
	}
}

// syntax makes a Problem of an error of the YAML library.
func (d *Document) syntax(err error) *Problem {
	var bad *yaml.LoadError
	if !errors.As(err, &bad) {
		return &Problem{d.name, 1, "", "this is not YAML"}
	}
	rule := bad.Message
	if begin := bad.ContextMark.Line; begin > 0 && begin < bad.Mark.Line {
		rule += fmt.Sprintf(" of what begins in line %d", begin)
	}
	return &Problem{d.name, d.within(bad.Mark.Line), "", rule}
}

// A Document is a file that was read.
type Document struct {
	kind  Kind
	name  string
	text  []byte
	lines map[string]int // by key
	wrong Problems
	// of those, how many are of values that could not be read
	decoded int
	read    bool
}

// IsRead reports whether the file is YAML, so that more can be said about the values that could be read.
func (d *Document) IsRead() bool { return d.read }

// Say adds that the value of a key breaks a rule, unless it was told already that it or a part of it cannot be read. A
// key is the path to it, as in rules[0].name; the line is that of what is nearest to it in the file.
func (d *Document) Say(key, format string, args ...any) {
	if slices.ContainsFunc(d.wrong[:d.decoded], func(p *Problem) bool {
		return p.Key == key || strings.HasPrefix(p.Key, key+".") || strings.HasPrefix(p.Key, key+"[")
	}) {
		return
	}
	d.add(d.Line(key), key, fmt.Sprintf(format, args...))
}

func (d *Document) add(line int, key, rule string) {
	d.wrong = append(d.wrong, &Problem{d.name, d.within(line), key, rule})
}

// within returns a line that the file has: the parser puts what is missing at the end into the line behind it, and
// takes more characters for ends of lines than editors do.
func (d *Document) within(line int) int {
	return min(max(line, 1), 1+bytes.Count(d.text, []byte("\n"))+bytes.Count(d.text, []byte("\r")))
}

// Line returns the line of a key, or of the nearest key around it that is in the file: what is missing has no line.
func (d *Document) Line(key string) int {
	for {
		if line, ok := d.lines[key]; ok || key == "" {
			return max(line, 1)
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
}

// Place puts the place of a key before an error whose text begins with that key and a colon, if the file has the key.
// What comes of a file already has its place.
func (d *Document) Place(err error) error {
	var placed Problems
	if err == nil || errors.As(err, &placed) {
		return err
	}
	key, rule, _ := strings.Cut(err.Error(), ": ")
	if _, has := d.lines[key]; !has {
		return err
	}
	return Problems{{d.name, d.Line(key), key, rule}}
}

// Err returns all that is wrong, nil if nothing is.
func (d *Document) Err() error {
	if len(d.wrong) == 0 {
		return nil
	}
	return d.wrong
}

// A Problem is a rule that a file breaks.
type Problem struct {
	File string
	Line int    // from 1; 0: it is about the file as a whole
	Key  string // the path to it, or ""
	Rule string // what is wrong and what to write instead
}

func (p *Problem) Error() string {
	place := p.File
	switch {
	case p.File == "" && p.Line > 0:
		place = fmt.Sprintf("line %d", p.Line)
	case p.Line > 0:
		place += fmt.Sprintf(":%d", p.Line)
	}
	var parts []string
	for _, part := range []string{place, p.Key, p.Rule} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Problems are all that is wrong with a file, in the order in which it was found.
type Problems []*Problem

// maxProblems is how many of them are worth reading.
const maxProblems = 20

// Error returns a line for each problem.
func (p Problems) Error() string {
	var lines []string
	for _, one := range p[:min(len(p), maxProblems)] {
		lines = append(lines, one.Error())
	}
	if more := len(p) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// InFile names the file in Problems that were found in a text without one.
func InFile(name string, err error) error {
	var wrong Problems
	if errors.As(err, &wrong) {
		for _, p := range wrong {
			p.File = name
		}
		return wrong
	}
	return err
}

// Format returns v as a file would have it.
func Format(v any) ([]byte, error) { return yaml.Dump(v) }

// FromJSON returns a text of JSON in YAML, with the keys in their order.
func FromJSON(text []byte) ([]byte, error) {
	var v yaml.Node
	if err := yaml.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	plainStyle(&v)
	return yaml.Dump(&v)
}

// plainStyle has a node written as YAML is, and not as JSON. Texts stay in quotes: some would be other values without.
func plainStyle(v *yaml.Node) {
	if v.Kind != yaml.ScalarNode {
		v.Style = 0
	}
	for i, part := range v.Content {
		if plainStyle(part); v.Kind == yaml.MappingNode && i%2 == 0 {
			part.Style = 0
		}
	}
}

// Unwrap returns the problems one by one.
func (p Problems) Unwrap() []error {
	list := make([]error, len(p))
	for i, one := range p {
		list[i] = one
	}
	return list
}
