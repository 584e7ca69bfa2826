package duckdb

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// What is asked for with SQL comes in its order and under its names, and no more than that of it is made.
func TestSQLLimit(t *testing.T) {
	s, err := Open(DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for statement, want := range map[string]string{
		"SELECT * FROM range(5) ORDER BY range DESC":                                                             "[range] [[4] [3] [2]] true",
		"SELECT * FROM range(3)":                                                                                 "[range] [[0] [1] [2]] false",
		"SELECT range AS x FROM range(5) ORDER BY 0 - x LIMIT 2 OFFSET 1":                                        "[x] [[3] [2]] false",
		"WITH a AS (SELECT 1 AS b) SELECT b, b + 1 AS c FROM a ; \n":                                             "[b c] [[1 2]] false",
		"FROM range(2) -- all of it":                                                                             "[range] [[0] [1]] false",
		"VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC":                                                              "[col0 col1] [[2 b] [1 a]] false",
		"SELECT 1 AS a UNION ALL SELECT 2 ORDER BY a DESC":                                                       "[a] [[2] [1]] false",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT n FROM r ORDER BY n": "[n] [[1] [2] [3]] true",
	} {
		a, err := s.SQL(t.Context(), statement, 3)
		if err != nil {
			t.Errorf("%s: %v", statement, err)
			continue
		}
		if got := fmt.Sprint(a.Columns, a.Rows, a.More); got != want {
			t.Errorf("%s: got %s, want %s", statement, got, want)
		}
	}
	for statement, want := range map[string]string{
		"SELECT 1; -- done":               "nothing behind its semicolon",
		"SELECT 1) UNION ALL (SELECT 2":   "syntax error",
		"SELECT write_log('x')":           "the function write_log is not allowed",
		"SELECT 1; SELECT 2":              "want one SELECT statement",
		"SELECT 1) LIMIT 1; DROP TABLE x": "syntax error",
	} {
		if _, err := s.SQL(t.Context(), statement, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", statement, err, want)
		}
	}
}

// Rows that nobody asked for take no memory.
func TestSQLMemory(t *testing.T) {
	resident := func() (pages int64) {
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Skip("the system does not tell what memory a process has: ", err)
		}
		var size int64
		fmt.Sscan(string(text), &size, &pages)
		return pages * int64(os.Getpagesize())
	}
	s, err := Open(DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := resident()
	a, err := s.SQL(t.Context(), "SELECT range, range AS again FROM range(100000000)", 10) // 1.6 GB
	if err != nil || len(a.Rows) != 10 || !a.More {
		t.Fatalf("%v, %+v", err, a)
	}
	if grown := resident() - before; grown > 400<<20 {
		t.Errorf("ten rows took %d MiB", grown>>20)
	}
}
