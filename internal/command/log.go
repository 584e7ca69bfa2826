package command

import (
	"io"
	"log/slog"
)

// NewLogger writes text on a terminal and JSON elsewhere.
func NewLogger(w io.Writer) *slog.Logger {
	if IsTerminal(w) {
		return slog.New(slog.NewTextHandler(w, nil))
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
