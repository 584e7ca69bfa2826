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
	// fields passes those that it asks about; what stands for others is not among them, but these are.
	fields(add func(*Field))
	// sql writes a condition that is never NULL.
	sql(w *writer)
	// print appends the canonical form.
	print(b []byte) []byte
	// power is how tightly the canonical form binds.
	power() int
}

// Powers of the operators; the higher one binds tighter.
const (
	powerOr = iota + 1
	powerAnd
	powerNot
	powerTerm // comparisons
)

// Fields returns the fields that e asks about, each once: those that Any stands for instead of itself, and the node
// instead of its name.
func (e *Expr) Fields() []*Field {
	var fields []*Field
	if e.root != nil {
		e.root.fields(func(f *Field) {
			if f.nameOf != nil {
				f = f.nameOf
			}
			if !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		})
	}
	return fields
}

// Columns returns the columns that the condition of SQL speaks of.
func (e *Expr) Columns() (columns []string) {
	for _, f := range e.Fields() {
		columns = append(columns, f.Columns()...)
	}
	return columns
}

// String returns the canonical form, which parses back to the same expression. It is empty if e holds for every record.
func (e *Expr) String() string {
	if e.root == nil {
		return ""
	}
	return string(e.root.print(nil))
}

// SQL returns e as a condition for WHERE in the SQL of an engine, and the values for its question marks, in order:
// int64, float64, string or bool. The condition consists of columns of the schema and of SQL words; all that the user
// wrote is among the values. It is TRUE or FALSE, never NULL. now is what the filter means by it.
//
// A number above the largest int64 is given as decimal text, since database/sql takes no such integer; the condition
// casts it.
func (e *Expr) SQL(d Dialect, now time.Time) (condition string, values []any) {
	if e.root == nil {
		return "TRUE", nil
	}
	w := writer{now: now.UnixNano(), names: e.schema.names, Dialect: d}
	e.root.sql(&w)
	return w.text.String(), w.values
}

// On returns the part of e that asks for no other fields than these: what e holds for, it holds for too. It is for
// records of which making the others takes long.
func (e *Expr) On(fields ...string) *Expr {
	about := func(t term) bool {
		known := true
		t.fields(func(f *Field) { known = known && slices.Contains(fields, f.Name) })
		return known
	}
	terms := []term{e.root}
	if j, ok := e.root.(*junction); ok && !j.or {
		terms = j.terms
	}
	part := &Expr{schema: e.schema, timed: e.timed}
	terms = slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return t == nil || !about(t) })
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
