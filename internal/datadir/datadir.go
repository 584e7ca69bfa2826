// Package datadir keeps files in a directory that one process has for itself.
package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrInUse says that another process has the directory.
var ErrInUse = errors.New("another process uses it")

// A Lock keeps a directory for one process, until Close or the end of the process, however it ends.
type Lock struct{ file *os.File }

// LockDir locks a directory, which is there. Errors are one line with the path; ErrInUse if another process has it.
func LockDir(path string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Lock{f}, nil
}

// Close gives the directory back. It unlocks first: a child that was forked and has not begun its program yet has the
// file open too, and would keep the lock.
func (l *Lock) Close() error { return errors.Join(unlockFile(l.file), l.file.Close()) }

// A Dir is a directory, locked until Close.
type Dir struct {
	*Lock
	path string
}

// Open makes the directory if there is none, for its owner only, and locks it. Errors are one line with the path.
func Open(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	lock, err := LockDir(path)
	if err != nil {
		return nil, err
	}
	return &Dir{lock, path}, nil
}

// Path returns the path of a file in the directory.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Write replaces a file as a whole: after a crash there is the old one or the new one. Only its owner may read it.
func (d *Dir) Write(name string, content []byte) error { return Replace(d.Path(name), content) }

// MoveAside gives a file that cannot be read another name, which it returns: with the time, so that none is lost.
func (d *Dir) MoveAside(name string) (aside string, err error) {
	aside = d.Path(name + ".damaged-" + time.Now().UTC().Format("20060102T150405.000"))
	return aside, os.Rename(d.Path(name), aside)
}

// Replace writes a file as Dir.Write does, in any directory.
func Replace(path string, content []byte) (err error) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	f, err := os.CreateTemp(dir, name+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}
