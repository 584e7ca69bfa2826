package alert

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Errors of silences.
var (
	ErrNoSilence     = errors.New("there is no such silence")
	ErrSilenceInFile = errors.New("this silence is in the file of the rules, and can be removed there only")
	ErrManySilences  = fmt.Errorf("there are %d silences already", maxSilences)
)

// A SilenceError says what is wrong with a silence.
type SilenceError struct {
	Key string // filter, until or reason
	Err error
}

func (e *SilenceError) Error() string { return e.Key + ": " + e.Err.Error() }

func (e *SilenceError) Unwrap() error { return e.Err }

// AddSilence begins a silence and returns it with its id. An error is a *SilenceError or ErrManySilences.
func (e *Engine) AddSilence(s Silence, now time.Time) (Silence, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.From.IsZero() {
		s.From = now.UTC()
	}
	if key, err := s.check(e.config.schema); err != nil {
		return s, &SilenceError{key, err}
	}
	if !s.Until.After(now) {
		return s, &SilenceError{"until", errors.New("want a time that is not over")}
	}
	made := 0
	for _, old := range e.silences {
		if !old.InFile {
			made++
		}
	}
	if made >= maxSilences {
		return s, ErrManySilences
	}
	s.ID, s.InFile = rand.Text()[:12], false
	e.silences = append(e.silences, &s)
	e.log.Info("silence added", "silence", s.ID, "filter", s.Filter, "until", s.Until, "reason", s.Reason)
	e.changed()
	return s, nil
}

// RemoveSilence ends a silence. An error is ErrNoSilence or ErrSilenceInFile.
func (e *Engine) RemoveSilence(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.silences, func(s *Silence) bool { return s.ID == id })
	if i < 0 {
		return ErrNoSilence
	}
	if e.silences[i].InFile {
		return ErrSilenceInFile
	}
	e.log.Info("silence removed", "silence", id, "filter", e.silences[i].Filter)
	e.silences = slices.Delete(e.silences, i, i+1)
	e.changed()
	return nil
}

// Silences returns those that are not over, by end time.
func (e *Engine) Silences() []Silence {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]Silence, len(e.silences))
	for i, s := range e.silences {
		list[i] = *s
	}
	slices.SortFunc(list, func(a, b Silence) int {
		if c := a.Until.Compare(b.Until); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

// silenceOf returns the id of a silence that holds for an event, or nothing.
func (e *Engine) silenceOf(ev *telemetry.Event, now time.Time) string {
	for _, s := range e.silences {
		if s.holds(ev, now) {
			return s.ID
		}
	}
	return ""
}

// dropSilences forgets those that are over.
func (e *Engine) dropSilences(now time.Time) {
	n := len(e.silences)
	e.silences = slices.DeleteFunc(e.silences, func(s *Silence) bool { return !now.Before(s.Until) })
	if len(e.silences) < n {
		e.changed()
	}
}
