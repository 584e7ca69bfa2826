package fabric

import "errors"

// Sinks hand every report to several.
type Sinks []Sink

// Report implements Sink.
func (s Sinks) Report(atNs uint64, frame []byte) error {
	var all error
	for _, sink := range s {
		all = errors.Join(all, sink.Report(atNs, frame))
	}
	return all
}

// Flush implements Sink.
func (s Sinks) Flush() error {
	var all error
	for _, sink := range s {
		all = errors.Join(all, sink.Flush())
	}
	return all
}
