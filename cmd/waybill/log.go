package main

import (
	"io"
	"log/slog"
)

// newLogger writes text on a terminal and JSON elsewhere.
func newLogger(w io.Writer) *slog.Logger {
	if isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, nil))
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
