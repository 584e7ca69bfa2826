package node

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/waybill-int/waybill/internal/yamldoc"
)

// Load reads a Config from YAML. What the text leaves out is as in DefaultConfig. An error begins with the line and names
// the key and the rule; there may be several, joined. The first line of text is line 1.
func Load(text []byte) (Config, error) {
	c := DefaultConfig()
	file, err := yamldoc.Parse(text)
	if err != nil {
		return c, located(err)
	}
	if len(file.Docs) > 1 {
		return c, &lineError{yamldoc.Begin(file.Docs[1]), "got a second YAML document, want one"}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return c, nil
	}
	switch root := file.Docs[0].Body.(type) {
	case *ast.CommentGroupNode, *ast.NullNode:
		return c, nil
	case *ast.MappingNode:
		c.Watch, c.Drops, c.Queues = nil, nil, nil
		if err := yamldoc.Decode(root, &c); err != nil {
			return c, located(err)
		}
	default:
		return c, at(root, `want keys and values, for example "mode: md"`)
	}
	c.fill()
	var errs []error
	_, wrong := c.check()
	for _, p := range wrong {
		errs = append(errs, &lineError{lineOf(file, p.place), p.Error()})
	}
	return c, errors.Join(errs...)
}

// fill sets the lists that the file does not have.
func (c *Config) fill() {
	d := DefaultConfig()
	if c.Watch == nil {
		c.Watch = d.Watch
	}
	if c.Drops == nil {
		c.Drops = d.Drops
	}
	if c.Queues == nil {
		c.Queues = d.Queues
	}
	if c.DropEvents != nil && c.DropEvents.Flows == 0 {
		c.DropEvents.Flows = d.Events.Flows
	}
}

// A problem is one rule that a Config breaks. Its place is the path of the key, in the language of YAML paths without the
// leading "$.".
type problem struct{ place, rule string }

func (p *problem) Error() string { return p.place + ": " + p.rule }

// problems collects what is wrong with a Config.
type problems []*problem

func (p *problems) say(place, format string, args ...any) {
	*p = append(*p, &problem{place, fmt.Sprintf(format, args...)})
}

// err returns all problems, nil if there is none.
func (p problems) err() error {
	var errs []error
	for _, one := range p {
		errs = append(errs, one)
	}
	return errors.Join(errs...)
}

// lineOf finds the line of a place, or of the nearest place around it that is in the file: what is missing has no line.
func lineOf(file *ast.File, place string) int {
	for place != "" {
		if path, err := yaml.PathString("$." + place); err == nil {
			if n, err := path.FilterFile(file); err == nil && n != nil {
				return n.GetToken().Position.Line
			}
		}
		place = place[:max(strings.LastIndexAny(place, ".["), 0)]
	}
	return file.Docs[0].Body.GetToken().Position.Line
}

// located turns an error of the YAML library into one with a line.
func located(err error) error {
	var own *lineError
	var theirs yaml.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &theirs) && theirs.GetToken() != nil:
		return &lineError{theirs.GetToken().Position.Line, theirs.GetMessage()}
	}
	return err // of a watchlist, which says its line
}
