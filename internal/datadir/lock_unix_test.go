//go:build unix

package datadir

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A child holds a copy of every file between fork and exec, so that Close alone would leave the directory locked for
// as long as a busy machine takes to start it.
func TestCloseUnlocksThoughAChildHasTheFile(t *testing.T) {
	path := t.TempDir()
	lock, err := LockDir(path)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := unix.Dup(int(lock.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(copied)
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if lock, err = LockDir(path); err != nil {
		t.Fatal(err)
	}
	lock.Close()
}
