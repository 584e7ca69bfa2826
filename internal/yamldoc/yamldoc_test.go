package yamldoc

import (
	"testing"

	"github.com/goccy/go-yaml/parser"
)

func TestBegin(t *testing.T) {
	for text, want := range map[string]int{"a: 1\n---\nb: 2\n": 2, "a: 1\n...\nb: 2\n": 3, "0:\n...{0}": 2, "a: 1\n---\n": 2} {
		file, err := parser.ParseBytes([]byte(text), 0)
		if err != nil || len(file.Docs) != 2 {
			t.Errorf("%q: %v, %v", text, file, err)
			continue
		}
		if got := Begin(file.Docs[1]); got != want {
			t.Errorf("%q: got line %d, want %d", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: [x, {c: 2.5, 4: null}]\n": "",
		"a: 1\nb: &x 2\n":                   "line 2: want a map, a list or a single value, without tags, anchors and aliases",
		"a: 1\nb:\n  - !x 3\n":              "line 3: want a map, a list or a single value, without tags, anchors and aliases",
		"a: 1\n<<: {b: 2}\n":                "line 2: want a word or a number as key",
	} {
		file, err := parser.ParseBytes([]byte(text), 0)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := ""
		if err := Plain(file.Docs[0].Body); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestDecodeSurvivesTheLibrary(t *testing.T) {
	file, err := Parse([]byte("a: 1\nb: [1, 2, 3]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		A int
		B [2]int
	}
	if err := Decode(file.Docs[0].Body, &v); err == nil {
		t.Error("a list that is too long was read")
	}
}
