package filter

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// sqlWords are all words and signs that a condition may have, besides the columns.
var sqlWords = strings.Fields(
	"( ) ? , : = <> < <= > >= AND OR NOT IS NULL IN LIKE ESCAPE '\\' BETWEEN CAST AS UBIGINT TRUE FALSE 0 " +
		"coalesce len list_filter list_contains lambda v make_timestamp_ns regexp_matches")

// FuzzFilter: no text makes the parser panic; what it takes prints as a text with the same meaning; the SQL is made of
// known words alone and agrees with the matcher; an error is inside the text, and a completion makes none.
func FuzzFilter(f *testing.F) {
	for _, tc := range good {
		f.Add(tc.text, uint16(len(tc.text)/2))
	}
	for _, tc := range bad {
		f.Add(tc.text, uint16(tc.offset))
	}
	known := map[string]bool{}
	for _, word := range sqlWords {
		known[word] = true
	}
	g := generator{rand.New(rand.NewPCG(1, 2))}
	rows := []testRow{make(testRow, len(everything.fields)), g.row(), g.row(), g.row()}
	for column := range rows[0].columns() {
		known[column] = true
	}
	f.Fuzz(func(t *testing.T, text string, cursor uint16) {
		fuzzComplete(t, text, int(cursor))
		e, err := parse(everything, text)
		if err != nil {
			if err.Offset < 0 || err.Length < 0 || err.Offset+err.Length > len(text) || err.Column < 1 ||
				err.Message == "" {
				t.Fatalf("%q: %+v", text, err)
			}
			return
		}
		again, err := parse(everything, e.String())
		if len(e.String()) > maxText {
			return // canonical names can be longer
		}
		if err != nil || again.String() != e.String() {
			t.Fatalf("%q: printed %q, that is %v (%v)", text, e, again, err)
		}
		condition, values := e.SQL(DuckDB, testNow)
		for _, word := range sqlToken.FindAllString(condition, -1) {
			if !known[word] {
				t.Fatalf("%q: %q in %s", text, word, condition)
			}
		}
		answer, m, same := compileSQL(t, condition, len(values)), e.Matcher(clock), again.Matcher(clock)
		for _, row := range rows {
			got := m.Match(row)
			if sql := answer(&scope{row.columns(), values}); sql != got || same.Match(row) != got {
				t.Fatalf("%q\nrow %v\nmatcher %t, SQL %v: %s %v", text, row.columns(), got, sql, condition, values)
			}
		}
	})
}

// fuzzComplete puts each candidate in place: what is wrong then is at the end, or a bracket that is still open.
func fuzzComplete(t *testing.T, text string, cursor int) {
	for _, c := range Complete(everything, text, cursor) {
		completed := text[:c.Start] + c.Text
		wrong := Validate(everything, completed)
		if wrong != nil && wrong.Offset < len(completed) && wrong.Message != "the bracket is not closed" &&
			len(completed) <= maxText {
			t.Fatalf("%q at %d completed to %q: %v", text, cursor, completed, wrong)
		}
	}
}
