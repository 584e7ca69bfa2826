package alert

import (
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/yamldoc"
)

// A Duration is a time as filters have it: 30s, 4h, 1m30s, 7d. It is not negative.
type Duration time.Duration

// UnmarshalYAML reads a Duration.
func (d *Duration) UnmarshalYAML(n ast.Node) error {
	const want = "a duration such as 30s or 4h"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	v, err := filter.ParseDuration(text)
	if err != nil {
		return at(n, "want "+want)
	}
	*d = Duration(v)
	return nil
}

// or returns d, or otherwise if there is none.
func (d *Duration) or(otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return time.Duration(*d)
}

// A Time is a moment as RFC 3339 writes it.
type Time struct{ time.Time }

// UnmarshalYAML reads a Time.
func (v *Time) UnmarshalYAML(n ast.Node) error {
	const want = "a time such as 2026-12-24T18:00:00Z"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	if v.Time, err = time.Parse(time.RFC3339, text); err != nil {
		return at(n, "want "+want)
	}
	return nil
}

// scalar returns the text of a value that is neither a list nor a map. Messages do not repeat it: it may be a secret that is
// in the wrong line.
func scalar(n ast.Node, want string) (string, error) {
	if _, ok := n.(ast.ScalarNode); !ok {
		return "", at(n, "got a "+strings.ToLower(n.Type().String())+", want "+want)
	}
	return n.GetToken().Value, nil
}

// at returns a Problem with the value of a node.
func at(n ast.Node, rule string) error {
	return &yamldoc.Problem{Line: n.GetToken().Position.Line, Rule: rule}
}
