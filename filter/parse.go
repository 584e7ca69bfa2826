package filter

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill-int/waybill/internal/nearest"
)

// Limits of a filter: what a person or a program writes is far below, and no text makes Parse or a query slow.
const (
	maxText  = 16 << 10 // bytes
	maxDepth = 64       // brackets and not inside each other
)

// Parse reads a filter. An empty one holds for every record. The error is an *Error.
func Parse(s *Schema, text string) (*Expr, error) {
	e, err := parse(s, text)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Validate returns what is wrong with a filter, or nil.
func Validate(s *Schema, text string) *Error {
	_, err := Parse(s, text)
	var wrong *Error
	errors.As(err, &wrong)
	return wrong
}

func parse(s *Schema, text string) (*Expr, *Error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	tokens, wrong := lex(text)
	if wrong != nil {
		tokens = append(tokens, token{tokenEnd, "", wrong.Offset, wrong.Offset})
	}
	p := parser{schema: s, text: text, tokens: tokens}
	root, err := p.filter()
	if wrong != nil && (err == nil || err.Offset >= wrong.Offset) {
		err = wrong
	}
	if err != nil {
		return nil, err
	}
	return &Expr{schema: s, root: root, timed: p.timed}, nil
}

// checkText rejects what neither the lexer nor a database should see.
func checkText(text string) *Error {
	if len(text) > maxText {
		return newError("", 0, 0, "the filter is longer than "+strconv.Itoa(maxText)+" bytes")
	}
	if i := strings.IndexByte(text, 0); i >= 0 && utf8.ValidString(text[:i]) {
		return newError(text, i, i+1, "unexpected character with the code 0")
	}
	for i, r := range text {
		if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 {
			return newError(text, i, i+1, "the filter is not UTF-8")
		}
	}
	return nil
}

// A parser is a Pratt parser: expression reads an operand and then whatever binds tighter than its surroundings.
type parser struct {
	schema *Schema
	text   string
	tokens []token // at least the end
	depth  int
	timed  bool
	wants  []want // what could stand at the end of the text
}

func (p *parser) peek() token { return p.tokens[0] }

// next takes a token; the end stays.
func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != tokenEnd {
		p.tokens = p.tokens[1:]
	}
	return t
}

// is reports whether a token is a sign or keyword. Words are keywords in upper and lower case.
func (t token) is(text string) bool {
	return t.kind == tokenSign && t.text == text || t.kind == tokenWord && strings.EqualFold(t.text, text)
}

// take takes the next token if it is that sign or keyword.
func (p *parser) take(text string) bool {
	if !p.peek().is(text) {
		return false
	}
	p.next()
	return true
}

// fail returns an error about t.
func (p *parser) fail(t token, message string) *Error {
	return newError(p.text, t.start, t.end, message)
}

// unexpected returns the error that something else should stand where t is.
func (p *parser) unexpected(t token, expected ...string) *Error {
	err := p.fail(t, "expected "+orList(expected)+", found "+t.name())
	err.Expected = expected
	if t.kind == tokenWord {
		err.Suggestion = Nearest(t.text, expected)
	}
	return err
}

// name is how messages call t.
func (t token) name() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenString:
		return quoted(shorten(t.text))
	}
	return shorten(t.text)
}

// filter reads the whole text.
func (p *parser) filter() (term, *Error) {
	if p.peek().kind == tokenEnd {
		p.want(wantOperand, nil)
		return nil, nil
	}
	root, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != tokenEnd {
		return nil, p.unexpected(t, "and", "or", "the end")
	}
	return root, nil
}

// expression reads an operand, and all behind it that binds tighter than power.
func (p *parser) expression(power int) (term, *Error) {
	left, err := p.operand()
	for err == nil {
		p.want(wantLogic, nil)
		or, its := false, powerAnd
		if p.peek().is("or") {
			or, its = true, powerOr
		} else if !p.peek().is("and") {
			break
		}
		if its <= power {
			break
		}
		p.next()
		var right term
		if right, err = p.expression(its); err == nil {
			left = join(or, left, right)
		}
	}
	return left, err
}

// Nearest returns the candidate that word may have been meant to be, or "".
func Nearest(word string, candidates []string) string { return nearest.Of(word, candidates) }
