// Command conformance writes docs/reference/conformance.md: the rules that the specifications have for nodes and
// collectors, and the tests that hold Waybill to them. The rules are in rules.go; the tests are found by their names,
// TestR001 and so on, anywhere in the tree.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run .

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := top()
	if err != nil {
		return err
	}
	tests, err := findTests(root)
	if err != nil {
		return err
	}
	for _, id := range untested(tests) {
		fmt.Fprintf(os.Stderr, "conformance: R-%d has neither a test nor a reason\n", id)
	}
	return os.WriteFile(filepath.Join(root, pagePath), []byte(page(tests)), 0o644)
}

const pagePath = "docs/reference/conformance.md"

// top is the top of the source tree that the program runs in.
func top() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not in the source tree: no go.mod above " + dir)
		}
		dir = parent
	}
}
