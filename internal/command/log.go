package command

import (
	"io"
	"log/slog"
)

// NewLogger writes what is at least of a level, as text on a terminal and as JSON elsewhere.
func NewLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if IsTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
