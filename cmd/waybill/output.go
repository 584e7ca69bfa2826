package main

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"
)

// An output is standard output that remembers that it could not be written to: a full disk must not pass for success
// where a command does not look at every write.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// defaultColumns are those of what is no terminal.
const defaultColumns = 80

// columnsOf returns how wide a terminal is.
func columnsOf(w io.Writer) int {
	if f, ok := fileOf(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return defaultColumns
}

func fileOf(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return f, ok
}

// quiet turns the error of a reader that went away, such as head, into none.
func quiet(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
