package filter

import (
	"strconv"
	"strings"
)

// operatorDocs says what operators and keywords do.
var operatorDocs = map[string]string{
	"=": "is equal to", "!=": "has a value, other than", "<": "is less than", "<=": "is at most",
	">":  "is greater than",
	">=": "is at least", "in": "is one of a list, or an address in a prefix", "not in": "has a value, none of a list",
	"like": "matches a pattern: % any characters, _ one", "not like": "has a value that does not match a pattern",
	"~": "matches a regular expression", "!~": "has a value that does not match a regular expression",
	"is null": "has no value", "is not null": "has a value", "and": "both hold", "or": "one of both holds",
	"not": "does not hold", "exists": "the field has a value",
}

// add adds the candidates for one want.
func (c *candidates) add(w want) {
	switch w.kind {
	case wantOperand:
		c.fields(func(*Field) bool { return true })
		c.keywords("keyword", "not", "exists", "(")
	case wantField:
		c.fields(func(*Field) bool { return true })
	case wantOperator:
		c.keywords("operator", w.field.operators()...)
	case wantNegated:
		c.keywords("operator", w.field.negated()...)
	case wantIs:
		c.keywords("keyword", "null", "not null")
	case wantNull:
		c.keywords("keyword", "null")
	case wantItem:
		c.values(w.field)
	case wantValue:
		c.values(w.field)
		if f := w.field; !f.several() {
			c.fields(func(g *Field) bool { return g != f && f.comparable(g) && !g.several() })
		}
	case wantList:
		c.keywords("keyword", "(")
	case wantLogic:
		c.keywords("keyword", "and", "or")
	case wantMore:
		c.keywords("keyword", ",")
	case wantClosing:
		c.keywords("keyword", ")")
	case wantPattern: // only the user knows
	}
}

// values adds what f may be compared with.
func (c *candidates) values(f *Field) {
	put := func(text, doc string) {
		c.put(Candidate{Text: text, Class: "value", Kind: f.Kind.String(), Doc: doc}, false)
	}
	p := parser{schema: c.schema}
	switch f.Kind {
	case Bool:
		put("true", "")
		put("false", "")
	case Enum:
		for _, choice := range f.Choices {
			put(p.bare(choice.Name), choice.Doc)
		}
	case Node:
		for _, name := range c.schema.nodeNames() {
			put(p.bare(name), "node "+strconv.Itoa(int(c.schema.nodes[name])))
		}
	case Time:
		for _, text := range []string{"now", "now-5m", "now-1h", "now-1d"} {
			put(text, "")
		}
	case Ratio, Duration, Size, Rate:
		c.units(f, put)
	}
}

// units adds the units behind the number that the user wrote.
func (c *candidates) units(f *Field, put func(text, doc string)) {
	number, name := cutPrefix(c.word, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
	names := f.Kind.unitNames()
	if f.Kind == Ratio {
		names = []string{"%"}
	}
	for _, unit := range names {
		_, wrong, _ := f.reader()(number + unit)
		if wrong == "" && strings.HasPrefix(strings.ToLower(unit), name) {
			put(number+unit, "")
		}
	}
}
