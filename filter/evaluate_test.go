package filter

import (
	"fmt"
	"math/big"
	"regexp"
	"testing"
)

// This file evaluates the SQL that expressions compile to, as an SQL engine does: with NULL and three-valued logic. It
// shares nothing with the package but Go's regular expressions. Values are nil (NULL), bool, *big.Int, float64, string
// and []any. Operators bind as in DuckDB: OR, AND, NOT, comparisons.

// A scope is the columns of a row and the values for question marks.
type scope struct {
	columns map[string]any
	values  []any
}

type evaluation func(s *scope) any

// compileSQL reads a condition with n question marks.
func compileSQL(t testing.TB, condition string, n int) evaluation {
	t.Helper()
	c := sqlCompiler{tokens: sqlToken.FindAllString(condition, -1)}
	e := c.or()
	if len(c.tokens) > 0 || c.marks != n {
		t.Fatalf("%s: not read: %s; %d values for %d question marks", condition, c.tokens, n, c.marks)
	}
	return e
}

var sqlToken = regexp.MustCompile(`[a-zA-Z_][a-zA-Z_0-9]*|[0-9]+|'\\'|<>|<=|>=|[^\s]`)

type sqlCompiler struct {
	tokens []string
	marks  int
}

func (c *sqlCompiler) take(token string) bool {
	if len(c.tokens) == 0 || c.tokens[0] != token {
		return false
	}
	c.tokens = c.tokens[1:]
	return true
}

func (c *sqlCompiler) must(tokens ...string) {
	for _, token := range tokens {
		if !c.take(token) {
			panic(fmt.Sprintf("want %s, have %s", token, c.tokens))
		}
	}
}

// chain reads operands with an operator between; the strongest of them decides, NULL is in the middle.
func (c *sqlCompiler) chain(operator string, strong bool, operand func() evaluation) evaluation {
	list := []evaluation{operand()}
	for c.take(operator) {
		list = append(list, operand())
	}
	if len(list) == 1 {
		return list[0]
	}
	return func(s *scope) any {
		var result any = !strong
		for _, e := range list {
			switch e(s) {
			case strong:
				return strong
			case nil:
				result = nil
			}
		}
		return result
	}
}

func (c *sqlCompiler) or() evaluation  { return c.chain("OR", true, c.and) }
func (c *sqlCompiler) and() evaluation { return c.chain("AND", false, c.not) }

func (c *sqlCompiler) not() evaluation {
	if !c.take("NOT") {
		return c.predicate()
	}
	e := c.not()
	return func(s *scope) any {
		if v := e(s); v != nil {
			return !v.(bool)
		}
		return nil
	}
}

func (c *sqlCompiler) predicate() evaluation {
	left := c.operand()
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
		if c.take(op) {
			right := c.operand()
			return func(s *scope) any { return sqlCompare(op, left(s), right(s)) }
		}
	}
	switch {
	case c.take("IS"):
		want := !c.take("NOT")
		c.must("NULL")
		return func(s *scope) any { return (left(s) == nil) == want }
	case c.take("BETWEEN"):
		low := c.operand()
		c.must("AND")
		high := c.operand()
		return func(s *scope) any {
			v := left(s)
			if v == nil {
				return nil
			}
			return sqlCompare(">=", v, low(s)) == true && sqlCompare("<=", v, high(s)) == true
		}
	case c.take("IN"):
		list := c.list()
		return func(s *scope) any {
			v := left(s)
			if v == nil {
				return nil
			}
			for _, e := range list {
				if sqlCompare("=", v, e(s)) == true {
					return true
				}
			}
			return false
		}
	case c.take("LIKE"):
		pattern := c.operand()
		escape := c.take("ESCAPE")
		if escape {
			c.must(`'\'`)
		}
		return func(s *scope) any {
			if v := left(s); v != nil {
				return sqlLike(v.(string), pattern(s).(string), escape)
			}
			return nil
		}
	}
	return left
}

func (c *sqlCompiler) list() (list []evaluation) {
	c.must("(")
	for {
		list = append(list, c.or())
		if !c.take(",") {
			c.must(")")
			return list
		}
	}
}

func (c *sqlCompiler) operand() evaluation {
	word := c.tokens[0]
	c.tokens = c.tokens[1:]
	switch word {
	case "(":
		e := c.or()
		c.must(")")
		return e
	case "?":
		i := c.marks
		c.marks++
		return func(s *scope) any { return sqlValue(s.values[i]) }
	case "CAST":
		c.must("(")
		e := c.operand()
		c.must("AS", "UBIGINT", ")")
		return func(s *scope) any {
			if text, ok := e(s).(string); ok {
				n, _ := new(big.Int).SetString(text, 10)
				return n
			}
			return e(s)
		}
	case "TRUE", "FALSE":
		return func(*scope) any { return word == "TRUE" }
	case "lambda":
		c.must("v", ":")
		return c.or()
	}
	if n, ok := new(big.Int).SetString(word, 10); ok {
		return func(*scope) any { return n }
	}
	if len(c.tokens) > 0 && c.tokens[0] == "(" {
		return sqlCall(word, c.list())
	}
	return func(s *scope) any {
		v, ok := s.columns[word]
		if !ok {
			panic("no column " + word)
		}
		return v
	}
}
