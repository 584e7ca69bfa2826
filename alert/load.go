package alert

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/telemetry"
)

// kind is how files of rules are read: they hold secrets.
var kind = conf.Kind{Limit: maxText, Secret: true}

// Load reads a file of rules; filters may use the names of nodes. The error tells all that is wrong, with its line.
func Load(name string, nodes map[uint32]string) (*Config, error) {
	text, err := kind.Read(name)
	if err != nil {
		return nil, err
	}
	c, file, err := read(name, text, nodes)
	if err != nil {
		return nil, err
	}
	for _, output := range slices.Sorted(maps.Keys(c.Outputs)) {
		if o := c.Outputs[output]; o == nil || o.check() != nil {
			continue // which was said
		} else if _, err := newSender(o); err != nil {
			file.Say("outputs."+output, "%s", err)
		}
	}
	return c, file.Err()
}

func read(name string, text []byte, nodes map[uint32]string) (*Config, *conf.Document, error) {
	c := &Config{schema: eventSchema(nodes)}
	file, err := kind.Parse(name, text, c)
	if err != nil && !file.IsRead() {
		return nil, nil, err
	}
	c.check(file)
	return c, file, nil
}

// eventSchema returns the schema of events in which nodes have these names.
func eventSchema(nodes map[uint32]string) *filter.Schema {
	ids := map[string]uint32{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(nodes))) { // of equal names the lowest id wins
		ids[nodes[id]] = id
	}
	return filter.Events.WithNodes(ids)
}

// check says what is wrong with c, and completes it.
func (c *Config) check(file *conf.Document) {
	for _, list := range []struct {
		key       string
		got, most int
	}{
		{"rules", len(c.Rules), maxRules},
		{"silences", len(c.Silences), maxSilences},
		{"outputs", len(c.Outputs), maxOutputs},
	} {
		if list.got > list.most {
			file.Say(list.key, "got %d, want at most %d", list.got, list.most)
			return
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Outputs)) {
		o := c.Outputs[name]
		if !validName.MatchString(name) {
			file.Say("outputs", "want names of letters, digits, _, . and -, at most 64")
		}
		if o == nil {
			o = &Output{}
		}
		if err := o.check(); err != nil {
			file.Say("outputs."+name, "%s", err)
		}
	}
	names := map[string]bool{}
	for i := range c.Rules {
		r := &c.Rules[i]
		r.check(c, func(key string, err error) { file.Say(fmt.Sprintf("rules[%d].%s", i, key), "%s", err) })
		if names[r.Name] {
			file.Say(fmt.Sprintf("rules[%d].name", i), "another rule has this name")
		}
		names[r.Name] = true
	}
	for i := range c.Silences {
		s := &c.Silences[i]
		if key, err := s.check(c.schema); err != nil {
			file.Say(fmt.Sprintf("silences[%d].%s", i, key), "%s", err)
		}
		s.InFile, s.ID = true, fileSilenceID(s)
	}
}

var (
	validName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	validLabel = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`) // as Prometheus has them
)

// check says all that is wrong with r, with the keys where, and completes it.
func (r *Rule) check(c *Config, say func(key string, err error)) {
	var err error
	if !validName.MatchString(r.Name) {
		say("name", errors.New("want letters, digits, _, . and -, at most 64"))
	}
	if r.matcher, err = matcher(c.schema, r.Filter); err != nil {
		say("filter", err)
	}
	if s := telemetry.Severity(0); r.Severity != "" {
		if _ = s.UnmarshalText([]byte(r.Severity)); s.String() != r.Severity {
			say("severity", errors.New("want info, warning or critical"))
		}
	}
	if r.ClearAfter != nil && time.Duration(*r.ClearAfter) > 24*time.Hour {
		say("clear_after", errors.New("want at most 24h"))
	}
	if repeat := r.repeat(); repeat != 0 && repeat < time.Minute {
		say("repeat", errors.New("want at least 1m, or 0s for once only"))
	}
	if len(r.Labels) > maxLabels || len(r.Annotations) > maxLabels {
		say("labels", fmt.Errorf("want at most %d, and as many annotations", maxLabels))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		if !validLabel.MatchString(name) || slices.Contains(eventLabels, name) {
			say("labels", fmt.Errorf("%.70q cannot be a label: want letters, digits and _, and none of %s", name,
				strings.Join(eventLabels, ", ")))
		} else if len(r.Labels[name]) > maxSummary {
			say("labels."+name, fmt.Errorf("want at most %d bytes", maxSummary))
		}
	}
	if r.Summary == "" {
		r.Summary = defaultSummary
	}
	if r.summary, err = newSummary(r.Summary); err != nil {
		say("summary", err)
	}
	r.annotations = map[string]*summary{}
	for _, name := range slices.Sorted(maps.Keys(r.Annotations)) {
		if !validLabel.MatchString(name) || name == "summary" {
			say("annotations",
				fmt.Errorf("%.70q cannot be an annotation: want letters, digits and _; summary is a key of its own",
					name))
		} else if r.annotations[name], err = newSummary(r.Annotations[name]); err != nil {
			say("annotations."+name, err)
		}
	}
	for i, name := range r.Outputs {
		if _, there := c.Outputs[name]; !there {
			say("outputs", fmt.Errorf("there is no output %.70q", name))
		} else if slices.Contains(r.Outputs[:i], name) {
			say("outputs", fmt.Errorf("%s is there twice", name))
		}
	}
}

// check returns what is wrong with s, and the key where, and completes it.
func (s *Silence) check(schema *filter.Schema) (key string, err error) {
	if s.matcher, err = matcher(schema, s.Filter); err != nil {
		return "filter", err
	}
	switch {
	case s.For != 0 && !s.Until.IsZero():
		return "for", errors.New("want for or until, and not both")
	case s.For != 0 && s.From.IsZero():
		return "for", errors.New("want the time when it begins in from, or until instead")
	case s.For != 0:
		s.Until = s.From.Add(time.Duration(s.For))
	case s.Until.IsZero():
		return "until", errors.New("want the time when it ends, or for: how long it lasts")
	}
	if !s.Until.After(s.From) {
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
