package filter

// A test is the right side of a comparison: what a value must be.
type test interface {
	// holds reports whether a value passes.
	holds(v Value, now int64) bool
	// sql writes a condition on a column with a value of f; it may be NULL where the column is.
	sql(w *writer, f *Field, column string)
	// print appends operator and operand, or the operator that means the opposite.
	print(b []byte, negate bool) []byte
}

// An atom compares the values of a field with something: one of them passes a test. With negate it has values and none
// of them passes.
type atom struct {
	field  *Field
	test   test
	negate bool
}

func (a *atom) match(row Row, now int64) bool {
	found := false
	for _, f := range a.field.parts {
		for i := 0; ; i++ {
			v, ok := row.Value(f.index, i)
			if !ok {
				break
			}
			if a.test.holds(v, now) {
				return !a.negate
			}
			found = true
			if !f.Many {
				break
			}
		}
	}
	return found && a.negate
}

func (a *atom) fields(add func(*Field)) { present{field: a.field}.fields(add) }

func (a *atom) sql(w *writer) {
	if a.negate {
		w.write("(")
		present{field: a.field}.sql(w)
		w.write(" AND NOT ")
	}
	parts := a.field.parts
	w.join(" OR ", len(parts), func(i int) { w.some(parts[i], a.test) })
	if a.negate {
		w.write(")")
	}
}

func (a *atom) print(b []byte) []byte {
	return a.test.print(append(append(b, a.field.Name...), ' '), a.negate)
}

func (a *atom) power() int { return powerTerm }

// present holds if a field has a value, or with negate if it has none.
type present struct {
	field  *Field
	negate bool
}

func (p present) match(row Row, _ int64) bool {
	for _, f := range p.field.parts {
		if _, ok := row.Value(f.index, 0); ok {
			return !p.negate
		}
	}
	return p.negate
}

func (p present) fields(add func(*Field)) {
	for _, f := range p.field.parts {
		add(f)
	}
}

func (p present) sql(w *writer) {
	between := " OR "
	if p.negate {
		between = " AND "
	}
	w.join(between, len(p.field.parts), func(i int) { w.present(p.field.parts[i], p.negate) })
}

func (p present) print(b []byte) []byte {
	b = append(b, p.field.Name...)
	if p.negate {
		return append(b, " is null"...)
	}
	return append(b, " is not null"...)
}

func (p present) power() int { return powerTerm }
