package store

import (
	"fmt"
	"os"
	"syscall"
)

// Room returns an error that is ErrFull if less than minFree bytes are free on the disk of a directory.
func Room(dir string, minFree int64) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < minFree {
		return fmt.Errorf("%w: %d MiB are free in %s, and %d MiB stay free; make room or keep less", ErrFull, free>>20,
			dir, minFree>>20)
	}
	return nil
}
