//go:build !linux

package collect

import (
	"errors"
	"syscall"
)

// A transport sends one datagram per system call.
type transport struct{}

func (t *transport) init(s *sender, segment bool) error { return nil }

// send sends queued payload number first and returns 1, or 0 with an error.
func (t *transport) send(s *sender, first int) (int, error) {
	_, err := s.conn.Write(s.payload(first))
	if errors.Is(err, syscall.ECONNREFUSED) {
		s.summary.Refused++ // the ICMP answer to an earlier datagram; this one was not sent yet
		_, err = s.conn.Write(s.payload(first))
	}
	if err != nil {
		return 0, err
	}
	return 1, nil
}

func (t *transport) finish(s *sender) {}
