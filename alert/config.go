package alert

import (
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// Limits of a file of rules.
const (
	maxRules    = 256
	maxOutputs  = 16
	maxSilences = 256 // those of the file, and those of the API
	maxLabels   = 32  // of a rule; as many annotations
	maxText     = 1 << 20
)

// A Config is what a file of rules says. Parse makes it.
type Config struct {
	Rules    []Rule             `yaml:"rules"`
	Silences []Silence          `yaml:"silences"`
	Outputs  map[string]*Output `yaml:"outputs"`

	schema *filter.Schema // of events, with the names of nodes
}

// A Rule says which events are alerts, and who is told.
type Rule struct {
	Name        string            `yaml:"name"`
	Filter      string            `yaml:"filter"`
	For         unit.Duration     `yaml:"for"`         // how long it must go on before it fires
	ClearAfter  *unit.Duration    `yaml:"clear_after"` // how long it must be over before it is resolved
	Repeat      *unit.Duration    `yaml:"repeat"`      // how often a firing alert is told of again; 0: once only
	Severity    string            `yaml:"severity"`    // empty: that of the event
	Causes      bool              `yaml:"causes"`      // of an incident its cause only, with the text of the incident
	Labels      map[string]string `yaml:"labels"`
	Summary     string            `yaml:"summary"`     // a template
	Annotations map[string]string `yaml:"annotations"` // templates
	Outputs     []string          `yaml:"outputs"`

	matcher     *filter.Matcher
	summary     *summary
	annotations map[string]*summary
}

// What a rule has that does not say otherwise.
const (
	defaultClearAfter = time.Minute
	defaultRepeat     = 4 * time.Hour
	defaultSummary    = "{{.Text}}"
)

func (r *Rule) clearAfter() time.Duration { return or(r.ClearAfter, defaultClearAfter) }

func (r *Rule) repeat() time.Duration { return or(r.Repeat, defaultRepeat) }

// or returns a duration of the file, or otherwise if there is none.
func or(d *unit.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return time.Duration(*d)
}

// severity is how bad an alert about e is.
func (r *Rule) severity(e *telemetry.Event) telemetry.Severity {
	if r.Severity == "" {
		return e.Severity
	}
	var s telemetry.Severity
	_ = s.UnmarshalText([]byte(r.Severity)) // checked by Load
	return s
}

// A Silence keeps alerts about the events that it selects from being delivered, for a time.
type Silence struct {
	ID     string    `json:"id" yaml:"-"`
	Filter string    `json:"filter" yaml:"filter"`
	From   time.Time `json:"from,omitzero" yaml:"from"`
	Until  time.Time `json:"until" yaml:"until"`
	// instead of Until, how long it lasts
	For    unit.Duration `json:"-" yaml:"for"`
	Reason string        `json:"reason" yaml:"reason"`
	InFile bool          `json:"in_file" yaml:"-"`

	matcher *filter.Matcher
}

// holds reports whether s keeps an alert about e silent at that time.
func (s *Silence) holds(e *telemetry.Event, at time.Time) bool {
	return !at.Before(s.From) && at.Before(s.Until) && s.matcher.Match(filter.EventRow{Event: e})
}
