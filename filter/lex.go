package filter

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A tokenKind tells tokens apart.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a keyword, a field or a value; which one, the parser knows
	tokenString           // in quotes
	tokenSign             // an operator, a bracket or a comma
)

// A token is a piece of the text; text is the word, the contents of a string or the sign in its canonical form.
type token struct {
	kind       tokenKind
	text       string
	start, end int
}

// signs are tried in this order; the second is the canonical form.
var signs = [...][2]string{
	{"!=", "!="},
	{"<>", "!="},
	{"!~", "!~"},
	{"==", "="},
	{"<=", "<="},
	{">=", ">="},
	{"&&", "and"},
	{"||", "or"},
	{"=", "="},
	{"<", "<"},
	{">", ">"},
	{"~", "~"},
	{"!", "not"},
	{"(", "("},
	{")", ")"},
	{",", ","},
}

var keywords = [...]string{"and", "or", "not", "in", "like", "is", "null", "exists", "true", "false"}

func isKeyword(word string) bool {
	for _, k := range keywords {
		if strings.EqualFold(word, k) {
			return true
		}
	}
	return false
}

// isWord reports whether r can be part of a word. The signs are those of addresses, prefixes, times, rates, names of
// interfaces and the like: the language has no arithmetic.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.:/+-%", r)
}

// lex divides a text, which is valid UTF-8, into tokens; the last one is the end.
func lex(text string) ([]token, *Error) {
	var tokens []token
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			at += n
			continue
		case r == '"' || r == '\'':
			t, ok := lexString(text, at)
			if !ok {
				return tokens, newError(text, at, len(text), "the quote is not closed")
			}
			tokens = append(tokens, t)
		case isWord(r):
			end := len(text)
			if n := strings.IndexFunc(text[at:], func(r rune) bool { return !isWord(r) }); n >= 0 {
				end = at + n
			}
			tokens = append(tokens, token{tokenWord, text[at:end], at, end})
		default:
			t, ok := lexSign(text, at)
			if !ok {
				return tokens,
					newError(text, at, at+n, "unexpected "+strconv.QuoteRune(r)+
						"; a text with such characters needs quotes")
			}
			tokens = append(tokens, t)
		}
		at = tokens[len(tokens)-1].end
	}
	return append(tokens, token{tokenEnd, "", len(text), len(text)}), nil
}

func lexSign(text string, at int) (token, bool) {
	for _, s := range signs {
		if strings.HasPrefix(text[at:], s[0]) {
			return token{tokenSign, s[1], at, at + len(s[0])}, true
		}
	}
	return token{}, false
}

// lexString reads a string. As in SQL, a quote in it is doubled, and a backslash means itself.
func lexString(text string, at int) (token, bool) {
	quote := text[at : at+1]
	for end := at + 1; ; end += 2 {
		i := strings.Index(text[end:], quote)
		if i < 0 {
			return token{}, false
		}
		end += i
		if !strings.HasPrefix(text[end+1:], quote) {
			return token{tokenString, strings.ReplaceAll(text[at+1:end], quote+quote, quote), at, end + 1}, true
		}
	}
}

// quoted writes s as lexString reads it.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
