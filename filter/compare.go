package filter

import "slices"

// An operator compares two values by their order.
type operator uint8

const (
	equal operator = iota
	notEqual
	less
	lessOrEqual
	greater
	greaterOrEqual
)

var operators = [...]string{"=", "!=", "<", "<=", ">", ">="}

// operatorOf returns the operator of that sign.
func operatorOf(sign string) (operator, bool) {
	i := slices.Index(operators[:], sign)
	return operator(max(i, 0)), i >= 0
}

// holds reports whether a op b, from the comparison of a with b.
func (o operator) holds(order int) bool {
	switch o {
	case equal:
		return order == 0
	case notEqual:
		return order != 0
	case less:
		return order < 0
	case lessOrEqual:
		return order <= 0
	case greater:
		return order > 0
	}
	return order >= 0
}

// sql is the operator in SQL.
func (o operator) sql() string {
	if o == notEqual {
		return " <> "
	}
	return " " + operators[o] + " "
}

// A comparison passes values by their order with an operand. The operator is not notEqual, that is an atom with negate.
type comparison struct {
	kind    Kind
	op      operator
	operand literal
}

func (c *comparison) holds(v Value, now int64) bool {
	return c.op.holds(c.kind.compare(v, c.operand.at(now)))
}

func (c *comparison) sql(w *writer, f *Field, column string) {
	w.write(column, c.op.sql())
	w.bind(f, c.operand.at(w.now))
}

func (c *comparison) print(b []byte, negate bool) []byte {
	op := c.op
	if negate {
		op = notEqual
	}
	return append(append(append(b, operators[op]...), ' '), c.operand.text...)
}

// A pair compares two fields, each of one value. It is false if one is absent.
type pair struct {
	left, right *Field
	op          operator
}

func (p *pair) match(row Row, _ int64) bool {
	a, ok := row.Value(p.left.index, 0)
	if !ok {
		return false
	}
	b, ok := row.Value(p.right.index, 0)
	return ok && p.op.holds(p.left.Kind.compare(a, b))
}

func (p *pair) fields(add func(*Field)) {
	add(p.left)
	add(p.right)
}

func (p *pair) sql(w *writer) {
	between := " AND "
	if p.op == notEqual {
		between = " OR "
	}
	left, right := p.left.columns(), p.right.columns()
	w.write("(")
	w.join(between, len(left), func(i int) { w.write(left[i], p.op.sql(), right[i]) })
	w.write(" AND ")
	w.present(p.left, false)
	w.write(" AND ")
	w.present(p.right, false)
	w.write(")")
}

func (p *pair) print(b []byte) []byte {
	return append(append(b, p.left.Name+" "+operators[p.op]+" "...), p.right.Name...)
}

func (p *pair) power() int { return powerTerm }
