package auth

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// checkEvery is how long a change of a file may go unnoticed.
const checkEvery = time.Second

// fresh holds what was read from files, and reads it again when somebody wants it and they have changed. If that fails,
// it keeps what it has: a file that is half written must not lock everybody out.
type fresh[T any] struct {
	files []string
	load  func() (T, error)
	told  func(err error) // hears of every further load

	mu      sync.Mutex
	value   T
	stamp   string
	checked time.Time
}

// newFresh reads the files for the first time.
func newFresh[T any](load func() (T, error), told func(error), files ...string) (*fresh[T], error) {
	f := &fresh[T]{files: files, load: load, told: told, checked: time.Now()}
	f.stamp = f.look()
	var err error
	f.value, err = load()
	return f, err
}

// get returns the value; it looks at the files at most once in checkEvery.
func (f *fresh[T]) get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.checked) >= checkEvery {
		f.checked = now
		if stamp := f.look(); stamp != f.stamp {
			f.read(stamp)
		}
	}
	return f.value
}

// reload reads the files whether they have changed or not.
func (f *fresh[T]) reload() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read(f.look())
}

// read must be called with f locked.
func (f *fresh[T]) read(stamp string) {
	f.stamp = stamp // before loading: what changes meanwhile is read again
	value, err := f.load()
	if err == nil {
		f.value = value
	}
	f.told(err)
}

// look returns a text that changes when a file does.
func (f *fresh[T]) look() string {
	var b strings.Builder
	for _, name := range f.files {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintf(&b, "%d %d ", info.ModTime().UnixNano(), info.Size())
		} else {
			b.WriteString("missing ")
		}
	}
	return b.String()
}
