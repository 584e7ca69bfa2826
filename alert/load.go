package alert

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/yamldoc"
	"github.com/waybill-int/waybill/telemetry"
)

// Load reads a file of rules; filters may use the names of nodes. The error is one line that begins with the file and the
// line in it.
func Load(name string, nodes map[uint32]string) (*Config, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, err
	}
	c, err := Parse(text, nodes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for output, o := range c.Outputs {
		if _, err := newSender(o); err != nil {
			return nil, fmt.Errorf("%s: output %s: %w", name, output, err)
		}
	}
	return c, nil
}

// Parse reads rules in YAML. It opens no file: whether those of secrets, certificates and commands are there is checked by
// Load and New.
func Parse(text []byte, nodes map[uint32]string) (*Config, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the rules are longer than %d bytes", maxText)
	}
	c := &Config{schema: eventSchema(nodes)}
	file, err := yamldoc.Parse(text)
	if err != nil {
		return nil, located(err)
	}
	if len(file.Docs) > 1 {
		return nil, &yamldoc.Problem{Line: yamldoc.Begin(file.Docs[1]), Rule: "got a second YAML document, want one"}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return c, nil
	}
	switch root := file.Docs[0].Body.(type) {
	case *ast.CommentGroupNode, *ast.NullNode:
		return c, nil
	case *ast.MappingNode:
		if err := yamldoc.Decode(root, c); err != nil {
			return nil, located(err)
		}
	default:
		return nil, at(root, "want keys and values: rules, silences, outputs")
	}
	if p := c.check(); p != nil {
		return nil, &yamldoc.Problem{Line: lineOf(file, p.place), Rule: p.place + ": " + p.rule}
	}
	return c, nil
}

// eventSchema returns the schema of events in which nodes have these names.
func eventSchema(nodes map[uint32]string) *filter.Schema {
	ids := map[string]uint32{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(nodes))) { // of equal names the lowest id wins
		ids[nodes[id]] = id
	}
	return filter.Events.WithNodes(ids)
}

// A problem is a rule that a Config breaks. Its place is the path of a value, in the language of YAML paths without "$.".
type problem struct{ place, rule string }

// check returns the first problem, and completes c.
func (c *Config) check() *problem {
	if len(c.Rules) > maxRules {
		return &problem{"rules", fmt.Sprintf("got %d, want at most %d", len(c.Rules), maxRules)}
	}
	if len(c.Silences) > maxSilences {
		return &problem{"silences", fmt.Sprintf("got %d, want at most %d", len(c.Silences), maxSilences)}
	}
	if len(c.Outputs) > maxOutputs {
		return &problem{"outputs", fmt.Sprintf("got %d, want at most %d", len(c.Outputs), maxOutputs)}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Outputs)) {
		o := c.Outputs[name]
		if !validName.MatchString(name) {
			return &problem{"outputs", "want names of letters, digits, _, . and -, at most 64"}
		}
		if o == nil {
			o = &Output{}
		}
		if err := o.check(); err != nil {
			return &problem{"outputs." + name, err.Error()}
		}
	}
	names := map[string]bool{}
	for i := range c.Rules {
		r := &c.Rules[i]
		if key, err := r.check(c); err != nil {
			return &problem{fmt.Sprintf("rules[%d].%s", i, key), err.Error()}
		}
		if names[r.Name] {
			return &problem{fmt.Sprintf("rules[%d].name", i), "another rule has this name"}
		}
		names[r.Name] = true
	}
	for i := range c.Silences {
		s := &c.Silences[i]
		if key, err := s.check(c.schema); err != nil {
			return &problem{fmt.Sprintf("silences[%d].%s", i, key), err.Error()}
		}
		s.InFile, s.ID = true, fileSilenceID(s)
	}
	return nil
}

