package filter

import (
	"slices"
	"time"
)

// An Expr is a filter that was parsed. It does not change and may be used by many goroutines.
type Expr struct {
	schema *Schema
	root   term // nil: holds for every record
	timed  bool // speaks of now
}

// A term is a part of an expression that holds for a record or does not.
type term interface {
	// match reports whether it holds for row; now is in nanoseconds since 1970.
	match(row Row, now int64) bool
	// sql writes a condition that is never NULL.
	sql(w *writer)
	// print appends the canonical form.
	print(b []byte) []byte
	// power is how tightly the canonical form binds.
	power() int
	// about reports whether it asks for no other fields than those for which known is true.
	about(known func(*Field) bool) bool
}

// Powers of the operators; the higher one binds tighter.
const (
	powerOr = iota + 1
	powerAnd
	powerNot
	powerTerm // comparisons
)

// Schema returns the schema that e was parsed against.
func (e *Expr) Schema() *Schema { return e.schema }

// String returns the canonical form, which parses back to the same expression. It is empty if e holds for every record.
func (e *Expr) String() string {
	if e.root == nil {
		return ""
	}
	return string(e.root.print(nil))
}

// SQL returns e as a condition for WHERE, and the values for its question marks, in order: int64, float64, string or
// bool. The condition consists of columns of the schema and of SQL words; all that the user wrote is among the values.
// It is TRUE or FALSE, never NULL. now is what the filter means by it.
//
// A number above the largest int64 is given as decimal text, since database/sql takes no such integer; the condition
// casts it (Field.Bind).
func (e *Expr) SQL(now time.Time) (condition string, values []any) {
	if e.root == nil {
		return "TRUE", nil
	}
	w := writer{now: now.UnixNano(), names: e.schema.names}
	e.root.sql(&w)
	return w.text.String(), w.values
}

// On returns the part of e that asks for no other fields than these: what e holds for, it holds for too. It is for
// records of which making the others takes long.
func (e *Expr) On(fields ...string) *Expr {
	known := func(f *Field) bool { return slices.Contains(fields, f.Name) }
	terms := []term{e.root}
	if j, ok := e.root.(*junction); ok && !j.or {
		terms = j.terms
	}
	part := &Expr{schema: e.schema, timed: e.timed}
	terms = slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return t == nil || !t.about(known) })
	switch len(terms) {
	case 0:
	case 1:
		part.root = terms[0]
	default:
		part.root = &junction{terms: terms}
	}
	return part
}

// Matcher returns a Matcher for e. clock tells what "now" is, by default time.Now; it is asked once for a match, and
// only if e speaks of now.
func (e *Expr) Matcher(clock func() time.Time) *Matcher {
	if clock == nil {
		clock = time.Now
	}
	return &Matcher{root: e.root, timed: e.timed, clock: clock}
}

// A Matcher tells which records a filter selects. It may be used by many goroutines if its clock may.
type Matcher struct {
	root  term
	timed bool
	clock func() time.Time
}

// Match reports whether the filter holds for row. It does not allocate.
func (m *Matcher) Match(row Row) bool {
	if m.root == nil {
		return true
	}
	var now int64
	if m.timed {
		now = m.clock().UnixNano()
	}
	return m.root.match(row, now)
}
