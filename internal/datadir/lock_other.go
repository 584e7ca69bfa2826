//go:build !unix

package datadir

import "os"

// lockFile does nothing: here, nothing keeps two processes from using a directory.
func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) error { return nil }

func syncDir(string) error { return nil }
