package command

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

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := FileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// DefaultColumns are those of what is no terminal.
const DefaultColumns = 80

// ColumnsOf returns how wide a terminal is.
func ColumnsOf(w io.Writer) int {
	if f, ok := FileOf(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return DefaultColumns
}

func FileOf(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return f, ok
}

// Quiet turns the error of a reader that went away, such as head, into none.
func Quiet(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
