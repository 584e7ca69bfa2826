package test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how long lines of Go may be, with 4 columns for a tab.
const maxColumns = 120

// TestLines finds lines that are too long.
func TestLines(t *testing.T) {
	err := filepath.WalkDir(Root(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		held := heldLines(text, lines)
		for i, line := range lines {
			if n := columns(line); n > maxColumns && !held[i+1] {
				t.Errorf("%s:%d: %d columns, want at most %d", path, i+1, n, maxColumns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// maxCore is how many lines the package has in which the parts of the analyses meet, without its tests.
const maxCore = 6000

// TestCore keeps the package in which the analyses meet small enough to be read.
func TestCore(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(Root(), "analyze", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
	}
	if lines == 0 || lines > maxCore {
		t.Errorf("analyze has %d lines, want at most %d: what owns a table belongs into a package beside the others",
			lines, maxCore)
	}
}

func columns(line string) int { return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) }

// heldLines are the lines that are too long for a text, which stays in one piece so that it can be searched for, and
// code in comments.
func heldLines(text []byte, lines []string) map[int]bool {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	held := map[int]bool{}
	for {
		pos, what, literal := s.Scan()
		switch {
		case what == token.EOF:
			return held
		case what == token.COMMENT && !strings.HasPrefix(literal, "//\t") && strings.Contains(literal, " "):
		case what == token.STRING, what == token.COMMENT:
			at := file.Position(pos)
			last, rest := at.Line+strings.Count(literal, "\n"), literal[strings.LastIndex(literal, "\n")+1:]
			for line := at.Line; line <= last && last > at.Line; line++ {
				held[line] = true
			}
			end := columns(rest)
			if last == at.Line {
				end += columns(lines[at.Line-1][:at.Column-1])
			}
			held[last] = held[last] || end > maxColumns-len("),")
		}
	}
}