var (
	validName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	validLabel = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`) // as Prometheus has them
)

// check returns what is wrong with r, and the key where, and completes it.
func (r *Rule) check(c *Config) (key string, err error) {
	if !validName.MatchString(r.Name) {
		return "name", errors.New("want letters, digits, _, . and -, at most 64")
	}
	if r.matcher, err = matcher(c.schema, r.Filter); err != nil {
		return "filter", err
	}
	if s := telemetry.Severity(0); r.Severity != "" {
		if _ = s.UnmarshalText([]byte(r.Severity)); s.String() != r.Severity {
			return "severity", errors.New("want info, warning or critical")
		}
	}
	if r.ClearAfter != nil && time.Duration(*r.ClearAfter) > 24*time.Hour {
		return "clear_after", errors.New("want at most 24h")
	}
	if repeat := r.repeat(); repeat != 0 && repeat < time.Minute {
		return "repeat", errors.New("want at least 1m, or 0s for once only")
	}
	if len(r.Labels) > maxLabels || len(r.Annotations) > maxLabels {
		return "labels", fmt.Errorf("want at most %d, and as many annotations", maxLabels)
	}
	for name := range r.Labels {
		if !validLabel.MatchString(name) || slices.Contains(eventLabels, name) {
			return "labels", fmt.Errorf("%.70q cannot be a label: want letters, digits and _, and none of %s", name, strings.Join(eventLabels, ", "))
		}
		if len(r.Labels[name]) > maxSummary {
			return "labels." + name, fmt.Errorf("want at most %d bytes", maxSummary)
		}
	}
	if r.Summary == "" {
		r.Summary = defaultSummary
	}
	if r.summary, err = newSummary(r.Summary); err != nil {
		return "summary", err
	}
	r.annotations = map[string]*summary{}
	for name, text := range r.Annotations {
		if !validLabel.MatchString(name) || name == "summary" {
			return "annotations", fmt.Errorf("%.70q cannot be an annotation: want letters, digits and _; summary is a key of its own", name)
		}
		if r.annotations[name], err = newSummary(text); err != nil {
			return "annotations." + name, err
		}
	}
	for i, name := range r.Outputs {
		if c.Outputs[name] == nil {
			return "outputs", fmt.Errorf("there is no output %.70q", name)
		}
		if slices.Contains(r.Outputs[:i], name) {
			return "outputs", fmt.Errorf("%s is there twice", name)
		}
	}
	return "", nil
}

// check returns what is wrong with s, and the key where, and completes it.
func (s *Silence) check(schema *filter.Schema) (key string, err error) {
	if s.matcher, err = matcher(schema, s.Filter); err != nil {
		return "filter", err
	}
	if s.Until.IsZero() {
		return "until", errors.New("want the time when it ends")
	}
	if !s.Until.After(s.From.Time) {
		return "until", errors.New("want a time after from")
	}
	if len(s.Reason) > maxSummary {
		return "reason", fmt.Errorf("want at most %d bytes", maxSummary)
	}
	return "", nil
}

// matcher compiles a filter. One that is empty would select everything, which nobody asks for by leaving it out.
func matcher(schema *filter.Schema, text string) (*filter.Matcher, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("want a filter of events, for example: kind = link_lost")
	}
	e, err := filter.Parse(schema, text)
	if err != nil {
		return nil, err
	}
	return e.Matcher(nil), nil
}

func fileSilenceID(s *Silence) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%d\x00%d", s.Filter, s.From.Unix(), s.Until.Unix())
	return fmt.Sprintf("file-%016x", h.Sum64())
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
	return 1
}

// located turns an error of the YAML library into one with a line. The library would quote the file, with secrets in it.
func located(err error) error {
	var own *yamldoc.Problem
	var theirs yaml.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &theirs) && theirs.GetToken() != nil:
		return &yamldoc.Problem{Line: theirs.GetToken().Position.Line, Rule: theirs.GetMessage()}
	}
	return errors.New("the rules cannot be read as YAML")
}
