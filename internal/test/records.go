package test

import (
	"errors"

	"github.com/waybill-int/waybill/fabric/truth"
)

// Records is the truth of a run, for fabric.Options.Truth. What Keep says no to is not in it.
type Records struct {
	List []truth.Record
	Keep func(truth.Record) bool // nil: everything
}

// Write implements io.Writer. Nobody calls it: Records takes records.
func (*Records) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Record implements truth.Recorder.
func (l *Records) Record(r truth.Record) error {
	if l.Keep != nil && !l.Keep(r) {
		return nil
	}
	switch v := r.(type) { // which the fabric uses again
	case *truth.Hop:
		c := *v
		r = &c
	case *truth.Report:
		c := *v
		r = &c
	case *truth.Drop:
		c := *v
		r = &c
	case *truth.Fault:
		c := *v
		r = &c
	case *truth.Path:
		c := *v
		c.Hops = append([]truth.PathHop(nil), v.Hops...)
		r = &c
	}
	l.List = append(l.List, r)
	return nil
}
