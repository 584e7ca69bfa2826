package filter

import (
	"strconv"

	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// operand reads a comparison, a negation or an expression in brackets.
func (p *parser) operand() (term, *Error) {
	p.want(wantOperand, nil)
	p.depth++
	defer func() { p.depth-- }()
	t := p.peek()
	switch {
	case p.depth > maxDepth:
		return nil, p.fail(t, "more than "+strconv.Itoa(maxDepth)+" brackets or not inside each other")
	case p.take("("):
		inner, err := p.expression(0)
		if err == nil {
			err = p.closing(t, "and", "or")
		}
		return inner, err
	case p.take("not"):
		inner, err := p.expression(powerNot)
		return &negation{inner}, err
	case p.take("exists"):
		return p.exists()
	}
	f, err := p.field()
	if err != nil {
		return nil, err
	}
	return p.behind(f)
}

// closing takes the bracket that belongs to opening; instead of it, others could stand there.
func (p *parser) closing(opening token, others ...string) *Error {
	p.want(wantClosing, nil)
	if p.take(")") {
		return nil
	}
	if p.peek().kind == tokenEnd {
		return p.fail(opening, "the bracket is not closed")
	}
	return p.unexpected(p.peek(), append(others, ")")...)
}

// field takes the name of a field.
func (p *parser) field() (*Field, *Error) {
	p.want(wantField, nil)
	t := p.peek()
	if t.kind != tokenWord || isKeyword(t.text) {
		return nil, p.unexpected(t, "a field")
	}
	f, ok := p.schema.Find(t.text)
	if !ok {
		if err := p.gone(t); err != nil {
			return nil, err
		}
		err := p.fail(t, p.schema.name+" have no field "+shorten(t.text))
		err.Suggestion = Nearest(t.text, p.schema.spelled())
		return nil, err
	}
	p.next()
	return f, nil
}

// gone returns the error that t is a field that Schema.Without took away, or nil.
func (p *parser) gone(t token) *Error {
	ask, gone := p.schema.gone[catalogue.Alike(t.text)]
	if !gone || t.kind != tokenWord {
		return nil
	}
	return p.fail(t, p.schema.name+" of a time range have no field "+t.text+": "+ask)
}

// exists reads the field behind exists, with or without brackets.
func (p *parser) exists() (term, *Error) {
	opening := p.peek()
	brackets := p.take("(")
	f, err := p.field()
	if err == nil && brackets {
		err = p.closing(opening)
	}
	return present{field: f}, err
}

// behind reads the operator behind f and what it compares f with.
func (p *parser) behind(f *Field) (term, *Error) {
	p.want(wantOperator, f)
	t := p.peek()
	if op, ok := operatorOf(t.text); ok && t.kind == tokenSign {
		p.next()
		if !f.takes(t.text) {
			return nil, p.misplaced(t, t.text, f)
		}
		return p.compare(f, op, t)
	}
	negate := p.take("not")
	word := p.peek()
	switch {
	case p.take("in"):
		if !f.takes("in") {
			return nil, p.misplaced(word, "in", f)
		}
		return p.in(f, negate)
	case word.is("like"), !negate && (word.is("~") || word.is("!~")):
		p.next()
		if !f.takes("like") {
			return nil, p.misplaced(word, word.text, f)
		}
		return p.pattern(f, word, negate != word.is("!~"))
	case negate && len(f.negated()) > 0:
		p.want(wantNegated, f)
		return nil, p.unexpected(word, f.negated()...)
	case negate:
		return nil, p.misplaced(t, "not", f)
	case p.take("is"):
		p.want(wantIs, nil)
		if negate = p.take("not"); negate {
			p.want(wantNull, nil)
		}
		if !p.take("null") {
			return nil, p.unexpected(p.peek(), "null", "not null")
		}
		return present{field: f, negate: !negate}, nil
	case f.Kind == Bool && (word.kind == tokenEnd || word.is(")") || word.is("and") || word.is("or")):
		return &atom{field: f, test: &comparison{Bool, equal, literal{FromBool(true), "true", false}}}, nil
	}
	return nil, p.unexpected(t, f.operators()...)
}

// misplaced returns the error that f does not take an operator.
func (p *parser) misplaced(t token, op string, f *Field) *Error {
	err := p.fail(t, f.Name+" is "+kinds[f.Kind].indefinite+", which does not take "+op)
	err.Expected = f.operators()
	return err
}
