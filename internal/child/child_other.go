//go:build !linux

package child

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

func endWithParent() *syscall.SysProcAttr { return nil }

// Confine and ReadOnly put no limits on this process: the system is not known here.
func Confine(Limits) error { return nil }

func ReadOnly(string) error { return nil }
