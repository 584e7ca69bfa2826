package filter

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/telemetry"
)

// A want is something that could stand at the end of the text.
type want struct {
	kind  wantKind
	field *Field // behind which it stands
}

type wantKind uint8

const (
	wantOperand  wantKind = iota // not, exists, (
	wantField                    // a field
	wantOperator                 // of a field
	wantNegated                  // in or like, behind not
	wantIs                       // null or not null, behind is
	wantNull                     // null, behind is not
	wantValue                    // a value of a field
	wantList                     // a bracket, behind in
	wantItem                     // a value of a list
	wantPattern                  // a text, behind like or ~
	wantLogic                    // and, or
	wantMore                     // a comma in a list
	wantClosing                  // )
)

// want notes what could stand at the place of the parser, if it is at the end of the text.
func (p *parser) want(kind wantKind, f *Field) {
	if p.peek().kind == tokenEnd {
		p.wants = append(p.wants, want{kind, f})
	}
}

// A Candidate is something that may stand at the cursor.
type Candidate = telemetry.FilterCandidate

// Complete returns what may stand at the cursor, a byte offset into text: those that begin with the word before the
// cursor, then fields that have it elsewhere in their name or begin an alias with it. What is behind the cursor plays
// no part. There are no candidates if something before that word is wrong already.
func Complete(s *Schema, text string, cursor int) []Candidate {
	cursor = min(max(cursor, 0), len(text))
	text = text[:cursor]
	if checkText(text) != nil {
		return nil
	}
	tokens, wrong := lex(text)
	start := cursor
	last := len(tokens) - 1
	switch {
	case wrong != nil && (text[wrong.Offset] == '"' || text[wrong.Offset] == '\''):
		start = wrong.Offset
	case wrong != nil:
		return nil
	case last > 0 && tokens[last-1].kind == tokenWord && tokens[last-1].end == cursor:
		start = tokens[last-1].start
		tokens = tokens[:last-1]
	default:
		tokens = tokens[:last]
	}
	p := parser{schema: s, text: text, tokens: append(tokens, token{tokenEnd, "", start, start})}
	p.filter() // its error, if any, is in the wants: there are none before the end
	c := candidates{schema: s, word: strings.ToLower(strings.TrimLeft(text[start:], `"'`)), start: start, end: cursor}
	c.quoted = wrong != nil
	for _, w := range p.wants {
		c.add(w)
	}
	return append(c.begin, c.contain...)
}

// candidates collects what a word may become.
type candidates struct {
	schema         *Schema
	word           string
	quoted         bool // it began with a quote, which only values do
	start, end     int
	begin, contain []Candidate
}

// put adds a candidate if the word is the beginning of its text, or fits otherwise.
func (c *candidates) put(candidate Candidate, otherwise bool) {
	candidate.Start, candidate.End = c.start, c.end
	same := func(o Candidate) bool { return o.Text == candidate.Text }
	switch {
	case c.quoted && candidate.Class != "value":
	case slices.ContainsFunc(c.begin, same) || slices.ContainsFunc(c.contain, same):
	case c.begins(strings.Trim(candidate.Text, `"`)):
		c.begin = append(c.begin, candidate)
	case otherwise:
		c.contain = append(c.contain, candidate)
	}
}

// begins reports whether the word is the beginning of a name.
func (c *candidates) begins(name string) bool {
	return strings.HasPrefix(strings.ToLower(name), c.word)
}

func (c *candidates) keywords(class string, words ...string) {
	for _, w := range words {
		c.put(Candidate{Text: w, Class: class, Doc: operatorDocs[w]}, false)
	}
}

func (c *candidates) fields(usable func(f *Field) bool) {
	for _, f := range c.schema.fields {
		if usable(f) {
			otherwise := strings.Contains(f.Name, c.word) || slices.ContainsFunc(f.Aliases, c.begins)
			c.put(Candidate{Text: f.Name, Class: "field", Kind: f.Kind.String(), Unit: f.Unit, Doc: f.Doc}, otherwise)
		}
	}
}

// nodeNames returns the names of nodes, sorted.
func (s *Schema) nodeNames() []string { return slices.Sorted(maps.Keys(s.nodes)) }
