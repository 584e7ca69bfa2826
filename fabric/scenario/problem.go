package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/waybill-int/waybill/internal/yamldoc"
)

// A Problem is one rule that a scenario file breaks.
type Problem struct {
	File string
	Line int    // from 1
	Rule string // what is wrong and what is wanted
}

func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Rule) }

// at returns a Problem with the value of a node.
func at(n ast.Node, format string, args ...any) error {
	return &Problem{Line: n.GetToken().Position.Line, Rule: fmt.Sprintf(format, args...)}
}

// located turns an error of the YAML library into a Problem.
func located(file string, err error) error {
	var own *Problem
	if errors.As(err, &own) {
		own.File = file
		return own
	}
	var notPlain *yamldoc.Problem
	if errors.As(err, &notPlain) {
		return &Problem{File: file, Line: notPlain.Line, Rule: notPlain.Rule}
	}
	var theirs yaml.Error
	if errors.As(err, &theirs) {
		return &Problem{File: file, Line: theirs.GetToken().Position.Line, Rule: theirs.GetMessage()}
	}
	return &Problem{File: file, Line: 1, Rule: err.Error()}
}

// A checker collects what is wrong with a scenario that could be read. A place is the path of a value in the file, in the
// language of YAML paths without the leading "$.".
type checker struct {
	name  string
	file  *ast.File
	wrong []error
}

// say reports a broken rule at a place.
func (c *checker) say(place, format string, args ...any) {
	c.wrong = append(c.wrong, &Problem{File: c.name, Line: c.line(place), Rule: place + ": " + fmt.Sprintf(format, args...)})
}

// line finds the line of a place, or of the nearest place around it that is in the file: what is missing has no line.
func (c *checker) line(place string) int {
	for place != "" {
		if path, err := yaml.PathString("$." + place); err == nil {
			if n, err := path.FilterFile(c.file); err == nil && n != nil {
				return n.GetToken().Position.Line
			}
		}
		place = place[:max(strings.LastIndexAny(place, ".["), 0)]
	}
	return 1
}
