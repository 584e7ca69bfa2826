package child

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// executable is this program, also if its file was replaced meanwhile.
func executable() (string, error) { return "/proc/self/exe", nil }

func endWithParent() *syscall.SysProcAttr {
	// a ^C of the terminal is for the parent to handle
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// Confine puts limits on this process. It writes no files.
func Confine(l Limits) error {
	// When the machine or the group is out of memory, this process goes and not its parent.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // a service may have it closed
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(strings.Fields(string(text))[0], &pages); err != nil {
		return err
	}
	set := func(resource int, limit uint64) error {
		return unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit})
	}
	return errors.Join(
		set(unix.RLIMIT_AS, pages*uint64(os.Getpagesize())+uint64(l.Memory)),
		set(unix.RLIMIT_CPU, max(uint64(l.CPU.Seconds()), 1)),
		set(unix.RLIMIT_FSIZE, 0),
		set(unix.RLIMIT_CORE, 0),
	)
}

// ReadOnly lets this process open files below dir, for reading, and no others, nor connect to anything, as far as the
// kernel knows Landlock.
func ReadOnly(dir string) error {
	return landlock.V5.BestEffort().Restrict(landlock.RODirs(dir))
}
