package filter

import (
	"cmp"
	"math/big"
	"regexp"
	"strings"
)

// sqlCall calls a function. All but coalesce are NULL if their first argument is.
func sqlCall(name string, args []evaluation) evaluation {
	return func(s *scope) any {
		first := args[0](s)
		if name == "coalesce" && first == nil {
			return args[1](s)
		}
		if name == "coalesce" || first == nil {
			return first
		}
		switch name {
		case "len":
			return big.NewInt(int64(len(first.([]any))))
		case "make_timestamp_ns":
			return first
		case "regexp_matches":
			return regexp.MustCompile(args[1](s).(string)).MatchString(first.(string))
		case "list_contains":
			want := args[1](s)
			for _, v := range first.([]any) {
				if sqlCompare("=", v, want) == true {
					return true
				}
			}
			return false
		case "list_filter":
			var kept []any
			outer := s.columns["v"]
			for _, v := range first.([]any) {
				s.columns["v"] = v
				if args[1](s) == true {
					kept = append(kept, v)
				}
			}
			s.columns["v"] = outer
			return kept
		}
		panic("no function " + name)
	}
}

// sqlValue turns what database/sql takes into the values of this evaluation.
func sqlValue(v any) any {
	if n, ok := v.(int64); ok {
		return big.NewInt(n)
	}
	return v
}

func sqlCompare(op string, a, b any) any {
	if a == nil || b == nil {
		return nil
	}
	var order int
	switch a := a.(type) {
	case *big.Int:
		order = a.Cmp(b.(*big.Int))
	case float64:
		order = cmp.Compare(a, b.(float64))
	case string:
		order = strings.Compare(a, b.(string))
	case bool:
		if a != b.(bool) {
			order = 1
		}
	}
	switch op {
	case "=":
		return order == 0
	case "<>":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// sqlLike turns a pattern into a regular expression.
func sqlLike(text, pattern string, escape bool) bool {
	var re strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case escape && !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '%':
			re.WriteString(".*")
		case !escaped && r == '_':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	return regexp.MustCompile(`(?s)\A` + re.String() + `\z`).MatchString(text)
}
