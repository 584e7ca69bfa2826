package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A found is a test function in the tree.
type found struct {
	file string // from the top of the tree, with slashes
	name string
}

func (f found) folder() string { return path.Dir(f.file) }

// ruleTest is the name of a test for a rule, or for several.
var ruleTest = regexp.MustCompile(`^Test((?:R\d{3})+)(?:[A-Z_]|$)`)

// rules are the numbers of the rules that f is for.
func (f found) rules() (list []int) {
	m := ruleTest.FindStringSubmatch(f.name)
	if m == nil {
		return nil
	}
	for _, text := range strings.Split(m[1][1:], "R") {
		n, _ := strconv.Atoi(text)
		list = append(list, n)
	}
	return list
}

// findTests returns all test functions below root, by name.
func findTests(root string) ([]found, error) {
	var list []found
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != root && (name[0] == '.' || name == "node_modules" || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		for _, decl := range tree.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				list = append(list, found{filepath.ToSlash(relative), f.Name.Name})
			}
		}
		return nil
	})
	slices.SortFunc(list,
		func(a, b found) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.file, b.file)) })
	return list, err
}

// of returns the tests that hold r: those with its number, then those in also.
func (r *rule) of(tests []found) (list []found) {
	for _, f := range tests {
		if slices.Contains(f.rules(), r.id) {
			list = append(list, f)
		}
	}
	for _, name := range r.also {
		for _, f := range tests {
			if f.folder()+"."+f.name == name {
				list = append(list, f)
			}
		}
	}
	return list
}
