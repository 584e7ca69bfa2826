package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// replacedWords are words and phrases that docs/reference/glossary.md replaces and that have no other sense, in lower
// case. Ordinary words that it replaces in one sense only, as "look" and "say", nobody can look for.
var replacedWords = []string{
	"handover", "cared for", "any more, and both", "requests are being answered, which is all", "at a time, which is",
	"the journal of the last process", "somebody takes care", "silence does not hold", "nothing goes on",
	"drawn are the", "slowest ways through it", "from sent to stored", "did not come; trying", "this is of now",
	"asking the store for", "no flow like that", "at a place that is not known", "a path that is not known",
	"longest extra wait", "postcards not waited for",
}

// TestWords finds words that the glossary replaces.
func TestWords(t *testing.T) {
	err := filepath.WalkDir(Root(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", ".git", "dist", "testdata"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".ts", ".svelte", ".yaml"}, filepath.Ext(path)),
			d.Name() == "glossary.md", d.Name() == "words_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(strings.ToLower(string(text)), "\n") {
			for _, word := range replacedWords {
				if strings.Contains(line, word) {
					t.Errorf("%s:%d: %q: docs/reference/glossary.md has another word", path, i+1, word)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
