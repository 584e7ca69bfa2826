package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func tree(t *testing.T) (root string, tests []found) {
	t.Helper()
	root, err := top()
	if err != nil {
		t.Fatal(err)
	}
	if tests, err = findTests(root); err != nil {
		t.Fatal(err)
	}
	return root, tests
}

func TestEveryRuleHasATestOrAReason(t *testing.T) {
	_, tests := tree(t)
	for _, id := range untested(tests) {
		t.Errorf("R-%d has neither a test named TestR%03d... nor a reason in rules.go", id, id)
	}
}

func TestPageIsAsGenerated(t *testing.T) {
	root, tests := tree(t)
	got, err := os.ReadFile(filepath.Join(root, pagePath))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page(tests) {
		t.Errorf("%s is not up to date: go generate ./internal/conformance", pagePath)
	}
}

func TestRules(t *testing.T) {
	_, tests := tree(t)
	next := 1
	for _, s := range sections {
		for i := range s.rules {
			r := &s.rules[i]
			if r.id != next {
				t.Errorf("R-%d comes where R-%d should", r.id, next)
			}
			next = r.id + 1
			if !slices.Contains([]string{"MUST", "SHOULD", "MAY", "own"}, r.level) || r.who == "" || r.text == "" ||
				r.from == "" {
				t.Errorf("R-%d: incomplete", r.id)
			}
			if strings.Contains(r.text+r.from+r.not, "|") {
				t.Errorf("R-%d: a bar ends a cell of the table", r.id)
			}
			if r.not != "" && len(r.of(tests)) > 0 {
				t.Errorf("R-%d has a test and a reason why it is not implemented", r.id)
			}
			for _, name := range r.also {
				if !slices.ContainsFunc(tests, func(f found) bool { return f.folder()+"."+f.name == name }) {
					t.Errorf("R-%d: there is no %s", r.id, name)
				}
			}
		}
	}
	for _, f := range tests {
		for _, id := range f.rules() {
			if id >= next {
				t.Errorf("%s in %s: there is no rule %d", f.name, f.file, id)
			}
		}
	}
}

func TestRuleOfTestName(t *testing.T) {
	for name, want := range map[string][]int{
		"TestR001": {1}, "TestR099Size": {99}, "TestR100_DEX": {100}, "TestR1": nil, "TestR0010": nil,
		"TestReport": nil, "TestR012x": nil, "TestR037R038MTU": {37, 38}, "TestR001Roles": {1},
	} {
		if got := (found{name: name}).rules(); !slices.Equal(got, want) {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}
