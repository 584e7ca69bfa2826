package filter

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestAgree holds the matcher and the SQL to the same answer, for random expressions and rows.
func TestAgree(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	rows := make([]testRow, 50)
	for i := range rows {
		rows[i] = g.row()
	}
	held, refused := 0, 0
	for range 1000 {
		text := g.expression(4)
		e, err := Parse(everything, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := Parse(everything, e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("%s: printed %s, that is %v (%v)", text, e, again, err)
		}
		condition, values := e.SQL(DuckDB, testNow)
		answer := compileSQL(t, condition, len(values))
		m, same := e.Matcher(clock), again.Matcher(clock)
		part := e.On("n", "list", "latency", "src", "name", "node").Matcher(clock)
		for _, row := range rows {
			got := m.Match(row)
			if sql := answer(&scope{row.columns(), values}); sql != got {
				t.Fatalf("%s\nrow %v\nmatcher %t, SQL %v: %s %v", text, row.columns(), got, sql, condition, values)
			}
			if same.Match(row) != got {
				t.Fatalf("%s\nrow %v\nis not %s", text, row.columns(), e)
			}
			known := part.Match(row)
			if got {
				held++
			}
			if !known {
				refused++
			}
			if got && !known {
				t.Fatalf("%s\nrow %v\nholds, but what it asks of some fields does not", text, row.columns())
			}
		}
	}
	if held < 10_000 || held > 40_000 {
		t.Errorf("%d of 50000 hold: the expressions test little", held)
	}
	if refused < 1000 {
		t.Errorf("%d of 50000 are refused by some of the fields: the expressions test little", refused)
	}
}

func clock() time.Time { return testNow }
