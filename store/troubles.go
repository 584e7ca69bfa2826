package store

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Troubles says in the log what cannot be written, once when that begins and once when it is over. A full disk is one
// trouble, whoever meets it: all that write to it share one.
type Troubles struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[string]bool // what fails for reasons of its own
	full map[string]bool // what fails since the disk is full
}

// NewTroubles returns one without trouble.
func NewTroubles(log *slog.Logger) *Troubles {
	return &Troubles{log: log, told: map[string]bool{}, full: map[string]bool{}}
}

// Note takes what came of writing something: err is nil if it works. fails and works are what the log says.
func (t *Troubles) Note(what string, err error, fails, works string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil:
		if t.told[what] {
			t.log.Info(works)
		}
		if t.full[what] && len(t.full) == 1 {
			t.log.Info("the disk has room again, and everything is written")
		}
		delete(t.told, what)
		delete(t.full, what)
	case t.told[what] || t.full[what]: // it was said
	case fullDisk(err):
		t.full[what] = true
		if len(t.full) == 1 {
			t.log.Error(
				"the disk is full: nothing is written until there is room; records wait, and are counted as dropped when their queue is full", "error", err)
		}
	default:
		t.told[what] = true
		t.log.Error(fails, "error", err)
	}
}

// Failing returns what cannot be written now, and whether that is because the disk is full.
func (t *Troubles) Failing() (what []string, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	what = append(slices.Collect(maps.Keys(t.told)), slices.Collect(maps.Keys(t.full))...)
	slices.Sort(what)
	return what, len(t.full) > 0
}

// fullDisk reports whether there was no room. DuckDB says so in words only.
func fullDisk(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, syscall.ENOSPC) ||
		strings.Contains(strings.ToLower(err.Error()), "no space left")
}
