package filter

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// A regex passes texts of which some part matches a regular expression. Stores have RE2, whose syntax Go shares.
type regex struct{ re *regexp.Regexp }

// RE2 refuses programs above a size, where Go has another limit; so far below it there is no difference.
const (
	maxRegex   = 1000   // bytes of a regular expression
	maxProgram = 20_000 // instructions, and bounds of the ranges of characters in them
)

// newRegex returns why the regular expression cannot be used.
func newRegex(text string) (*regex, string) {
	if len(text) > maxRegex {
		return nil, "the regular expression is longer than 1000 bytes"
	}
	re, err := regexp.Compile(text)
	if wrong, ok := err.(*syntax.Error); ok {
		return nil, "the regular expression is wrong: " + string(wrong.Code) + ": " + shorten(wrong.Expr)
	}
	named := slices.ContainsFunc(re.SubexpNames(), func(name string) bool { return name != "" })
	class := foreignClass(text)
	switch {
	case class != "":
		return nil, `the class \p{` + shorten(class) +
			`} is not known: scripts such as \p{Greek} and categories such as \p{Lu} are`
	case programSize(text) > maxProgram:
		return nil, "the regular expression repeats too much"
	case named && strings.Contains(text, "(?<"): // Go only
		return nil, "a name of a group is written (?P<name>...)"
	}
	return &regex{re}, ""
}

// escape is a backslash with what it is for, and the name of a class of Unicode if there is one.
var escape = regexp.MustCompile(`(?s)\\(?:[pP](?:\{\^?([^}]*)\}|(.))|.)`)

// foreignClass returns the name of a class of Unicode that Go knows and RE2 does not; "" if there is none.
func foreignClass(text string) string {
	for _, m := range escape.FindAllStringSubmatch(text, -1) {
		name := m[1] + m[2]
		category := len(name) <= 2 && unicode.Categories[name] != nil && name != "Cn" && name != "LC"
		if name != "" && !category && unicode.Scripts[name] == nil && name != "Any" {
			return name
		}
	}
	return ""
}

// programSize returns how large a correct regular expression is.
func programSize(text string) int {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	size := len(program.Inst)
	for _, inst := range program.Inst {
		size += len(inst.Rune)
	}
	return size
}

func (r *regex) holds(v Value, _ int64) bool { return r.re.MatchString(v.text) }

func (r *regex) sql(w *writer, f *Field, column string) {
	d := &dialects[w.Dialect]
	w.write(fill(d.matches, column, w.bound(f, FromText(d.beforeRegex+r.re.String()))))
}

func (r *regex) print(b []byte, negate bool) []byte {
	sign := "~ "
	if negate {
		sign = "!~ "
	}
	return append(append(b, sign...), quoted(r.re.String())...)
}
