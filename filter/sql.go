package filter

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A writer collects the SQL of an expression.
type writer struct {
	text   strings.Builder
	values []any
	now    int64
	names  map[uint32]string // of nodes
	Dialect
}

func (w *writer) write(parts ...string) {
	for _, p := range parts {
		w.text.WriteString(p)
	}
}

// list writes n parts in brackets.
func (w *writer) list(between string, n int, part func(i int)) {
	w.write("(")
	for i := range n {
		if i > 0 {
			w.write(between)
		}
		part(i)
	}
	w.write(")")
}

// join writes n parts, in brackets if there are several.
func (w *writer) join(between string, n int, part func(i int)) {
	if n == 1 {
		part(0)
		return
	}
	w.list(between, n, part)
}

// bind writes a question mark for a value of f.
func (w *writer) bind(f *Field, v Value) { w.write(w.bound(f, v)) }

// bound notes a value of f, and returns a question mark for it.
func (w *writer) bound(f *Field, v Value) string {
	w.values = append(w.values, bound(f.Kind, v))
	return w.Dialect.bind(f.Kind)
}

// bound returns a value in a type that database/sql takes.
func bound(k Kind, v Value) any {
	switch k {
	case Float, Ratio:
		return math.Float64frombits(v.lo)
	case Duration, Time:
		return int64(v.lo)
	case Text:
		return v.text
	case Bool:
		return v.lo != 0
	}
	if v.lo > math.MaxInt64 {
		return strconv.FormatUint(v.lo, 10)
	}
	return int64(v.lo)
}

// Columns returns the columns of which the values of f are made in SQL.
func (f *Field) Columns() []string {
	if f.Reads != nil {
		return f.Reads
	}
	return f.columns()
}

// columns returns the columns of f, or its expression, that are NULL where it is absent.
func (f *Field) columns() []string {
	if f.Kind == Address {
		return []string{f.Column + "_hi", f.Column + "_lo"}
	}
	return []string{f.Column}
}

// present writes that f, which is not of Any, has a value, or that it has none.
func (w *writer) present(f *Field, absent bool) {
	switch {
	case f.nameOf != nil:
		w.named(f, absent, func(string) bool { return true })
	case f.Many && absent:
		w.write(fill(dialects[w.Dialect].length, f.Column, ""), " = 0")
	case f.Many:
		w.write(fill(dialects[w.Dialect].length, f.Column, ""), " > 0")
	case absent:
		w.write(f.columns()[0], " IS NULL")
	default:
		w.write(f.columns()[0], " IS NOT NULL")
	}
}

// some writes that some value of f, which is not of Any, passes a test. It is never NULL: NULL AND FALSE is FALSE.
func (w *writer) some(f *Field, t test) {
	if f.nameOf != nil {
		w.named(f, false, func(name string) bool { return t.holds(FromText(name), w.now) })
		return
	}
	if !f.Many {
		w.write("(")
		t.sql(w, f, f.Column)
		w.write(" AND ")
		w.present(f, false)
		w.write(")")
		return
	}
	if c, ok := t.(*comparison); ok && c.op == equal {
		w.write(fill(dialects[w.Dialect].contains, f.Column, w.bound(f, c.operand.at(w.now))))
		return
	}
	w.write(fill(dialects[w.Dialect].some, f.Column, ""))
	t.sql(w, f, "v")
	w.write(fill(dialects[w.Dialect].someEnd, f.Column, ""))
}

// named writes that the node whose name f is has a name that passes, or that it has none. It is never NULL.
func (w *writer) named(f *Field, absent bool, passes func(name string) bool) {
	var ids []uint32
	for _, id := range slices.Sorted(maps.Keys(w.names)) {
		if name := w.names[id]; name != "" && passes(name) {
			ids = append(ids, id)
		}
	}
	if absent {
		w.write("NOT ")
	}
	if len(ids) == 0 {
		w.write("FALSE")
		return
	}
	node := f.nameOf
	w.write("(", node.Column, " IS NOT NULL AND ", node.Column, " IN ")
	w.list(", ", len(ids), func(i int) { w.bind(node, FromUint(uint64(ids[i]))) })
	w.write(")")
}
