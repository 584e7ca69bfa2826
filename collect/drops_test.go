package collect

import (
	"errors"
	"testing"
)

func TestDropCounterWraps(t *testing.T) {
	var c dropCounter
	f := func(kernel uint32, want uint64) {
		t.Helper()
		got, err := c.update(func() (uint32, uint64, error) { return kernel, 0, nil })
		if err != nil || got != want {
			t.Errorf("kernel says %d: got %d %v, want %d", kernel, got, err, want)
		}
	}
	f(0, 0)
	f(7, 7)
	f(7, 7)
	f(0xffffffff, 0xffffffff)
	f(0, 1<<32) // wrapped
	f(5, 1<<32+5)
	f(4, 2<<32+4) // wrapped again, one short of a full round

	c.close(func() (uint32, uint64, error) { return 6, 0, nil })
	f(100, 2<<32+6) // what the counter says after close no longer matters
}

func TestDropCounterError(t *testing.T) {
	var c dropCounter
	want := errors.New("no such count")
	read := func() (uint32, uint64, error) { return 0, 0, want }
	if _, err := c.update(read); err != want {
		t.Errorf("got %v, want %v", err, want)
	}
	c.close(read)
	if _, err := c.update(func() (uint32, uint64, error) { return 1, 0, nil }); err != want {
		t.Errorf("after close: got %v, want %v", err, want)
	}
}
