package test

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Seed returns by what a test of emulated networks chooses among the seeds that it knows: TEST_SEED, a number that
// differs from commit to commit, or 0; all says that it is "all", and the test shall run with all of them. A test that
// fails says how to run it again. Without TEST_SEED, who names a case of a test (go test -run Test/case) gets it.
func Seed(t *testing.T) (seed uint64, all bool) {
	t.Helper()
	text := os.Getenv("TEST_SEED")
	if text == "" || text == "all" {
		run := flag.Lookup("test.run").Value.String()
		return 0, text == "all" || strings.Contains(run, "/")
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("TEST_SEED is %q: a number or all", text)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again: TEST_SEED=%s go test -run '^%s$', in the directory of this package", text, t.Name())
		}
	})
	return seed, false
}

// Once says that benchmarks run once (-benchtime 1x), so that none rots: what they measure is not to be large then.
func Once() bool { return flag.Lookup("test.benchtime").Value.String() == "1x" }

// Part returns one of so many parts of a list: which one, Seed says, and with all the list is whole. It is for what
// takes long and of which each part shows as much.
func Part[T any](t *testing.T, list []T, parts uint64) (part []T) {
	t.Helper()
	seed, all := Seed(t)
	for i, item := range list {
		if all || uint64(i)%parts == seed%parts {
			part = append(part, item)
		}
	}
	return part
}
