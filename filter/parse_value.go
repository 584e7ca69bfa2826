package filter

// compare reads the value or field behind an operator, which is sign.
func (p *parser) compare(f *Field, op operator, sign token) (term, *Error) {
	p.want(wantValue, f)
	t := p.peek()
	if g := p.schema.byName[t.text]; g != nil && t.kind == tokenWord {
		p.next()
		return p.pair(f, op, g, t)
	}
	if err := p.gone(t); err != nil && f.Kind != Text && f.Kind != Node {
		return nil, err // of those two, it may be a value
	}
	negate := op == notEqual
	if negate {
		op = equal
	}
	if f.Kind == Address {
		return p.address(f, negate, sign)
	}
	value, err := p.literal(f)
	return &atom{f, &comparison{f.Kind, op, value}, negate}, err
}

// pair compares two fields; t is the second.
func (p *parser) pair(f *Field, op operator, g *Field, t token) (term, *Error) {
	var err *Error
	switch {
	case !f.comparable(g):
		err = p.fail(t, f.Name+" is "+kinds[f.Kind].indefinite+", which the field "+g.Name+" is not")
		if f.Kind == g.Kind {
			err = p.fail(t, f.Name+" and the field "+g.Name+" have different choices")
		}
	case f.nameOf != nil || g.nameOf != nil:
		err = p.fail(t, "the name of a node cannot be compared with a field")
	case f.several() || g.several():
		err = p.fail(t, "fields of several values cannot be compared with fields")
	default:
		return &pair{f, g, op}, nil
	}
	if f.Kind == Text || f.Kind == Node {
		err.Suggestion = quoted(t.text)
	}
	return nil, err
}

// address reads the address behind = or !=.
func (p *parser) address(f *Field, negate bool, sign token) (term, *Error) {
	t, err := p.value(f)
	if err != nil {
		return nil, err
	}
	prefix, text, wrong := readPrefix(t.text)
	switch {
	case wrong != "":
		return nil, p.fail(t, expected(Address, t.text))
	case !prefix.IsSingleIP():
		err := p.fail(token{start: sign.start, end: t.end}, "a prefix needs in")
		err.Suggestion = not(negate, "in ") + text
		return nil, err
	}
	return &atom{f, &within{blocks(prefix), []string{text}, true}, negate}, nil
}

// in reads what is behind in: a list, or an address or prefix without brackets.
func (p *parser) in(f *Field, negate bool) (term, *Error) {
	p.want(wantList, f)
	opening := p.peek()
	brackets := p.take("(")
	if !brackets && f.Kind != Address {
		return nil, p.unexpected(opening, "( and a list of values")
	}
	addresses, values := &within{}, []literal{}
	for more := true; more; {
		p.want(wantItem, f)
		var err *Error
		if f.Kind == Address {
			err = p.prefix(f, addresses)
		} else {
			var l literal
			l, err = p.listed(f)
			values = append(values, l)
		}
		if err != nil {
			return nil, err
		}
		if brackets {
			p.want(wantMore, nil)
		}
		more = brackets && p.take(",")
	}
	if brackets {
		if err := p.closing(opening, ","); err != nil {
			return nil, err
		}
	}
	if f.Kind == Address {
		return &atom{f, addresses, negate}, nil
	}
	return &atom{f, newMember(values), negate}, nil
}

// listed reads a value of a list, where a bare word cannot be a field.
func (p *parser) listed(f *Field) (literal, *Error) {
	t := p.peek()
	if g := p.schema.byName[t.text]; g != nil && t.kind == tokenWord {
		err := p.fail(t, "a list has values, and "+t.text+" is a field")
		if f.Kind == Text || f.Kind == Node {
			err.Suggestion = quoted(t.text)
		}
		return literal{}, err
	}
	return p.literal(f)
}

// prefix reads an address or a prefix of a list.
func (p *parser) prefix(f *Field, list *within) *Error {
	t, err := p.value(f)
	if err != nil {
		return err
	}
	prefix, text, wrong := readPrefix(t.text)
	if wrong != "" {
		return p.fail(t, wrong)
	}
	list.blocks = append(list.blocks, blocks(prefix)...)
	list.texts = append(list.texts, text)
	return nil
}

// pattern reads the text behind like, ~ or !~.
func (p *parser) pattern(f *Field, word token, negate bool) (term, *Error) {
	p.want(wantPattern, f)
	t, err := p.value(f)
	if err != nil {
		return nil, err
	}
	if word.is("like") {
		l, ok := newLike(t.text)
		if !ok {
			return nil, p.fail(t, "the pattern ends with a backslash; two of them stand for one")
		}
		return &atom{f, l, negate}, nil
	}
	r, wrong := newRegex(t.text)
	if wrong != "" {
		return nil, p.fail(t, wrong)
	}
	return &atom{f, r, negate}, nil
}
