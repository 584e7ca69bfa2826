package store

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
)

// A full disk is one line, whoever meets it, and one when it is over for all; other reasons have a line each.
func TestTroubles(t *testing.T) {
	var text strings.Builder
	tr := NewTroubles(slog.New(slog.NewTextHandler(&text, nil)))
	note := func(what string, err error) { tr.Note(what, err, what+" fails", what+" works") }
	full := fmt.Errorf("journal: %w", syscall.ENOSPC)
	inWords := errors.New(`IO Error: Could not write file "x": No space left on device`)
	for range 3 {
		note("journal", full)
		note("store", inWords)
		note("checkpoint", errors.New("permission denied"))
	}
	note("store", nil)
	note("checkpoint", nil)
	note("journal", nil)
	note("journal", nil)
	note("journal", full)
	var got []string
	for line := range strings.Lines(text.String()) {
		_, message, _ := strings.Cut(line, "msg=")
		got = append(got, strings.Trim(message[:min(19, len(message))], "\" \n"))
	}
	want := "the disk is full:|checkpoint fails|checkpoint works|the disk has room|the disk is full:"
	if strings.Join(got, "|") != want {
		t.Errorf("got %s\n%s", strings.Join(got, "|"), &text)
	}
}
