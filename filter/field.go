package filter

import (
	"slices"
	"strings"
)

// A Field is something that a filter can ask about.
type Field struct {
	Name    string   // lower case, with dots: "hop.latency"
	Aliases []string // other names of the same
	// Elsewhere are the names in the API and in a store. They are understood where no field has such a name.
	Elsewhere []string
	Kind      Kind
	Unit      string // of numbers, for people: "bytes"
	Doc       string // one sentence, without a full stop
	// Column is an SQL expression, by default Name with _ for each dot. Of an address, "_hi" and "_lo" are appended to
	// it.
	Column string
	// Reads are the columns in Column, where that is more than a name.
	Reads []string
	// Live says what to ask instead about a time range, where a store does not keep the field; see Schema.Kept.
	Live string
	// Many says that a record has any number of values. Not for addresses.
	Many bool
	// Any makes the field stand for each of these others of the same Kind. It has no column of its own.
	Any []string
	// NameOf makes a Text the name of the node in another field. A store has the numbers of nodes only, since names may
	// change: in SQL the field stands for the nodes that have such names (Schema.WithNames), and has no column of its
	// own.
	NameOf string
	// Choices are the values of an Enum.
	Choices []Choice
	// Ordered says that choices can be compared by their numbers with < and >.
	Ordered bool

	index  int
	nameOf *Field   // that of NameOf; nil if there is none
	parts  []*Field // those of Any; otherwise the field itself
}

// A Choice is a value of an Enum.
type Choice struct {
	Name   string // lower case
	Number uint64
	Doc    string // one sentence, without a full stop; may be missing
}

// Index is the number of the field in its Schema, from 0, for Row.
func (f *Field) Index() int { return f.index }

// several reports whether a record can have more than one value of f.
func (f *Field) several() bool { return f.Many || len(f.Any) > 0 }

// operators returns what can stand behind f, in the order of the reference.
func (f *Field) operators() []string {
	ops := []string{"=", "!="}
	if f.Kind.ordered() || f.Ordered {
		ops = append(ops, "<", "<=", ">", ">=")
	}
	if f.Kind != Bool && f.Kind != Time {
		ops = append(ops, "in", "not in")
	}
	if f.Kind == Text {
		ops = append(ops, "like", "not like", "~", "!~")
	}
	return append(ops, "is null", "is not null")
}

// negated returns what can stand behind f and not.
func (f *Field) negated() []string {
	var ops []string
	for _, op := range f.operators() {
		if op, ok := strings.CutPrefix(op, "not "); ok {
			ops = append(ops, op)
		}
	}
	return ops
}

// takes reports whether an operator of the canonical form can stand behind f.
func (f *Field) takes(op string) bool { return slices.Contains(f.operators(), op) }

// choice returns the choice with that name or number.
func (f *Field) choice(match func(c *Choice) bool) (*Choice, bool) {
	i := slices.IndexFunc(f.Choices, func(c Choice) bool { return match(&c) })
	if i < 0 {
		return nil, false
	}
	return &f.Choices[i], true
}

// comparable reports whether f = g makes sense.
func (f *Field) comparable(g *Field) bool {
	return f.Kind == g.Kind && slices.EqualFunc(f.Choices, g.Choices, func(a, b Choice) bool {
		return a.Name == b.Name && a.Number == b.Number
	})
}
