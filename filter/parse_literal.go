package filter

import (
	"strconv"
	"strings"
)

// value takes a word that is no keyword, or a string.
func (p *parser) value(f *Field) (token, *Error) {
	t := p.peek()
	if t.is("null") && t.kind == tokenWord {
		return t, p.fail(t, "null is not a value; write is null or is not null")
	}
	truth := f.Kind == Bool && (t.is("true") || t.is("false"))
	if t.kind == tokenEnd || t.kind == tokenSign || t.kind == tokenWord && isKeyword(t.text) && !truth {
		return t, p.fail(t, "expected "+kinds[f.Kind].indefinite+" such as "+f.example()+", found "+t.name())
	}
	p.next()
	if f.Kind == Time && t.kind == tokenWord {
		t = p.relative(t)
	}
	return t, nil
}

// relative puts "now", "-" and "5m" together.
func (p *parser) relative(t token) token {
	for range 2 {
		last, next := strings.TrimLeft(t.text, "nowNOW"), p.peek()
		signed := last == "" && strings.IndexAny(next.text, "+-") == 0
		if _, ok := cutNow(t.text); !ok || next.kind != tokenWord || !signed && last != "-" && last != "+" {
			break
		}
		p.next()
		t = token{tokenWord, t.text + next.text, t.start, next.end}
	}
	return t
}

// example is how a value of f may look.
func (f *Field) example() string {
	if f.Kind == Enum {
		return f.Choices[0].Name
	}
	return kinds[f.Kind].example
}

// literal reads a value of f.
func (p *parser) literal(f *Field) (literal, *Error) {
	t, err := p.value(f)
	if err != nil {
		return literal{}, err
	}
	switch f.Kind {
	case Text:
		return literal{value: FromText(t.text), text: quoted(t.text)}, nil
	case Enum:
		return p.choice(f, t)
	case Node:
		return p.node(t)
	}
	l, wrong, meant := f.reader()(t.text)
	if wrong != "" {
		err := p.fail(t, wrong)
		err.Suggestion = meant
		return literal{}, err
	}
	p.timed = p.timed || l.fromNow
	return l, nil
}

// choice reads the name or the number of a choice. A number need not have a name.
func (p *parser) choice(f *Field, t token) (literal, *Error) {
	name := strings.ToLower(t.text)
	if c, ok := f.choice(func(c *Choice) bool { return c.Name == name }); ok {
		return literal{value: FromUint(c.Number), text: p.bare(c.Name)}, nil
	}
	n, ok := parseUint(t.text, 64)
	if !ok || t.kind != tokenWord {
		err := p.fail(t, f.Name+" is never "+shorten(t.text))
		for _, c := range f.Choices {
			err.Expected = append(err.Expected, c.Name)
		}
		err.Suggestion = Nearest(t.text, err.Expected)
		return literal{}, err
	}
	text := strconv.FormatUint(n, 10)
	if c, ok := f.choice(func(c *Choice) bool { return c.Number == n }); ok {
		text = p.bare(c.Name)
	}
	return literal{value: FromUint(n), text: text}, nil
}

// node reads the number or the name of a node.
func (p *parser) node(t token) (literal, *Error) {
	if n, ok := parseUint(t.text, 32); ok && t.kind == tokenWord {
		return literal{value: FromUint(n), text: strconv.FormatUint(n, 10)}, nil
	}
	id, ok := p.schema.nodes[t.text]
	if !ok {
		err := p.fail(t, "no node has the name "+shorten(t.text))
		err.Suggestion = Nearest(t.text, p.schema.nodeNames())
		return literal{}, err
	}
	return literal{value: FromUint(uint64(id)), text: p.bare(t.text)}, nil
}

// bare writes a name without quotes if it reads the same.
func (p *parser) bare(name string) string {
	tokens, err := lex(name)
	_, number := parseUint(name, 64)
	if err != nil || len(tokens) != 2 || tokens[0].text != name || tokens[0].kind != tokenWord || number ||
		isKeyword(name) ||
		p.schema.byName[name] != nil {
		return quoted(name)
	}
	return name
}
