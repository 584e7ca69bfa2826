package truth

import "io"

// flushAt is the number of bytes at which a Writer hands them on.
const flushAt = 64 << 10

// A Writer writes records to a file. It is not for concurrent use.
type Writer struct {
	w   io.Writer
	b   []byte
	err error
}

// NewWriter returns a Writer to w. It writes in large pieces; Flush writes the rest.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, b: make([]byte, 0, flushAt+4096)} }

// Write writes a record. After an error it does nothing; Flush returns the error.
func (w *Writer) Write(r Record) {
	w.b = r.Append(w.b)
	if len(w.b) >= flushAt {
		w.flush()
	}
}

// Flush writes what Write has kept and returns the first error of all writing.
func (w *Writer) Flush() error {
	w.flush()
	return w.err
}

func (w *Writer) flush() {
	if w.err == nil && len(w.b) > 0 {
		_, w.err = w.w.Write(w.b)
	}
	w.b = w.b[:0]
}
