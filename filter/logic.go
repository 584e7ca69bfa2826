package filter

// A junction holds if all of its terms hold (and), or if any does (or). There are at least two.
type junction struct {
	or    bool
	terms []term
}

// join makes a junction of two terms; terms that are such junctions themselves are taken apart.
func join(or bool, left, right term) term {
	var terms []term
	for _, t := range []term{left, right} {
		if j, ok := t.(*junction); ok && j.or == or {
			terms = append(terms, j.terms...)
		} else {
			terms = append(terms, t)
		}
	}
	return &junction{or, terms}
}

func (j *junction) match(row Row, now int64) bool {
	for _, t := range j.terms {
		if t.match(row, now) == j.or {
			return j.or
		}
	}
	return !j.or
}

func (j *junction) fields(add func(*Field)) {
	for _, t := range j.terms {
		t.fields(add)
	}
}

func (j *junction) sql(w *writer) {
	w.list(j.word(true), len(j.terms), func(i int) { j.terms[i].sql(w) })
}

func (j *junction) print(b []byte) []byte {
	for i, t := range j.terms {
		if i > 0 {
			b = append(b, j.word(false)...)
		}
		b = printInside(b, t, j.power())
	}
	return b
}

func (j *junction) power() int {
	if j.or {
		return powerOr
	}
	return powerAnd
}

func (j *junction) word(upper bool) string {
	words := [...]string{" and ", " or ", " AND ", " OR "}
	i := 0
	if j.or {
		i++
	}
	if upper {
		i += 2
	}
	return words[i]
}

// A negation holds if its term does not.
type negation struct{ term term }

func (n *negation) match(row Row, now int64) bool { return !n.term.match(row, now) }

func (n *negation) fields(add func(*Field)) { n.term.fields(add) }

func (n *negation) sql(w *writer) {
	w.write("NOT ")
	n.term.sql(w)
}

func (n *negation) print(b []byte) []byte {
	return printInside(append(b, "not "...), n.term, powerNot-1)
}

func (n *negation) power() int { return powerNot }

// printInside prints t, in brackets unless it binds tighter than what is around it.
func printInside(b []byte, t term, around int) []byte {
	if t.power() > around {
		return t.print(b)
	}
	return append(t.print(append(b, '(')), ')')
}

// printList appends texts in brackets, or the only one as it is if it is bare.
func printList(b []byte, bare bool, texts []string) []byte {
	if bare && len(texts) == 1 {
		return append(b, texts[0]...)
	}
	b = append(b, '(')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, text...)
	}
	return append(b, ')')
}
