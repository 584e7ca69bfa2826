package truth

import "io"

// flushAt is the number of bytes at which a Writer hands them on.
const flushAt = 64 << 10

// A Recorder takes records as they are, without the way through text: most of what a long run costs is spent there. A
// Writer to one calls Record instead of Write.
type Recorder interface {
	io.Writer
	// Record must not keep a *Hop, *Report, *Drop, *Path or *Fault: the fabric uses it again.
	Record(r Record) error
}

// A Writer writes records to a file. It is not for concurrent use.
type Writer struct {
	w        io.Writer
	recorder Recorder // w, if it is one
	b        []byte
	err      error
}

// NewWriter returns a Writer to w. It writes in large pieces; Flush writes the rest.
func NewWriter(w io.Writer) *Writer {
	recorder, _ := w.(Recorder)
	return &Writer{w: w, recorder: recorder, b: make([]byte, 0, flushAt+4096)}
}

// Write writes a record. After an error it does nothing; Flush returns the error.
func (w *Writer) Write(r Record) {
	if w.recorder != nil {
		if w.err == nil {
			w.err = w.recorder.Record(r)
		}
		return
	}
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
