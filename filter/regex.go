package filter

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// A regex passes texts of which some part matches a regular expression. DuckDB has RE2, whose syntax Go shares.
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
	switch {
	case programSize(text) > maxProgram:
		return nil, "the regular expression repeats too much"
	case named && strings.Contains(text, "(?<"): // Go only
		return nil, "a name of a group is written (?P<name>...)"
	}
	return &regex{re}, ""
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
	w.write("regexp_matches(", column, ", ")
	w.bind(f, FromText(r.re.String()))
	w.write(")")
}

func (r *regex) print(b []byte, negate bool) []byte {
	sign := "~ "
	if negate {
		sign = "!~ "
	}
	return append(append(b, sign...), quoted(r.re.String())...)
}
