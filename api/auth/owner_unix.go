//go:build unix

package auth

import (
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of old, if this process may.
func keepOwner(f *os.File, old os.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid)) // only root can; others write files of their own
	}
}
