package filter

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// A like passes texts that match a pattern as a whole: % is any number of characters, _ is one, and a backslash takes
// the meaning from what follows it.
type like struct {
	pattern string
	glyphs  []glyph
	escaped bool // the pattern has a backslash
}

// A glyph is a character of a pattern, or one of the two that have a meaning.
type glyph struct {
	r       rune
	special bool
}

// newLike returns false if the pattern ends with a backslash that has nothing to act on.
func newLike(pattern string) (*like, bool) {
	l := &like{pattern: pattern}
	escape := false
	for _, r := range pattern {
		switch {
		case escape:
			l.glyphs = append(l.glyphs, glyph{r, false})
			escape = false
		case r == '\\':
			escape, l.escaped = true, true
		default:
			l.glyphs = append(l.glyphs, glyph{r, r == '%' || r == '_'})
		}
	}
	return l, !escape
}

// holds goes back to the latest % only: an earlier one could not help more.
func (l *like) holds(v Value, _ int64) bool {
	text, at := v.text, 0
	retryText, retryAt := "", -1 // where to go on if the rest does not match
	for len(text) > 0 || at < len(l.glyphs) {
		if at < len(l.glyphs) {
			g := l.glyphs[at]
			if g.special && g.r == '%' {
				retryText, retryAt = text, at
				at++
				continue
			}
			if r, n := utf8.DecodeRuneInString(text); n > 0 && (g.special || g.r == r) {
				text = text[n:]
				at++
				continue
			}
		}
		if retryText == "" {
			return false
		}
		_, n := utf8.DecodeRuneInString(retryText)
		retryText = retryText[n:]
		text, at = retryText, retryAt+1
	}
	return true
}

// sql avoids LIKE where there are many %: DuckDB tries each part of the text for each of them, which can take for ever.
func (l *like) sql(w *writer, f *Field, column string) {
	d := &dialects[w.Dialect]
	if l.wild() > 2 || l.escaped && d.escape == "" {
		w.write(fill(d.whole, column, w.bound(f, FromText(d.beforeWhole+l.regex()+d.behindWhole))))
		return
	}
	w.write(column, " LIKE ")
	w.bind(f, FromText(l.pattern))
	if l.escaped { // without it DuckDB can use the beginning of the pattern to skip parts of a table
		w.write(d.escape)
	}
}

// wild is how many % the pattern has.
func (l *like) wild() (n int) {
	for _, g := range l.glyphs {
		if g.special && g.r == '%' {
			n++
		}
	}
	return n
}

// regex is a regular expression that is the same as the pattern, if it has to match all of the text and . is any
// character.
func (l *like) regex() string {
	var b strings.Builder
	for i, g := range l.glyphs {
		switch {
		case !g.special:
			b.WriteString(regexp.QuoteMeta(string(g.r)))
		case g.r == '_':
			b.WriteByte('.')
		case i == 0 || l.glyphs[i-1] != g:
			b.WriteString(".*")
		}
	}
	return b.String()
}

func (l *like) print(b []byte, negate bool) []byte {
	return append(append(b, not(negate, "like ")...), quoted(l.pattern)...)
}
